# What the step is compared with: the same packages on the usual image for Python.
FROM python:3.13-slim-trixie AS build
COPY requirements/runtime.txt /build/
RUN python3 -m venv --without-pip /registrar/venv \
 && python3 -m pip --python /registrar/venv/bin/python install --quiet --no-cache-dir \
    --disable-pip-version-check --root-user-action ignore --no-compile \
    --require-hashes --no-deps --only-binary :all: --requirement /build/runtime.txt
COPY entrypoint.py /registrar/
COPY scripts/config /registrar/scripts/config
COPY src/registrar /registrar/src/registrar
RUN /registrar/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash \
    /registrar/src /registrar/venv/lib

FROM python:3.13-slim-trixie
COPY --from=build /registrar /registrar
RUN ["/registrar/venv/bin/python", "-I", "-c", \
     "import sys; sys.path.append('/registrar/src'); import registrar.main, registrar.execution"]
ENTRYPOINT ["/registrar/venv/bin/python", "-I", "/registrar/entrypoint.py"]

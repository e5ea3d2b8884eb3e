# The provenance of a release names both by digest. They hold the same Python of the same Debian, the second without
# a shell and a package manager.
ARG BUILD_IMAGE=python:3.13-slim-trixie
ARG BASE_IMAGE=gcr.io/distroless/python3-debian13

FROM ${BUILD_IMAGE} AS build
COPY requirements/runtime.txt /build/
RUN python3 -m pip install --quiet --no-cache-dir --disable-pip-version-check \
    --root-user-action ignore --no-compile --require-hashes --no-deps --only-binary :all: \
    --target /build/packages --requirement /build/runtime.txt \
 && rm -r /build/packages/bin
COPY entrypoint.py /registrar/
COPY scripts/config /registrar/scripts/config
COPY src/registrar /registrar/src/registrar
# Compiled once here, not at every start.
RUN PYTHONPATH=/build/packages:/registrar/src python3 -c \
    "from registrar.reporting.page import compile_template; compile_template()" \
 && python3 -m compileall -q --invalidation-mode unchecked-hash /build/packages /registrar/src

# Security updates of the system arrive with the base image.
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="registrar" \
      org.opencontainers.image.description="Register the files that a repository lacks, in one pull request" \
      org.opencontainers.image.licenses="MIT"
# Where Debian's Python looks for packages that Debian did not install.
COPY --from=build /build/packages /usr/local/lib/python3.13/dist-packages
COPY --from=build /registrar /registrar
# The base has no bytecode: what a run imports of the standard library is compiled here too. This
# also fails when both images hold different versions of Python.
RUN ["/usr/bin/python3", "-I", "-c", \
     "import sys; sys.path.append('/registrar/src'); import registrar.main, registrar.execution, registrar.many.coordinator"]
# No USER: the runner's mounts belong to root. `-I`: the working directory is the caller's checkout,
# and nothing in it may take the place of a module.
ENTRYPOINT ["/usr/bin/python3", "-I", "/registrar/entrypoint.py"]

# A release gives the digest of the image that it was tested with.
ARG BASE_IMAGE=python:3.13-slim-trixie

FROM ${BASE_IMAGE} AS build
COPY requirements/runtime.txt /build/runtime.txt
# pip stays outside: it fills an environment that has none of its own.
RUN python3 -m venv --without-pip /registrar/venv \
 && python3 -m pip --python /registrar/venv/bin/python install --quiet --no-cache-dir \
    --disable-pip-version-check --root-user-action ignore --no-compile \
    --require-hashes --no-deps --only-binary :all: --requirement /build/runtime.txt
COPY entrypoint.py /registrar/
COPY scripts/config /registrar/scripts/config
COPY src/registrar /registrar/src/registrar
# Compiled once here, not at every start.
RUN /registrar/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash \
    /registrar/src /registrar/venv/lib

# No `apt-get upgrade`: the same sources would give another image every day, and the runner builds
# this file at the start of every job. Security updates of the system arrive with the base image.
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="registrar" \
      org.opencontainers.image.description="Register the files that a repository lacks, in one pull request" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /registrar /registrar
# The official image has no bytecode of the standard library (docker-library/python#615): what a run
# imports of it is compiled here too.
RUN ["/registrar/venv/bin/python", "-I", "-c", \
     "import sys; sys.path.append('/registrar/src'); import registrar.main, registrar.execution, registrar.fleet.run"]
# No USER: the runner's mounts belong to root. `-I`: the working directory is the caller's checkout,
# and nothing in it may take the place of a module.
# `env`: a signal waits until the program handles it; the interpreter answers with a traceback.
ENTRYPOINT ["/usr/bin/env", "--block-signal=INT,TERM", "/registrar/venv/bin/python", "-I", "/registrar/entrypoint.py"]

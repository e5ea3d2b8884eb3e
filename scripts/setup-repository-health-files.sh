#!/usr/bin/env bash
# Registers the community health files that TARGET_REPO lacks, in a pull request.
# Environment: HOST_TOKEN (access token), TARGET_REPO (owner/repo). Options: --help lists them.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/lib/command.sh"
run_action --command=health "$@"

# shellcheck shell=bash
# Sourced by the two commands: `run_profile NAME [OPTION...]` runs the action for one profile, with
# the caller's options and environment.

. "$(dirname -- "${BASH_SOURCE[0]}")/venv.sh"

run_profile() {
  ensure_venv runtime
  exec "$python" -I "$root/entrypoint.py" "--command=$1" "${@:2}"
}

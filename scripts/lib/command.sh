# shellcheck shell=bash
# Sourced by the two commands: `run_profile NAME` runs the action for one profile, with HOST_TOKEN
# and TARGET_REPO from the environment.

. "$(dirname -- "${BASH_SOURCE[0]}")/venv.sh"

run_profile() {
  ensure_venv runtime
  # The inputs of a workflow step that these commands may run in are not theirs.
  unset "${!INPUT_@}"
  INPUT_PROFILE=$1 exec "$python" -I "$root/entrypoint.py"
}

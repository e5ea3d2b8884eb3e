# shellcheck shell=bash
# Sourced by the two commands: `run_profile NAME [OPTION...]` runs the action for one profile, with
# the caller's options and environment.

. "$(dirname -- "${BASH_SOURCE[0]}")/venv.sh"

run_profile() {
  ensure_venv runtime
  # With GNU's env, Ctrl-C waits until the program handles it; the interpreter answers with a traceback
  local hold
  hold=$(env --block-signal=INT echo --block-signal=INT 2>/dev/null || true)
  exec env ${hold:+"$hold"} "$python" -I "$root/entrypoint.py" "--command=$1" "${@:2}"
}

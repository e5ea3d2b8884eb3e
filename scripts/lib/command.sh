# shellcheck shell=bash
# Sourced by the commands: `run_action [OPTION...]` runs the action, with the caller's environment.
# `--command=NAME` as the first option says which of the two for one profile it is.

. "$(dirname -- "${BASH_SOURCE[0]}")/venv.sh"

run_action() {
  ensure_venv runtime
  # With GNU's env, Ctrl-C waits until the program handles it; the interpreter answers with a traceback
  local hold
  hold=$(env --block-signal=INT echo --block-signal=INT 2>/dev/null || true)
  exec env ${hold:+"$hold"} "$python" -I "$root/entrypoint.py" "$@"
}

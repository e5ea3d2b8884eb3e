# shellcheck shell=bash
# Sourced by the commands. `run_action [OPTION...]` runs registrar with the caller's environment.
# The two commands for one profile give their name with `--command=NAME` as the first option.

. "$(dirname -- "${BASH_SOURCE[0]}")/venv.sh"

run_action() {
  ensure_venv runtime
  # With GNU's env, Ctrl-C waits until the program handles it. Otherwise the interpreter would
  # answer with a traceback
  local hold
  hold=$(env --block-signal=INT echo --block-signal=INT 2>/dev/null || true)
  exec env ${hold:+"$hold"} "$python" -I "$root/entrypoint.py" "$@"
}

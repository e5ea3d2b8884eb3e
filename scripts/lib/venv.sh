# shellcheck shell=bash
# Sourced by the scripts. `ensure_venv runtime`, `demo` or `dev` makes sure that .venv has the
# packages of the lock file with this name. `root` and `python` are set at once.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
python=$root/.venv/bin/python

ensure_venv() {
  # A copy of the lock file in .venv shows which packages are installed; comparing it takes no time.
  # If the interpreter was upgraded since, it looks for packages in another folder
  if [[ -x $python ]] && cmp -s "$root/requirements/$1.txt" "$root/.venv/$1.txt" &&
    "$python" -I -S -c '
import os, sys
sys.exit(not os.path.isdir("{}/lib/python{}.{}".format(sys.argv[1], *sys.version_info)))
' "$root/.venv"; then
    return
  fi
  local interpreter
  interpreter=$(find_python)
  "$interpreter" -I "$root/scripts/lib/make_venv.py" "$1"
}

# Each is run, because version managers have launchers even for versions that are not installed. One
# for which all packages exist comes first, then any other
find_python() {
  local candidate any
  for any in '' any; do
    for candidate in python3 python3.15 python3.14 python3.13 python3.12 python3.11 python; do
      if "$candidate" -I -c '
import sys
sys.version_info >= (3, 11) or sys.exit(1)
import ensurepip, fcntl, runpy, venv
any, settings = sys.argv[1:]
sys.exit(not any and bool(runpy.run_path(settings)["without_packages"]()))
' "$any" "$root/scripts/lib/pip_settings.py" 2>/dev/null; then
        echo "$candidate"
        return
      fi
    done
  done
  echo 'No Python >= 3.11 that can make virtual environments was found.' \
    'Install one (on Debian and Ubuntu: python3 and python3-venv) and run this again.' >&2
  return 1
}

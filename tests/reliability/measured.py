"""Runs the action as its only child, and writes down the most memory that the child ever held.

    measured.py FILE

As a program of its own, because a process that was forked from a large one counts as large.
"""

import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ended = subprocess.run([sys.executable, "-I", str(ROOT / "entrypoint.py")], check=False)
# Kibibytes on Linux, bytes on macOS
unit = 1 if sys.platform == "darwin" else 1024
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
Path(sys.argv[1]).write_text(str(used), "utf-8")
sys.exit(ended.returncode)

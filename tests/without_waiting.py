"""Run the action on a clock on which waiting takes no time.

    python -I tests/without_waiting.py FILE

The clock is in FILE, so that the process that has started this one sees how long it has waited.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from registrar.main import main  # noqa: E402
from registrar.runtime.cancellation import Cancellation  # noqa: E402 (its path is known only now)
from tests.clocks import FakeClock  # noqa: E402

file, *arguments = sys.argv[1:]
cancellation = Cancellation(FakeClock(file=Path(file)))
cancellation.install()
sys.exit(main(arguments, os.environ, sys.stdout, sys.stderr, cancellation))

"""The action, as `entrypoint.py` runs it, except that waiting for GitHub's pace takes no time.

What is left is what the action itself and its round trips take.
"""

import gc
import os
import sys
import time
from pathlib import Path

gc.set_threshold(500_000)
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from registrar.cancellation import Cancellation  # noqa: E402 (found on the path from here on)
from registrar.main import main  # noqa: E402
from tests.clocks import FakeClock  # noqa: E402

code = main(sys.argv[1:], os.environ, sys.stdout, sys.stderr, Cancellation(FakeClock(time.time())))
gc.freeze()
sys.exit(code)

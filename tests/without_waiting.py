"""`python -I tests/without_waiting.py`: the entry point, on a clock on which nobody waits."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from registrar.cancellation import Cancellation  # noqa: E402 (its path is known only now)
from registrar.main import main  # noqa: E402
from tests.clocks import SkippingClock  # noqa: E402

cancellation = Cancellation(SkippingClock())
cancellation.install()
sys.exit(main(sys.argv[1:], os.environ, sys.stdout, sys.stderr, cancellation))

"""The entry point: `python -I entrypoint.py`, from wherever it stands."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

try:
    from registrar.cancellation import Cancellation
    from registrar.main import main
except ImportError as missing:
    print(f"必要なパッケージがありません / missing package: {missing.name}", file=sys.stderr)
    sys.exit(2)
except KeyboardInterrupt:
    sys.exit(130)

for stream in (sys.stdout, sys.stderr):
    # Whatever the locale, Japanese can be printed, and nothing that cannot ends the run
    stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
cancellation = Cancellation()
cancellation.install()
sys.exit(main(sys.argv[1:], os.environ, sys.stdout, sys.stderr, cancellation))

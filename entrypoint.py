"""The entry point of a checkout and of the image: `python -I entrypoint.py`, from wherever it
stands.
"""

import os
import sys

try:
    # An import of pathlib would lengthen the time in which no signal is handled yet
    root = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
    sys.path.insert(0, os.path.join(root, "src"))  # noqa: PTH118
    from registrar.__main__ import run
except KeyboardInterrupt:
    os._exit(130)
sys.exit(run())

"""The programs that these tests need from the machine."""

import os
import shutil
from typing import NoReturn

import pytest


def find(tool: str) -> str:
    """Return the path of a program; without it, skip or fail the test (`unavailable`).

    A variable that has the name of the program in capitals goes before ``PATH``.
    """
    path = os.environ.get(tool.upper()) or shutil.which(tool)
    return path or unavailable(tool, f"neither in PATH nor in the variable {tool.upper()}")


def unavailable(tool: str, reason: str) -> NoReturn:
    """Skip the test, or fail it if the variable ``REQUIRED_TOOLS`` lists the tool.

    The names in ``REQUIRED_TOOLS`` are separated by blanks.
    """
    message = f"{tool} cannot be used: {reason}"
    if tool in os.environ.get("REQUIRED_TOOLS", "").split():
        pytest.fail(message, pytrace=False)
    pytest.skip(message)

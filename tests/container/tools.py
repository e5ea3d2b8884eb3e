"""The programs that these tests need from the machine."""

import os
import shutil
from typing import NoReturn

import pytest


def find(tool: str) -> str:
    """The path of a program: the variable named like it in capitals, or what ``PATH`` holds."""
    path = os.environ.get(tool.upper()) or shutil.which(tool)
    return path or unavailable(tool, f"neither in PATH nor in the variable {tool.upper()}")


def unavailable(tool: str, reason: str) -> NoReturn:
    """Skip the test, or fail it where ``REQUIRED_TOOLS`` (names with blanks between) lists it."""
    message = f"{tool} cannot be used: {reason}"
    if tool in os.environ.get("REQUIRED_TOOLS", "").split():
        pytest.fail(message, pytrace=False)
    pytest.skip(message)

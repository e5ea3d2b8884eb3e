"""Write the inputs and outputs of `action.yml` into `composite/action.yml`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "action.yml"
TARGET = ROOT / "composite/action.yml"
INTERFACE = re.compile(r"^inputs:\n.*?(?=^runs:\n)", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^  (\w+):\n(?:    .*\n)+", re.MULTILINE)


def composite(source: str, target: str) -> str:
    """The text of the composite action, with what `action.yml` declares."""
    [interface] = INTERFACE.findall(source)
    inputs, outputs = re.split(r"^(?=outputs:\n)", interface, flags=re.MULTILINE)
    # Outputs of a composite action name the step that they come from
    value = r"\g<0>    value: ${{ steps.registrar.outputs.\1 }}\n"
    return INTERFACE.sub(lambda _: inputs + OUTPUT.sub(value, outputs), target)


if __name__ == "__main__":
    source, target = (file.read_text("utf-8") for file in (SOURCE, TARGET))
    TARGET.write_text(composite(source, target), "utf-8")

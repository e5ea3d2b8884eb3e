"""Write the files, and parts of files, that repeat the inputs and profiles of the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from registrar.inputs.interface import INPUTS, Input
from registrar.inputs.reader import DEFAULT_API_URL
from registrar.lists.entries import FIELDS
from registrar.lists.profiles import CHOICES, PROFILES

ROOT = Path(__file__).resolve().parents[2]
TEXTS = "src/registrar/texts"
BLOBS = {"ghcr.io": ("pkg-containers.githubusercontent.com",)}
"""Hosts to which a registry redirects for an image (docs.github.com, "Self-hosted runners
reference")."""
PACKAGES = ("pypi.org", "files.pythonhosted.org")
"""Hosts from which pip reads packages and their files (docs.pypi.org/api/index-api)."""
OUTPUT = re.compile(r"^  (\w+):\n(?:    .*\n)+", re.MULTILINE)


def generated() -> dict[Path, str]:
    """Return every file that repeats something of the code, with the text that it must have."""
    english, japanese = (_with_profiles(_read(f"{TEXTS}/{name}.yml")) for name in ("en", "ja"))
    action = _action(_read("action.yml"), yaml.safe_load(english))
    texts = {
        f"{TEXTS}/en.yml": english,
        f"{TEXTS}/ja.yml": japanese,
        "action.yml": action,
        "composite/action.yml": composite(action, _read("composite/action.yml")),
        "docs/reference.md": _rows_of_outputs(
            with_inputs(_rows_of_profiles(_read("docs/reference.md")), yaml.safe_load(english)),
            yaml.safe_load(action)["outputs"],
        ),
        "docs/permissions.md": _rows_of_hosts(_read("docs/permissions.md")),
        "scripts/config/definitions.schema.json": _schema(
            json.loads(_read("scripts/config/definitions.schema.json"))
        ),
    }
    file = ".github/workflows/register-files.yml"
    choices = f"options: [{', '.join(CHOICES)}]"
    texts[file] = _put(choices, r"options: \[[^]\n]*\ball\]", _read(file))
    return {ROOT / file: text for file, text in texts.items()}


def composite(action: str, target: str) -> str:
    """Return the text of the composite action, with the inputs and outputs of `action.yml`."""
    [interface] = re.findall(r"^inputs:\n.*?(?=^runs:\n)", action, re.MULTILINE | re.DOTALL)
    inputs, outputs = re.split(r"^(?=outputs:\n)", interface, flags=re.MULTILINE)
    # Outputs of a composite action name the step that they come from
    value = r"\g<0>    value: ${{ steps.registrar.outputs.\1 }}\n"
    return _put(inputs + OUTPUT.sub(value, outputs), r"^inputs:\n(?s:.*?)(?=^runs:\n)", target)


def _with_profiles(catalogue: str) -> str:
    """Return the texts of a language, with new profiles in the text that names the others."""
    [text] = re.findall(r"^option\.profile: .*$", catalogue, re.MULTILINE)
    separator = yaml.safe_load(catalogue)["label.separator"]
    new = "".join(f"{separator}`{name}`" for name in PROFILES if f"`{name}`" not in text)
    return catalogue.replace(text, _put(new, r"(?=(?: or |、)`all`)", text))


def _action(text: str, texts: Mapping[str, str]) -> str:
    lines = []
    for name, each in INPUTS.items():
        lines += [f"  {name}:", f"    description: {_scalar(_described(each, texts))}"]
        if default := each.workflow_default or each.default:
            lines.append(f"    default: {_scalar(default)}")
    inputs = "".join(f"{line}\n" for line in ("inputs:", *lines, ""))
    return _put(inputs, r"^inputs:\n(?s:.*?)(?=^outputs:\n)", text)


def with_inputs(document: str, texts: Mapping[str, str]) -> str:
    """Return a document with the rows of all inputs; a new one stands below the input before it."""
    above = ""
    for name, each in INPUTS.items():
        default = each.workflow_default or each.default
        shown = f" `{default}`" if default else ""
        row = f"| `{name}` |{shown} | {_described(each, texts)} |"
        if f"\n| `{name}` |" not in document:
            document = _put(f"{above}\n| `{name}` | | |", rf"^{re.escape(above)}$", document)
        document = _put(row, rf"^\| `{name}` \|[^|\n]*\|[^|\n]*\|$", document)
        above = row
    return document


def _rows_of_outputs(document: str, outputs: Mapping[str, Mapping[str, str]]) -> str:
    rows = [f"| `{name}` | {each['description']} |\n" for name, each in outputs.items()]
    pattern = r"(?<=^\| Output \| Meaning \|\n\| --- \| --- \|\n)(?:\|.*\n)+"
    return _put("".join(rows), pattern, document)


def _rows_of_profiles(document: str) -> str:
    rows = [
        f"| `{each.name}` | `{each.branch}` | `{each.commit_message}` | `{each.title}` |\n"
        for each in (profile.defaults for profile in PROFILES.values())
    ]
    table = "".join(rows).replace("{path}", "<path>")
    return _put(table, r"(?<=^\| --- \| --- \| --- \| --- \|\n)(?:\| `\w+` \|.*\n)+", document)


def _rows_of_hosts(document: str) -> str:
    release = _read(".github/workflows/release.yml")
    [registry] = re.findall(r"^  REGISTRY: (\S+)$", release, re.MULTILINE)
    images = re.findall(r"^ARG \w+_IMAGE=(\S+)$", _read("Dockerfile"), re.MULTILINE)
    bases = [image.partition("/") for image in images]
    # An image without a host is on Docker Hub (docs.docker.com/reference/cli/docker/image/tag)
    hosts = [host if rest and "." in host else "docker.io" for host, _, rest in bases]
    told = {
        f"`{urlsplit(DEFAULT_API_URL).hostname}`, or the host of `api_url`": "all requests of a"
        " run",
        _codes([registry, *BLOBS[registry]]): "the image of a release",
        f"{_codes(hosts)} and the hosts they send to": "building the image, if you use a"
        " commit without a release",
        f"{_codes(PACKAGES)}, or the host of `PIP_INDEX_URL`": "the packages: for `composite`, in"
        " a shell, and for building the image",
    }
    rows = "".join(f"| {host} | {use} |\n" for host, use in told.items())
    pattern = r"(?<=^\| Host \| For \|\n\| --- \| --- \|\n)(?:\|.*\n)+"
    return _put(rows, pattern, document)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _schema(schema: dict[str, Any]) -> str:
    for kind in ("list", "rule"):
        schema["$defs"][kind]["properties"]["extends"]["enum"] = list(PROFILES)
    # A text such as `path:README.md`, in which the blank after the colon is missing
    schema["$defs"]["entry"]["then"]["not"]["pattern"] = f"^({'|'.join(FIELDS)})(:|$)"
    return f"{json.dumps(schema, indent=2)}\n"


def _described(each: Input, texts: Mapping[str, str]) -> str:
    return texts[each.description.key].format()


def _scalar(text: str) -> str:
    """Return a text as YAML, in quotes if YAML would read it as something else without them."""
    try:
        is_plain = yaml.safe_load(f"- {text}") == [text]
    except yaml.YAMLError:
        is_plain = False
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _read(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def _put(new: str, pattern: str, text: str) -> str:
    """Replace the only match of a pattern by ``new``; `ValueError` if there is not just one."""
    text, times = re.subn(pattern, lambda _: new, text, flags=re.MULTILINE)
    if times != 1:
        raise ValueError(f"{pattern} is there {times} times, not once")
    return text


if __name__ == "__main__":
    for path, content in generated().items():
        path.write_text(content, "utf-8")

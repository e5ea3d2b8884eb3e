"""The command line: an option for each input, ``--help`` and ``--version``."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from registrar import __version__
from registrar.inputs.interface import INPUTS, Input, meant
from registrar.lists.profiles import BOTH, IS_INSTALLED
from registrar.texts.messages import Catalogue, Message, msg

COLUMNS = 80
"""Width of the help in columns of a terminal. A Japanese character takes two."""

_COMMANDS = {f"--command={each.name}": each.name for each in BOTH}
"""The profile of each of the two commands, by the first argument that the command passes."""
_HELP = ("-h", "--help")
VERSION = "--version"
_MARGIN = " " * 6
_LIST = ("profile", "definitions")
"""The inputs that choose the list. The help of the two commands leaves them out."""
_FILES = (Input("table", msg("option.table")), Input("page", msg("option.page")))
"""Options that are not inputs, because a step of a workflow finds these files by its outputs."""
_YES = Input("yes", msg("option.yes"), "false", ("true", "false"))
"""An option that is not an input, because registrar asks nobody in a workflow."""
_OTHERS = (*_FILES, _YES)
_OPTIONS = {each.option: each for each in (*INPUTS.values(), *_OTHERS) if each.name != "host_token"}
_TARGET = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")
_UNBROKEN = re.compile(r" |[（「]*(?:[!-~]+|[ァ-ヶー]+|[^ ])[、。）」]*")
"""A unit of the help that no line break may split, with punctuation that must not begin or end a
line."""


class CommandLine(NamedTuple):
    """The options of a command line, and the errors in them."""

    variables: Mapping[str, str]
    """The values of the options as variables ``INPUT_…``, which override the environment."""
    errors: tuple[Message, ...] = ()
    command: str = ""
    """Profile of the command that was started; empty for the general command."""
    files: Mapping[str, str] = {}
    """Paths of the files with evidence, by ``table`` and ``page``; empty if it is not wanted."""
    says_yes: bool = False
    """Whether the run writes without asking."""
    question: str = ""
    """``--help`` or ``--version`` if that was given, so that the run only answers it."""
    names_list: bool = False
    """Whether an option names the list, so that its path starts from the working directory."""

    def answer(self, catalogue: Catalogue) -> Iterator[str]:
        """Yield the lines of the answer to `question`."""
        if self.question == VERSION:
            yield f"registrar {__version__}"
            return
        program = f"setup-repository-{self.command}-files.sh" if self.command else "registrar"
        for message in (
            msg("help.usage", program=program if IS_INSTALLED else f"scripts/{program}"),
            msg("help.purpose"),
            msg("help.environment"),
        ):
            for line in catalogue.text(message).splitlines():
                yield from _wrapped(line)
            yield ""
        yield from _wrapped(catalogue.text(msg("help.options")))
        for option, each in _OPTIONS.items():
            if not (self.command and each.name in _LIST):
                yield f"  {option} {'|'.join(each.choices) or 'VALUE'}"
                message = each.description
                if each.default:
                    message = msg("help.with_default", text=message, value=each.default)
                yield from _wrapped(f"{_MARGIN}{catalogue.text(message)}")
        yield f"  {', '.join((*_HELP, VERSION))}"
        yield ""
        yield from _wrapped(catalogue.text(msg("help.exit_codes")))


def parse(arguments: Sequence[str]) -> CommandLine:
    """Read the arguments, and collect every error.

    An option is written ``--name value`` or ``--name=value``; ``--draft`` alone is ``--draft
    true``. Messages do not repeat values, because an argument that is not a known option may be a
    token.
    """
    command = ""
    if arguments and arguments[0] in _COMMANDS:
        command, arguments = _COMMANDS[arguments[0]], arguments[1:]
    question = next((a for a in arguments if a in {*_HELP, VERSION}), "")
    variables: dict[str, str] = {}
    errors: list[Message] = []
    position = 0
    while position < len(arguments):
        name, has_value, value = arguments[position].partition("=")
        position += 1
        if not name.startswith("-"):
            errors.append(_no_option(arguments[position - 1], position))
            continue
        if not has_value and position < len(arguments) and not arguments[position].startswith("--"):
            value = arguments[position]
            position += 1
        option = _OPTIONS.get(name.replace("_", "-"))
        if name in {*_HELP, VERSION}:
            errors.append(msg("input.option_with_value", name=name))
        elif option is None:
            errors.append(_unknown(name))
        elif command and option.name == "profile":
            errors.append(msg("input.option_of_command", name=name, profile=command))
        elif option.variable in variables:
            errors.append(msg("input.option_twice", name=name))
        elif value.strip() or (option.is_switch and not has_value):
            variables[option.variable] = value or "true"
        else:
            errors.append(msg("input.option_without_value", name=name))
    if command:
        variables[INPUTS["profile"].variable] = command
    files = {each.name: variables.pop(each.variable, "") for each in _FILES}
    yes = variables.pop(_YES.variable, _YES.default)
    says_yes = _YES.accepted(yes) == "true"
    errors += _no_switch(yes)
    names_list = INPUTS["definitions"].variable in variables
    return CommandLine(variables, tuple(errors), command, files, says_yes, question, names_list)


def _no_switch(value: str) -> list[Message]:
    values = {"name": _YES.name, "value": value, "accepted": _YES.choices}
    return [] if _YES.accepted(value) else [msg("input.unknown_value", **values)]


def _no_option(argument: str, position: int) -> Message:
    if _TARGET.fullmatch(argument):
        return msg("input.argument_target", value=argument)
    return msg("input.argument", position=position)


def _unknown(name: str) -> Message:
    # A short option may have its value without a blank between them
    shown = name if name.startswith("--") else name[:2]
    close = meant(name.lstrip("-"))
    if close and close.input.name == "host_token":
        return msg("input.option_token", name=shown)
    if close:
        option = f"{close.input.option} {close.value}".rstrip()
        return msg("input.option_unknown_close", name=shown, close=option)
    return msg("input.option_unknown", name=shown)


def _wrapped(text: str) -> Iterator[str]:
    """Break a line into lines of at most `COLUMNS`, each with the indentation of the first one."""
    words = text.lstrip()
    line = margin = text[: len(text) - len(words)]
    for unit in _UNBROKEN.findall(words):
        if line != margin and _columns(f"{line}{unit}".rstrip()) > COLUMNS:
            yield line.rstrip()
            line = margin
        if unit != " " or line != margin:
            line += unit
    yield line


def _columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)

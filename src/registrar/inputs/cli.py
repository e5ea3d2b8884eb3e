"""The command line: an option for each input, ``--help`` and ``--version``."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from registrar import __version__
from registrar.errors import Refused
from registrar.inputs import completion
from registrar.inputs.environment import value_of
from registrar.inputs.interface import INPUTS, Input, meant
from registrar.lists.profiles import BOTH, IS_INSTALLED
from registrar.models.settings import Mode
from registrar.texts.messages import Catalogue, Message, msg
from registrar.texts.spelling import closest

COLUMNS = 80
"""Width of the help in columns of a terminal. A Japanese character takes two."""

_COMMANDS = {f"--command={each.name}": each.name for each in BOTH}
"""The profile of each of the two commands, by the first argument that the command passes."""
_HELP = ("-h", "--help")
VERSION = "--version"
_MARGIN = " " * 6
STANDARD_OUTPUT = "-"
"""Stands for standard output in place of the file of the report."""
_LIST = ("profile", "definitions")
"""The inputs that choose the list. The help of the two commands leaves them out."""
_REPORT = "report"
_FILES = (
    Input(_REPORT, msg("option.report")),
    Input("table", msg("option.table")),
    Input("page", msg("option.page")),
)
"""Options that are not inputs, because a step of a workflow finds these files by its outputs."""
YES, QUIET, STRICT = "yes", "quiet", "strict"
_SWITCHES = (
    Input(YES, msg("option.yes"), "false", ("true", "false")),
    Input(QUIET, msg("option.quiet"), "false", ("true", "false")),
    Input(STRICT, msg("option.strict"), "false", ("true", "false")),
)
"""Options that are not inputs, because they are for people in a shell, and for hooks of git."""
_COMPLETION = Input("print_completion", msg("option.print_completion"), choices=completion.SHELLS)
FOR_PROGRAMS = (VERSION, _COMPLETION.option)
"""The questions whose answers are for programs."""
_OTHERS = (*_FILES, *_SWITCHES, _COMPLETION)
_OPTIONS = {each.option: each for each in (*INPUTS.values(), *_OTHERS) if each.name != "host_token"}
_TARGET = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")
_LISTS = (".json", ".yml", ".yaml")
"""Ends of arguments that are lists. Any other argument may be a token, so no message repeats it."""
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
    """Paths of the files for `_FILES` by name; empty if a file is not wanted."""
    prints_report: bool = False
    """Whether standard output gets the report, and nothing else."""
    switches: frozenset[str] = frozenset()
    """Those of `YES`, `QUIET` and `STRICT` that are switched on."""
    question: str = ""
    """``--help``, ``--version`` or ``--print-completion`` if that was given, so that the run only
    answers it."""
    shell: str = ""
    """The shell of ``--print-completion``."""
    lists: tuple[str, ...] = ()
    """The lists to check, if there are several; empty if the input ``definitions`` has the only
    one."""
    names_list: bool = False
    """Whether an option names the list, so that its path starts from the working directory."""

    def answer(self, catalogue: Catalogue) -> Iterator[str]:
        """Yield the lines of the answer to `question`. Raises `Refused` if there is none."""
        if self.question == VERSION:
            yield f"registrar {__version__}"
            return
        if self.question == _COMPLETION.option:
            yield from self._completion(catalogue)
            return
        program = f"setup-repository-{self.command}-files.sh" if self.command else "registrar"
        program = program if IS_INSTALLED else f"scripts/{program}"
        usage = "help.usage" if self.command else "help.usage_with_lists"
        for message in (
            msg(usage, program=program),
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

    def _completion(self, catalogue: Catalogue) -> Iterator[str]:
        if error := _not_accepted(_COMPLETION, self.shell):
            raise Refused(error)
        files = {"definitions", *(each.name for each in _FILES)}
        script = completion.script(self.shell, _OPTIONS.values(), files, catalogue)
        yield from script.splitlines()


def parse(arguments: Sequence[str], environ: Mapping[str, str]) -> CommandLine:
    """Read the arguments, and collect every error.

    An option is written ``--name value`` or ``--name=value``; ``--draft`` alone is ``--draft
    true``. Messages do not repeat values, because an argument that is not a known option may be a
    token. ``environ`` may have the mode, which decides whether an argument can be a list.
    """
    command = ""
    if arguments and arguments[0] in _COMMANDS:
        command, arguments = _COMMANDS[arguments[0]], arguments[1:]
    question = next((a for a in arguments if a in {*_HELP, VERSION}), "")
    variables, no_options, errors = _read(arguments, command)
    if command:
        variables[INPUTS["profile"].variable] = command
    others = {each.name: variables.pop(each.variable, each.default) for each in _OTHERS}
    is_validate = value_of({**environ, **variables}, "mode").lower() == Mode.VALIDATE
    lists = [each for each in no_options.values() if is_validate and each.endswith(_LISTS)]
    errors |= {n: _no_option(each, n) for n, each in no_options.items() if each not in lists}
    definitions = INPUTS["definitions"].variable
    if lists:
        lists = list(dict.fromkeys([*filter(None, [variables.get(definitions)]), *lists]))
        variables[definitions] = lists[0]
    of_switches = [_not_accepted(each, others[each.name]) for each in _SWITCHES]
    switches = frozenset(
        each.name for each in _SWITCHES if each.accepted(others[each.name]) == "true"
    )
    if STRICT in switches and not is_validate:
        of_switches.append(msg("input.option_strict"))
    files = {each.name: others[each.name] for each in _FILES}
    if prints_report := files[_REPORT] == STANDARD_OUTPUT:
        del files[_REPORT]
    return CommandLine(
        variables,
        (*(errors[each] for each in sorted(errors)), *filter(None, of_switches)),
        command,
        files,
        prints_report,
        switches,
        question or (_COMPLETION.option if others[_COMPLETION.name] else ""),
        others[_COMPLETION.name],
        tuple(lists),
        names_list=definitions in variables,
    )


def _read(
    arguments: Sequence[str], command: str
) -> tuple[dict[str, str], dict[int, str], dict[int, Message]]:
    """Return the values of options by their variables, and by their positions other arguments and
    errors.
    """
    variables: dict[str, str] = {}
    no_options: dict[int, str] = {}
    errors: dict[int, Message] = {}
    position = 0
    while position < len(arguments):
        name, has_value, text = arguments[position].partition("=")
        position += 1
        if not name.startswith("-"):
            no_options[position] = arguments[position - 1]
            continue
        option = _OPTIONS.get(name.replace("_", "-"))
        value = text if has_value else None
        if value is None and _may_be_value(arguments[position : position + 1], option):
            value = arguments[position]
            position += 1
        if error := _mistake(name, option, value, variables, command):
            errors[position] = error
        elif option:
            variables[option.variable] = value or "true"
    return variables, no_options, errors


def _may_be_value(after: Sequence[str], option: Input | None) -> bool:
    """Whether the argument after an option, if there is one, is the value of the option."""
    is_list = option is not None and option.is_switch and "".join(after).endswith(_LISTS)
    return bool(after) and not after[0].startswith("--") and not is_list


def _mistake(
    name: str,
    option: Input | None,
    value: str | None,
    variables: Mapping[str, str],
    command: str,
) -> Message | None:
    """Return what is wrong about an option, if ``variables`` are given already."""
    if name in {*_HELP, VERSION}:
        return msg("input.option_with_value", name=name)
    if option is None:
        return _unknown(name)
    if command and option.name == "profile":
        return msg("input.option_of_command", name=name, profile=command)
    if option.variable in variables:
        return msg("input.option_twice", name=name)
    if (value is None and option.is_switch) or (value or "").strip():
        return None
    return msg("input.option_without_value", name=name)


def _not_accepted(option: Input, value: str) -> Message | None:
    values = {"name": option.name, "value": value, "accepted": option.choices}
    return None if option.accepted(value) else msg("input.unknown_value", **values)


def _no_option(argument: str, position: int) -> Message:
    if argument.endswith(_LISTS):
        return msg("input.argument_list", position=position)
    if _TARGET.fullmatch(argument):
        return msg("input.argument_target", value=argument)
    return msg("input.argument", position=position)


def _unknown(name: str) -> Message:
    # A short option may have its value without a blank between them
    shown = name if name.startswith("--") else name[:2]
    close = meant(name.lstrip("-"))
    if close and close.input.name == "host_token":
        return msg("input.option_token", name=shown)
    option = closest(name, (*_OPTIONS, *_HELP, VERSION))
    # An input has other names, too
    if close and (option in {each.option for each in INPUTS.values()} or not option):
        option = f"{close.input.option} {close.value}".rstrip()
    if option:
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
        line += unit
    yield line


def _columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)

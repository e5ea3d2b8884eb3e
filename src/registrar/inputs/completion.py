"""The script with which a shell completes the options of the command."""

from argparse import ArgumentParser
from collections.abc import Collection, Iterable

from registrar.errors import Refused
from registrar.inputs.interface import Input
from registrar.texts.messages import Catalogue, msg

SHELLS = ("bash", "zsh", "fish")


def script(
    shell: str, options: Iterable[Input], files: Collection[str], catalogue: Catalogue
) -> str:
    """Return the script for one of `SHELLS`; ``files`` has the names of options that take a file.

    Raises `Refused` if the package that writes it is not installed, because only people who want
    completion need this package.
    """
    try:
        import shtab  # noqa: PLC0415 (see above)
    except ImportError as error:
        raise Refused(msg("run.package_missing_for_completion", name=error.name)) from error
    parser = ArgumentParser("registrar", add_help=False)
    for each in options:
        text = catalogue.text(each.description).replace("。", ". ").partition(". ")[0]
        if each.default == "false":
            # The value `true` is left out, so that a list can follow
            parser.add_argument(each.option, action="store_true", help=text)
            continue
        action = parser.add_argument(each.option, choices=each.choices or None, help=text)
        if each.name in files:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    parser.add_argument("-h", "--help", "--version", action="store_true")
    lists = parser.add_argument("lists", nargs="*")
    lists.complete = shtab.FILE  # type: ignore[attr-defined]
    return shtab.complete(parser, shell)

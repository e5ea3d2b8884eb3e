"""Our part of a pull request's description (Markdown)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from registrar.models.files import FileDefinition
from registrar.models.result import Done, FileResult, RegistrationResult
from registrar.models.standing import Standing
from registrar.reporting import markdown
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

_EFFECTS = {
    # What an empty file means to GitHub: docs/definitions.md, "What an empty file means"
    ".github/ISSUE_TEMPLATE/config.yml": "effect.issue_templates",
    ".github/CODE_OF_CONDUCT.md": "effect.inherited",
    ".github/CONTRIBUTING.md": "effect.inherited",
    ".github/GOVERNANCE.md": "effect.inherited",
    ".github/PULL_REQUEST_TEMPLATE.md": "effect.inherited",
    ".github/SECURITY.md": "effect.inherited",
    ".github/SUPPORT.md": "effect.inherited",
    ".mcp.json": "effect.no_servers",
}
_CODE = r"(?:`[^`\n]*`|<code>[^\n]*?</code>)"
_TICKED = re.compile(rf"(?m)^- \[[xX]\] ({_CODE})")
_COMMIT_CELL = re.compile(
    rf"(?m)^\| ({_CODE}) \|.*\| \[`[0-9a-f]{{7}}`\]\(\S+/commit/([0-9a-f]{{40,64}})\) \|$"
)


def render(
    registration: RegistrationResult, catalogue: Catalogue, room: int, earlier: str = ""
) -> str:
    """Our part, in at most ``room`` characters (UTF-16 units).

    It shows what the branch brings, whichever run created it: how many files, which of them are
    to be filled in, and a table of all, created and failed ones first. What does not fit is
    counted. ``earlier`` is our part as it stands: it knows which items a reviewer has ticked, and
    the commits of earlier runs.
    """
    earlier = earlier.replace("\r\n", "\n")
    head = [
        catalogue.text(_introduction(registration), escaping.for_markdown_code),
        "",
        catalogue.sentences(_in_numbers(registration), str),
        "",
    ]
    head += _beside(registration, catalogue)
    head += _hidden(registration, catalogue)
    change = "body.change_the_file" if registration.spec.files.path else "body.change_the_set"
    tail = [catalogue.text(msg(change), escaping.for_markdown_code)]

    files = markdown.by_urgency(
        (*registration.files, *map(_unlisted, registration.unlisted)), _state_on_branch
    )
    commits = _commits(registration, files, catalogue, earlier)
    table = list(markdown.path_table(files, catalogue, _described, commits))
    heading, rows = table[:2], table[2:]
    is_open = len(rows) <= markdown.ROWS_UNFOLDED
    title = catalogue.text(msg("summary.paths", count=len(files)))
    frame = heading if is_open else markdown.folded(title, heading)

    room -= _size([*head, "", *frame, "", *tail])
    todo = _to_fill_in(registration, catalogue, set(_TICKED.findall(earlier)))
    if todo:
        intro = catalogue.text(msg("body.fill_in"))
        todo = [intro, "", *_fitting(todo, room // 3 - _size([intro, ""]), catalogue), ""]
    kept = [*heading, *_fitting(rows, room - _size(todo), catalogue)]
    shown = [*kept, ""] if is_open else markdown.folded(title, kept)
    return "\n".join([*head, *todo, *shown, *tail])


def _introduction(registration: RegistrationResult) -> Message:
    """Say who opened the pull request, and for which list."""
    url, files = registration.spec.settings.action_url, registration.spec.files
    # In another repository the path would say nothing to a reader
    path = files.path if registration.is_of_workflow else ""
    if files.name and path:
        listed = msg("body.list_name_path", name=files.name, path=path)
    elif files.name:
        listed = msg("body.list_name", name=files.name)
    else:
        listed = msg("body.list_path", path=path) if path else msg("body.list_elsewhere")
    action = escaping.Link("registrar", url) if url else "registrar"
    return msg("body.introduction", action=action, list=listed)


def _in_numbers(registration: RegistrationResult) -> Sequence[Message]:
    states = [_state_on_branch(file) for file in registration.files]
    counts = {
        "body.unlisted": len(registration.unlisted),
        "body.exist": states.count(Done.SKIPPED),
        "body.failed": states.count(Done.FAILED) + states.count(Done.UNKNOWN),
        "body.pending": states.count(Done.PENDING),
    }
    added = msg("body.adds", count=states.count(Done.CREATED), total=len(states))
    return [added, *(msg(key, count=n) for key, n in counts.items() if n)]


def _beside(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """Why the branch has a number behind its name."""
    notes = [
        msg("progress.beside", branch=pull.head_branch, pull_request=pull.link)
        for pull in registration.beside
    ]
    if not notes:
        return []
    return [catalogue.sentences(notes, escaping.for_markdown_code), ""]


def _hidden(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """Which files of the repository GitHub would not use any more."""
    pairs = [
        msg("progress.hides_pair", path=file.definition.path, other=file.hides)
        for file in registration.files
        if file.on_branch and file.hides
    ]
    if not pairs:
        return []
    return markdown.quoted(
        catalogue.text(msg("body.hides", pairs=pairs), escaping.for_markdown_code)
    )


def _to_fill_in(
    registration: RegistrationResult, catalogue: Catalogue, ticked: set[str]
) -> list[str]:
    """A checklist of the files that are added without content, with what that means to GitHub."""
    items: list[str] = []
    for file in registration.files:
        definition = file.definition
        if not file.on_branch or not definition.is_to_fill_in:
            continue
        path = markdown.code(definition.path, catalogue)
        box = "[x]" if path in ticked else "[ ]"
        effect = _EFFECTS.get(definition.path)
        note = f": {catalogue.text(msg(effect))}" if effect else ""
        items.append(f"- {box} {path}{note}")
    return items


def _commits(
    registration: RegistrationResult,
    files: Iterable[FileResult],
    catalogue: Catalogue,
    earlier: str,
) -> dict[str, str]:
    """Links to the commits of the paths: those of earlier runs, then those of this one."""
    known = dict(_COMMIT_CELL.findall(earlier))
    found: dict[str, str] = {}
    for file in files:
        path = file.definition.path
        earlier_one = known.get(markdown.code(path, catalogue)) if known else None
        if commit := file.commit or earlier_one:
            found[path] = markdown.commit_link(registration, commit, catalogue)
    return found


def _fitting(lines: Sequence[str], room: int, catalogue: Catalogue) -> list[str]:
    """As many lines as fit; the rest is counted."""
    if _size(lines) <= room:
        return list(lines)
    room -= _size(["", catalogue.text(msg("label.more", count=10**9))])
    kept: list[str] = []
    for line in lines:
        room -= _size([line])
        if room < 0:
            break
        kept.append(line)
    return [*kept, "", catalogue.text(msg("label.more", count=len(lines) - len(kept)))]


def _size(lines: Sequence[str]) -> int:
    """Length of lines as GitHub counts it, line ends included."""
    return escaping.characters("".join(lines)) + len(lines)


def _unlisted(path: str) -> FileResult:
    """Give the row of a file that the branch still adds."""
    reason = msg("body.unlisted_file")
    return FileResult(FileDefinition(path), Standing.PROPOSED, Done.CREATED, reason)


def _state_on_branch(file: FileResult) -> Done:
    return Done.CREATED if file.on_branch else file.done


def _described(file: FileResult) -> Message:
    return file.described_as_added if file.on_branch else file.described

"""Our part of a pull request's description (Markdown)."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from registrar.models.files import FileDefinition
from registrar.models.paths import Create, Done, ListedPath, Outcome, Result
from registrar.models.record import Record
from registrar.models.repository import PullRequest
from registrar.presence.special_files import is_issue_template
from registrar.rendering import states
from registrar.rendering.markdown import ROWS_UNFOLDED, Markdown, by_urgency, folded
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

_EFFECTS = {
    # The effects of empty files on GitHub: docs/definitions.md, "What an empty file means"
    ".github/ISSUE_TEMPLATE/config.yml": "effect.issue_templates",
    ".github/CODE_OF_CONDUCT.md": "effect.inherited",
    ".github/CONTRIBUTING.md": "effect.inherited",
    ".github/GOVERNANCE.md": "effect.inherited",
    ".github/PULL_REQUEST_TEMPLATE.md": "effect.inherited",
    ".github/SECURITY.md": "effect.inherited",
    ".github/SUPPORT.md": "effect.inherited",
    ".mcp.json": "effect.no_servers",
}
_CODE = r"(?:`[^`\n]*`|<code>[^<\n]*</code>)"
_ROW = re.compile(rf"(?m)^\| ({_CODE}) \|")
_CODE_OR_TARGET = re.compile(rf"{_CODE}|\]\([^)\n]*\)|<!--.*?-->")
"""Code, the address of a link, or a hidden comment."""
_NUMBER = re.compile(r"\d+")
_TICKED = re.compile(rf"(?m)^- \[[xX]\] ({_CODE})")

_STORED_OTHERWISE = re.compile(rb"(?m)^[^#\s].*\s(?:text|eol|filter)\b")
"""A line of a `.gitattributes` that changes how git stores files: their line endings, or in LFS."""


def render(registration: Record, catalogue: Catalogue, room: int, earlier: str = "") -> str:
    """Return our part, in at most ``room`` characters (UTF-16 units).

    It shows all files that the branch adds, also those of earlier runs: their number, a checklist
    of those to fill in, and a table of all paths, failed and created ones first. Lines that do not
    fit are counted. ``earlier`` is our present part, in which a reviewer may have ticked items.
    """
    earlier = earlier.replace("\r\n", "\n")
    markdown = Markdown(catalogue)
    head = [
        markdown.text(_introduction(registration)),
        "",
        markdown.text(*_in_numbers(registration)),
        "",
    ]
    if paths := registration.told.conflicts:
        head += markdown.quoted(msg("body.conflicts", paths=paths))
    if registration.told.of_other_lists:
        # This explains the number at the end of the branch's name
        head += [markdown.text(*map(_of_other_list, registration.told.of_other_lists)), ""]
    if handed_down := states.handed_down(registration.repository):
        head += markdown.quoted(handed_down)
    if hidden := _hidden(registration):
        head += markdown.quoted(msg("body.hides", pairs=hidden))
    if hiding := [f.path for f in registration.files if f.on_branch and f.hides_inherited]:
        head += markdown.quoted(msg("body.not_handed_down", paths=hiding))
        if any(map(is_issue_template, hiding)):
            head += markdown.quoted(msg("body.one_template_for_all"))
    if any(
        _STORED_OTHERWISE.search(each.definition.content)
        for each in registration.files
        if each.on_branch and each.path.endswith(".gitattributes")
    ):
        head += markdown.quoted(msg("body.gitattributes"))
    tail = [markdown.text(*filter(None, [_how_to_change(registration)]))]

    files = by_urgency((*registration.files, *_unlisted(registration)), _state_on_branch)
    table = markdown.path_table(files, _described)
    heading, rows = table[:2], table[2:]
    is_open = len(rows) <= ROWS_UNFOLDED
    title = markdown.text(msg("summary.paths", count=len(files)))
    frame = heading if is_open else folded(title, heading)

    room -= _size([*head, "", *frame, "", *tail])
    todo = _to_fill_in(registration, markdown, set(_TICKED.findall(earlier)))
    if todo:
        intro = markdown.text(msg("body.fill_in"))
        todo = [intro, "", *_fitting(todo, room // 3 - _size([intro, ""]), markdown), ""]
    kept = [*heading, *_fitting(rows, room - _size(todo), markdown)]
    shown = [*kept, ""] if is_open else folded(title, kept)
    return "\n".join([*head, *todo, *shown, *tail])


def facts(ours: str) -> Sequence[str]:
    """Return the paths and numbers in our part of a description, without its words."""
    rows, rest = _ROW.findall(ours), _CODE_OR_TARGET.sub("", ours)
    return sorted([*rows, *_NUMBER.findall(rest)])


def _introduction(registration: Record) -> Message:
    url, files = registration.spec.settings.action_url, registration.spec.file_list
    path = _path_of_list(registration)
    if files.name and path:
        listed = msg("body.list_name_path", name=files.name, path=path)
    elif files.name:
        listed = msg("body.list_name", name=files.name)
    elif path:
        listed = msg("body.list_path", path=path)
    else:
        is_here = registration.is_of_workflow
        listed = msg("body.list_of_workflow" if is_here else "body.list_elsewhere")
    action = escaping.Link("registrar", url) if url else "registrar"
    return msg("body.introduction", action=action, list=listed)


def _path_of_list(registration: Record) -> str:
    """Return the path of the caller's own list; empty if this repository is not known to have it.

    Readers may not know the repository that has the list, or may not see it.
    """
    is_here = registration.is_of_workflow and registration.facts.has_list
    return registration.spec.file_list.path if is_here else ""


def _how_to_change(registration: Record) -> Message | None:
    if path := _path_of_list(registration):
        place = f"{quote(registration.base_branch)}/{quote(path)}"
        url = f"{registration.repository.html_url}/blob/{place}"
        return msg("body.change_at_path", path=escaping.Link(path, url))
    if registration.is_of_workflow:
        is_own = registration.spec.file_list.path
        return msg("body.change_the_file" if is_own else "body.change_the_set")
    if not registration.spec.settings.in_workflow:
        return msg("body.ask_those_who_run_it")
    return _whom_to_ask(registration)


def _whom_to_ask(registration: Record) -> Message | None:
    """Say who can change a list of another repository's workflow; ``None`` if this is not public.

    The other repository is named if it is public; otherwise its owner, if it is also the target's.
    """
    settings = registration.spec.settings
    workflow = settings.workflow_repository
    if settings.is_public_workflow:
        return msg("body.ask_at", repository=workflow)
    owner = workflow.partition("/")[0]
    if owner.lower() == registration.repository.owner.lower():
        return msg("body.ask_in", owner=registration.repository.owner)
    return None


def _in_numbers(registration: Record) -> Sequence[Message]:
    told, done = registration.told, [_state_on_branch(file) for file in registration.files]
    counts = {
        "body.unlisted": 0 if told.may_be_listed else len(told.unlisted),
        "body.exist": sum(file.standing.is_present for file in registration.files),
        **states.counted_apart(registration, lambda words: words.body, "body.removed"),
        "body.failed": done.count(Done.FAILED) + done.count(Done.UNKNOWN),
        "body.pending": done.count(Done.PENDING),
    }
    added = msg("body.adds", count=done.count(Done.CREATED), total=len(done))
    return [added, *(msg(key, count=n) for key, n in counts.items() if n)]


def _of_other_list(pull: PullRequest) -> Message:
    return msg("progress.beside", branch=pull.head_branch, other=pull.link)


def _hidden(registration: Record) -> list[Message]:
    return [
        msg("progress.hides_pair", path=file.path, other=file.hides)
        for file in registration.files
        if file.on_branch and file.hides
    ]


def _to_fill_in(registration: Record, markdown: Markdown, ticked: set[str]) -> list[str]:
    """Return a checklist of the blank files that are added, with their effects on GitHub.

    ``ticked`` are the paths, in Markdown, of the items that a reviewer has ticked.
    """
    items: list[str] = []
    for file in registration.files:
        definition = file.definition
        if not file.on_branch or not definition.is_to_fill_in:
            continue
        path = markdown.code(definition.path)
        box = "[x]" if path in ticked else "[ ]"
        # The owner's `.github` repository itself inherits nothing
        is_default = registration.repository.has_defaults and path.startswith("`.github/")
        effect = None if is_default else _EFFECTS.get(definition.path)
        note = f": {markdown.text(msg(effect))}" if effect else ""
        items.append(f"- {box} {path}{note}")
    return items


def _fitting(lines: Sequence[str], room: int, markdown: Markdown) -> list[str]:
    if _size(lines) <= room:
        return list(lines)
    room -= _size(["", markdown.text(msg("label.more", count=10**9))])
    kept: list[str] = []
    for line in lines:
        room -= _size([line])
        if room < 0:
            break
        kept.append(line)
    return [*kept, "", markdown.text(msg("label.more", count=len(lines) - len(kept)))]


def _size(lines: Sequence[str]) -> int:
    return escaping.characters("".join(lines)) + len(lines)


def _unlisted(registration: Record) -> Iterator[ListedPath]:
    reason = None if registration.told.may_be_listed else msg("body.unlisted_file")
    for path in registration.told.unlisted:
        yield ListedPath(FileDefinition(path), Create(), Outcome(Result.DONE, reason))


def _state_on_branch(file: ListedPath) -> Done:
    return Done.CREATED if file.on_branch else file.done


def _described(file: ListedPath) -> Message:
    return states.described_as_added(file) if file.on_branch else states.described(file)

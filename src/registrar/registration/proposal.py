"""The texts of a registration: commit messages, and the title and description of a pull request."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.paths import Done
from registrar.models.record import Record
from registrar.models.repository import Values
from registrar.models.settings import PullRequestOptions
from registrar.models.spec import RegistrationSpec
from registrar.registration.mark import (
    BEGIN,
    EMPTY_MARK,
    END,
    Mark,
    divide,
    not_withdrawn,
    unmarked,
)
from registrar.registration.progress import Progress
from registrar.rendering import description
from registrar.rendering.markdown import Markdown
from registrar.texts import escaping, templates
from registrar.texts.messages import Catalogue, Message, msg

BODY_CHARACTERS = 65_536
"""Longest description that GitHub accepts (github/issue-metrics#258)."""
TITLE_CHARACTERS = 256
"""Longest title that GitHub accepts."""
TEXT_CHARACTERS = 30_000
"""Longest text of the caller in a description, after the values of properties are filled in."""
MOST_NAMES = 20
"""The most names of one input after custom properties are filled in. There is a limit, because
admins of a repository can set any values. More names are left out, with a warning."""


class CommitMessage(NamedTuple):
    """A commit message: its first line, and the text below it."""

    headline: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.headline}\n\n{self.body}" if self.body else self.headline


class Proposal(NamedTuple):
    """The texts of one registration, and the other options of its pull request."""

    spec: RegistrationSpec
    catalogue: Catalogue
    properties: Values = MappingProxyType({})
    """Custom properties of the repository; empty if they were not read."""

    @property
    def options(self) -> PullRequestOptions:
        """The caller's options for the pull request."""
        return self.spec.settings.pull_request

    def filled_in(self, progress: Progress) -> "Proposal":
        """Return the proposal with the names of labels and people filled in.

        If the repository lacks a property, there is a warning: a name with this property is left
        out, and a text is used without the value.
        """
        for field, text in self.spec.settings.texts.items():
            for name in templates.properties(text):
                if why := self._unusable(name, lines=field == "body"):
                    about = f"{field} {name}"
                    progress.warn("pull_request.empty_value", about=about, input=field, reason=why)

        def names(field: str, listed: Sequence[str]) -> tuple[str, ...]:
            filled = (self._filled_names(field, each, progress) for each in listed)
            given = dict[str, None]()
            for name in itertools.chain.from_iterable(filled):
                if len(given) == MOST_NAMES and name not in given:
                    values = {"input": field, "most": MOST_NAMES}
                    progress.warn("pull_request.too_many_names", about=field, **values)
                    break
                given[name] = None
            return tuple(given)

        given = self.options
        options = given._replace(
            labels=names("labels", given.labels),
            assignees=names("assignees", given.assignees),
            reviewers=names("reviewers", given.reviewers),
            team_reviewers=names("team_reviewers", given.team_reviewers),
        )
        settings = self.spec.settings._replace(pull_request=options)
        return self._replace(spec=self.spec._replace(settings=settings))

    def _filled_names(self, field: str, template: str, progress: Progress) -> Iterator[str]:
        """Yield the names for one template: several if a property in it has several values."""
        if not templates.names_property(template):
            yield template
            return
        keys = templates.properties(template)
        for key in keys:
            if why := self._unusable(key):
                values = {"name": template, "input": field, "reason": why}
                progress.warn("pull_request.no_value", about=f"{field} {template}", **values)
                return
        for values_of_keys in itertools.product(*(self.properties[key] for key in keys)):
            name = templates.fill(template, {}, dict(zip(keys, values_of_keys, strict=True)))
            name = self.catalogue.shown(name, str).strip()
            if field != "labels":
                name = name.removeprefix("@")
            if name:
                yield name

    def title(self, result: Record) -> str:
        defaults = self.spec.file_list.defaults
        template = self.spec.settings.title or defaults.title
        title = self._fill(template, self._values(result)) or defaults.title
        return _cut(title, TITLE_CHARACTERS) if templates.properties(template) else title

    def commit_messages(self, result: Record) -> Callable[[FileDefinition], str]:
        """Return a function that makes the message of the commit for a file."""
        values = self._values(result)

        def message(file: FileDefinition) -> str:
            of_file = {**values, "path": escaping.for_commit(file.path)}
            default = self._fill(self.spec.file_list.defaults.commit_message, of_file)
            return self._commit_message(of_file, default).text

        return message

    def commit_message(
        self, result: Record, files: Sequence[FileDefinition], *, corrects: bool = False
    ) -> CommitMessage:
        """Return the message of one commit for several files; it lists them.

        ``corrects`` is true if the commit only updates files and creates none.
        """
        paths = self.catalogue.text(msg("commit.files", count=len(files)))
        if len(files) == 1:
            paths = escaping.for_commit(files[0].path)
        default = f"chore: update {paths}" if corrects else self.title(result)
        listed = [f"- {escaping.for_commit(each.path)}" for each in files]
        return self._commit_message({**self._values(result), "path": paths}, default, listed)

    def _commit_message(
        self, values: Mapping[str, str], default: str, listed: Sequence[str] = ()
    ) -> CommitMessage:
        """Fill in the caller's message. A line that becomes empty is left out.

        The lines of ``listed`` come before the trailers, because GitHub and others read trailers
        only at the end. If the caller's first line is empty, ``default`` takes its place. A line at
        the end becomes an item of a list if only its values make it a trailer.
        """
        template = templates.CommitTemplate.of(self.spec.settings.commit_message)
        is_end = not (listed or template.trailers)

        def filled(lines: str) -> Iterator[str]:
            for line in lines.split("\n"):
                text = self._fill(line, values).rstrip()
                if is_end and templates.is_trailer(text) and not templates.is_trailer(line):
                    text = f"- {text}"
                if text or not line:
                    yield text

        trailers = filter(templates.is_trailer, filled(template.trailers))
        parts = (filled(template.body), listed, trailers)
        body = "\n\n".join(filter(None, map("\n".join, parts)))
        return CommitMessage(self._fill(template.headline, values) or default, body)

    def body(self, result: Record, current: str | None = None, *, mark: Mark = EMPTY_MARK) -> str:
        """Return the description with registrar's part; the text outside its markers is kept.

        ``mark`` is the present mark; the paths that it names are kept. ``current`` is the present
        description; ``None`` means a new one, which begins with the caller's own text. If the
        description has no room left for this part, it is not changed, except that it no longer says
        "withdrawn". A new one then names only the files of this list, without those of ``mark``.
        """
        is_new = current is None
        if current is None:
            text = self._fill(self.options.body, self._values(result), escaping.for_markdown)
            current = _cut(text, TEXT_CHARACTERS) if self.properties else text
        before, ours, after = divide(current)
        if ours is None and before:
            before = f"{before}\n\n"
        room = BODY_CHARACTERS - escaping.characters(f"{before}{BEGIN}\n\n{END}{after}")
        ours_now = (file.definition for file in result.files if file.is_as_listed)
        written = {each.path: each.blob_id for each in ours_now}
        list_id, source = self.spec.list_id(result.repository), self.spec.source
        hidden = mark.naming(list_id, written, result.told.conflicts, source).text
        room -= escaping.characters(hidden) + 1
        ours = description.render(result, self.catalogue, room, ours or "")
        body = f"{before}{BEGIN}\n{ours}\n{hidden}\n{END}{after}"
        if escaping.characters(body) <= BODY_CHARACTERS:
            return body
        return self.body(result) if is_new and mark.wrote else not_withdrawn(current)

    def closed(self, current: str, mark: Mark) -> str:
        """Return the description of a pull request that is to be closed. registrar's part says why,
        and has the new ``mark``.

        If the description has no room, registrar's part is shortened to its mark, and in the end
        to a mark that names no paths, so that a pull request can always be closed. If a person
        reopens a withdrawn pull request, the next run writes this part anew.
        """
        before, ours, after = divide(current)
        why = msg("body.needless" if mark.is_needless else "body.withdrawn")
        reason = "\n".join(Markdown(self.catalogue).quoted(why))
        text, nameless = (
            unmarked(ours or "").removeprefix(reason).strip(),
            mark._replace(wrote=None),
        )
        parts = f"{reason}\n{text}\n\n{mark.text}", f"{reason}\n\n{mark.text}", mark.text
        bodies = (f"{before}{BEGIN}\n{part}\n{END}{after}" for part in (*parts, nameless.text))
        fitting = (each for each in bodies if escaping.characters(each) <= BODY_CHARACTERS)
        return next(fitting, f"{before}{nameless.text}{after}")

    def _values(self, result: Record) -> Mapping[str, str]:
        """Return the values of the placeholders that every text may have."""
        owner, _, repo = result.repository.full_name.partition("/")
        return {
            "profile": self.spec.file_list.defaults.name,
            "count": str(sum(f.on_branch or f.done is not Done.SKIPPED for f in result.files)),
            "owner": self.catalogue.shown(owner, str),
            "repo": self.catalogue.shown(repo, str),
            "base": self.catalogue.shown(result.base_branch, escaping.for_commit),
            # A link to a run of another, perhaps private, repository would name that repository
            "run_url": self.spec.settings.run_url if result.is_of_workflow else "",
        }

    def _fill(
        self,
        template: str,
        values: Mapping[str, str],
        escape: Callable[[str], str] = escaping.for_commit,
    ) -> str:
        lines = escape is escaping.for_markdown
        properties = {
            name: ""
            if self._unusable(name, lines=lines)
            else self.catalogue.shown(", ".join(self.properties[name]), escape)
            for name in templates.properties(template)
        }
        text = templates.fill(template, values, properties)
        if not (lines or all(properties.values())):
            text = " ".join(text.split())
        # A template may have a property in brackets; `[skip ci]` would then skip the checks
        return text if escaping.skips_checks(template) else escaping.no_skip(text)

    def _unusable(self, name: str, *, lines: bool = False) -> Message | None:
        """Return why a property cannot be filled in; ``None`` if it can.

        ``lines`` is true for a text that may have several lines.
        """
        values = self.properties.get(name)
        if not values:
            return msg("reason.no_property", name=name)
        if not lines and any(value.splitlines() != [value] for value in values):
            return msg("reason.property_lines", name=name)
        return None


def tells_the_same(current: str, new: str) -> bool:
    """Whether two descriptions have the same mark, and the same facts in registrar's part.

    So another wording, of another release or language, never makes a run write.
    """
    ours, ours_now = (description.facts(divide(each).ours or "") for each in (current, new))
    return Mark.of(current) == Mark.of(new) and ours == ours_now


def _cut(text: str, most: int) -> str:
    if escaping.characters(text) <= most:
        return text
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * (most - 1)]
    # Half of a character at the end is left out
    return f"{units.decode('utf-16-le', 'ignore')}…"

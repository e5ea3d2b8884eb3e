"""The oracle: everything that registrar promises, asked of each run and of each world.

`of_run` asks whether the texts of one run agree with each other, and whether they are true when it
ends. `of_world` asks, over the journal of the stand-in, whether everybody's work is still there.
Both yield a sentence for each broken promise. Neither plans anything: expected states are rows.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from registrar.texts.messages import read
from tests.fakehub import Act, Repository, StandInHost, Write
from tests.fakehub.journal import Change
from tests.fakehub.store import find_entry, kind_of

ROOT = Path(__file__).resolve().parents[1]
TEXTS: Mapping[str, Mapping[str, str]] = {name: read(f"{name}.yml") for name in ("en", "ja")}
RAW = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Characters that change how a terminal or a browser shows the text around them."""
FILES = ("report", "table", "page")
UNRENDERED = re.compile("Traceback|Unexpected error|Please report this line|この行を添えて報告")
"""What an error of registrar itself looks like (`run.unexpected`, `run.unrendered`)."""
COMMANDS = {"group", "endgroup", "error", "warning"}
CANCELLED = {130, 143}
"""The exit codes of a run that was cancelled, and whose last answers it may not know."""
PRESENT = {"same", "blank", "differs", "filled", "not a file"}
COUNTS = {
    "created": "created",
    "skipped": "skipped",
    "failed": "failed",
    "to_create": "to create",
    "proposed": "proposed",
    "present": "present",
    "declined": "declined",
    "unset": "unset",
    "blocked": "blocked",
    "unread": "unread",
}
"""The counts of log and summary by their keys in the catalogue, with their names in the report."""
DOCUMENT = re.compile(r"(?:→ |/registrar/blob/[^/\s]+/)(docs/[\w./-]+\.md)(?:#([\w-]+))?")
ANNOTATION = re.compile(r"^::error\b", re.MULTILINE)
PROGRESS = re.compile(r"^\[ *(\d+)/(\d+)\] ", re.MULTILINE)
NUMBERED = re.compile(r"\[#(\d+)\]\(([^)\s]+)\)")
Row = Mapping[str, str]
"""A row of the table."""
ENDED = 2
"""The exit code of a run that ended early, and whose log has no outcome."""
MARKED = "<!-- registrar:list "
"""The mark in a description, as long as runs take its pull request for one of registrar."""
INTERVAL = 0.99
"""The seconds between two writes of a run over many repositories, without what rounding takes."""
LIMIT = re.compile(r'<a name="(limit-[\w-]+)"></a>')


@dataclass(slots=True)
class Told:
    """A run that has ended: its texts, its environment, and its place in the journal."""

    exit_code: int
    stdout: str
    stderr: str
    summary: str
    outputs: Mapping[str, str]
    environ: Mapping[str, str]
    began: int
    """The number of entries of the journal when the run began."""
    ended: int = 0
    kept: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files for later steps, by `report`, `table` and `page`."""
    report: Any = None
    moments: Sequence[float] = ()
    """When its requests that write have come to the host, if its clock is a fake one."""
    with_others: bool = False
    """Whether another run with the same token was still running."""

    @property
    def texts(self) -> dict[str, str]:
        """All texts that somebody reads, by their names."""
        shown = {"log": self.stdout, "errors": self.stderr, "summary": self.summary}
        return {**shown, "outputs": "\n".join(self.outputs.values()), **self.kept}

    @property
    def mode(self) -> str:
        return self.environ.get("INPUT_MODE", "").strip().lower() or "register"

    @property
    def way(self) -> str:
        is_many = self.environ.get("INPUT_TARGET_REPOS")
        return "many" if is_many else self.environ.get("INPUT_COMMIT_STRATEGY", "per-file")

    @property
    def is_many(self) -> bool:
        return self.report is not None and "many" in self.report

    @property
    def token(self) -> str:
        names = ("INPUT_HOST_TOKEN", "HOST_TOKEN")
        return next((self.environ[each].strip() for each in names if self.environ.get(each)), "")

    @property
    def registrations(self) -> list[Any]:
        return self.report["registrations"] if self.report else []


EXCUSED: WeakKeyDictionary[StandInHost, list[str]] = WeakKeyDictionary()
"""The broken promises in tests about a known limit, of each host."""
RUNS: WeakKeyDictionary[StandInHost, list[Told]] = WeakKeyDictionary()
"""The runs that have ended, of each host."""


def require(host: StandInHost, problems: Iterator[str]) -> None:
    """Fail if a promise is broken, unless the test is about a known limit (`excuse`)."""
    found = [*dict.fromkeys(problems)]
    if host in EXCUSED:
        EXCUSED[host] += found
    else:
        runs = ", ".join(f"{each.mode} ({each.way})" for each in RUNS.get(host, ()))
        assert not found, f"broken promises, after {runs}:\n- " + "\n- ".join(found)


@contextmanager
def kept(host: StandInHost, but: str = "") -> Iterator[None]:
    """Ask about a world when its test has ended.

    ``but`` is the anchor of a known limit. It must exist, and the test must really break a promise.
    """
    if but:
        limits = LIMIT.findall((ROOT / "docs/concepts.md").read_text("utf-8"))
        assert but in limits, f"docs/concepts.md has no limit {but!r}: {limits}"
        EXCUSED[host] = []
    yield
    require(host, of_world(host))
    assert not but or EXCUSED[host], f"no promise is broken, so the limit {but} does not matter"


# --- Of each run --------------------------------------------------------------------------------


def of_run(host: StandInHost, told: Told, secrets: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the texts of a run, which has just ended."""
    yield from _harmless(host, told, secrets)
    yield from _links(told)
    yield from _progress(told)
    yield from _annotations(told)
    gaps = [then - now for now, then in pairwise(told.moments)]
    has_pace = told.way == "many" and not _had_company(host, told)
    if gaps and has_pace and min(gaps) < INTERVAL:
        yield f"two writes have a distance of {min(gaps)} seconds"
    if told.report is not None:
        yield from _numbers(told)
        yield from _files(told)
        yield from _true(host, told)
        yield from _true_of_many(host, told) if told.is_many else ()


def _had_company(host: StandInHost, told: Told) -> bool:
    """Whether another run of registrar was under way at the same time."""
    others = (each for each in RUNS[host] if each is not told)
    return told.with_others or any(each.ended > told.began for each in others)


def _harmless(host: StandInHost, told: Told, secrets: Sequence[str]) -> Iterator[str]:
    """No secret, no name of a repository that the readers may not see, nothing raw."""
    hidden = [*filter(None, (*secrets, told.token))]
    unseen = _unseen(host, told)
    for name, text in told.texts.items():
        plain = html.unescape(text) if "&" in text else text
        yield from (f"{name} shows a secret" for each in hidden if each in text or each in plain)
        yield from (f"{name} names {each}" for each in unseen if each in plain)
        if found := RAW.search(text):
            yield f"{name} has the raw character {found[0]!r}: {_around(text, found.start())}"
        if found := UNRENDERED.search(text):
            yield f"{name} shows an error of our own: {_around(text, found.end())}"


def _unseen(host: StandInHost, told: Told) -> list[str]:
    """Return the names that the readers of a public workflow's log may not see.

    A repository may have been public when it was selected, or its name may be an input.
    """
    name = told.environ.get("GITHUB_REPOSITORY", "").lower()
    own = [each for each in host.repositories if each.full_name.lower() == name]
    if told.environ.get("GITHUB_ACTIONS") != "true" or not own or own[0].visibility == "private":
        return []
    seen = {"public", own[0].visibility}
    inputs = "\n".join(told.environ.values())
    changed = {
        each.repository.id
        for each in host.journal
        if isinstance(each, Act) and {"private", "full_name"} & each.after.keys()
    }
    return [
        each.full_name
        for each in host.repositories
        if each.visibility not in seen and each.id not in changed and each.full_name not in inputs
    ]


def _links(told: Told) -> Iterator[str]:
    """Documents exist, and a number is that of its address."""
    for name, text in told.texts.items():
        for document, anchor in set(DOCUMENT.findall(text)):
            if anchor not in _anchors(document):
                yield f"{name} links to {document}#{anchor}, which does not exist"
        for number, address in set(NUMBERED.findall(text)):
            if not address.endswith(f"/{number}"):
                yield f"{name} calls {address} #{number}"


def _progress(told: Told) -> Iterator[str]:
    """The numbered lines of the log begin with 1, and no number is there twice.

    Only over many repositories some are left out, because there is nothing to say about them.
    """
    lines = [tuple(map(int, each)) for each in PROGRESS.findall(told.stdout)]
    for (number, of), (following, total) in pairwise(lines):
        # A run that was killed has no report
        may_skip = told.is_many or told.report is None
        is_next = total == of and (number < following if may_skip else following == number + 1)
        if not is_next and following != 1:
            yield f"in the log [{number}/{of}] is followed by [{following}/{total}]"


def _annotations(told: Told) -> Iterator[str]:
    """A run of a workflow has an error as an annotation exactly if it fails."""
    is_error = ANNOTATION.search(told.stdout) is not None
    on_runner = told.environ.get("GITHUB_ACTIONS") == "true" and told.exit_code not in CANCELLED
    if on_runner and told.exit_code >= 0 and is_error != bool(told.exit_code):
        yield f"the exit code is {told.exit_code}, and the annotation of an error is {is_error}"


@cache
def _anchors(document: str) -> set[str]:
    """Return the anchors of a document, with the empty one; none if there is no document."""
    file = ROOT / document
    if not file.is_file():
        return set()
    text = file.read_text("utf-8")
    titles = re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in titles}
    return {"", *slugs, *re.findall(r'<a (?:name|id)="([\w-]+)"></a>', text)}


@cache
def _counted(kind: str) -> re.Pattern[str]:
    """Return the pattern of a line with a count, in both languages; each group is a key."""
    row = r"\| {} \| (?P<{}>\d+) \|"
    found = []
    for language, texts in TEXTS.items():
        for key in COUNTS:
            text = re.escape(texts[f"{kind}.{key}"])
            name = f"{language}_{key}"
            if kind == "summary":
                found.append(text.replace(r"\{count\}", rf"(?P<{name}>\d+)"))
            else:
                found.append(row.format(text, name))
    return re.compile(f"^(?:{'|'.join(found)})$", re.MULTILINE)


def _counts(kind: str, text: str) -> Counter[str]:
    """Return the counts that the log or the summary shows, added up over all registrations."""
    sums = Counter[str]()
    for found in _counted(kind).finditer(text):
        assert found.lastgroup
        sums[COUNTS[found.lastgroup.partition("_")[2]]] += int(found[found.lastgroup])
    return sums


def _numbers(told: Told) -> Iterator[str]:
    """The numbers of log, summary, outputs and report are the same."""
    report = told.report
    if report["exit_code"] != told.exit_code:
        yield f"the exit code is {told.exit_code}, the report says {report['exit_code']}"
    for each in told.registrations:
        groups = Counter(_group(file["standing"]) for file in each["files"])
        if groups != +Counter(each["standings"]):
            yield f"the report counts {each['standings']}, but lists {groups}"
    if told.is_many:
        many = told.report["many"]
        # A repository has a row for each of its lists, and a name may pass on during a listing
        names = {row["repository"] for row in many["rows"]}
        counted = sum(many["states"].values()) - many["states"]["complete"]
        if many["budget"] and not len(names) <= counted <= len(many["rows"]):
            yield f"the report has rows of {len(names)} names, and counts {many['states']}"
        return
    yield from _exit_code(told)
    said = Counter[str]()
    for each in told.registrations:
        said += Counter({name: each[name] for name in ("created", "skipped", "failed")})
        said += Counter(each["standings"])
    texts = {
        "the log": _counts("summary", told.stdout),
        "the summary": _counts("table", told.summary),
    }
    for name, counts in texts.items():
        if wrong := {key: count for key, count in counts.items() if count != said[key]}:
            yield f"{name} counts {wrong}, the report {dict(said)}"
    for name in ("created", "skipped", "failed", "missing", "declined", "blank"):
        total = sum(each[name] for each in told.registrations)
        if told.outputs.get(name) not in {None, "", str(total)}:
            yield f"the output {name} is {told.outputs[name]}, the report says {total}"


def _exit_code(told: Told) -> Iterator[str]:
    codes = {each["exit_code"] for each in told.registrations}
    if codes and not told.report["errors"]:
        expected = codes.pop() if len(codes) == 1 else 1
        if told.exit_code not in {expected, *CANCELLED}:
            yield f"the exit code is {told.exit_code}, that of the registrations {expected}"
    for each in told.registrations:
        if each["exit_code"] == 0 and (each["failed"] or each["error"]):
            yield f"{each['repository']} has the exit code 0, but failed: {each['error']}"


def _group(standing: str) -> str:
    return "present" if standing in PRESENT else standing


def _files(told: Told) -> Iterator[str]:
    """The table, the page and the report show the same states and the same addresses."""
    output = told.outputs.get("report")
    if output and told.kept.get("report", output).strip() != output:
        yield "the file of the report is another one than the output"
    if "table" not in told.kept:
        return
    text = told.kept["table"].removeprefix("\ufeff")
    # An apostrophe keeps a spreadsheet from taking the text for a formula
    plain = re.sub("(?<=[\";])'(?=[=+@-])", "", text)
    rows = [*csv.DictReader(io.StringIO(plain, newline=""))]
    of_path = {(row["repository"], row["path"]): row for row in rows}
    states = {(row["repository"], row["path"], row["standing"]) for row in rows}
    for each in told.registrations:
        for file in each["files"]:
            place = each["repository"], file["path"], file["standing"]
            # The table escapes characters that people do not see
            if place not in states and file["path"].isprintable():
                yield f"the table has no row of {file['path']}, {file['standing']}"
    yield from _links_of_paths(told.summary, of_path, told)
    selected = [row for row in rows if not row["standing"].startswith("excluded")]
    if told.is_many:
        yield from _numbers_of_many(told, selected)
    if "page" in told.kept:
        yield from _page(told.kept["page"], selected)


def _links_of_paths(
    summary: str, of_path: Mapping[tuple[str, str], Row], told: Told
) -> Iterator[str]:
    """The summary links a path to the same pull request as the table."""
    if len(told.registrations) != 1 or told.is_many:
        return
    repository = told.registrations[0]["repository"]
    for path, state in re.findall(r"^\| `([^`|]+)` \| (.*?) \|", summary, re.MULTILINE):
        row, links = (
            of_path.get((repository, path), {}),
            [each[1] for each in NUMBERED.findall(state)],
        )
        address = row.get("pull_request") if row.get("standing") in {"declined", "proposed"} else ""
        if links and address and address not in links:
            yield f"the summary links {path} to {links}, the table to {address}"


def _says(text: str, key: str, **values: object) -> bool:
    """Return whether a text has a text of the catalogue, in any language."""
    sentences = (texts[key].format(**values) for texts in TEXTS.values())
    return any(re.search(rf"(?<!\d){re.escape(each)}", text) for each in sentences)


def _numbers_of_many(told: Told, rows: Sequence[Row]) -> Iterator[str]:
    """Over many repositories, all outputs count the rows of the table."""
    many, outputs = told.report["many"], told.outputs
    ways = Counter(row["standing"] for row in rows)
    groups = Counter(_group(row["standing"]) for row in rows)
    if groups != +Counter(many["standings"]):
        yield f"the report counts {many['standings']}, the table {groups}"
    expected = {
        "missing": groups["to create"] + groups["proposed"] + groups["blocked"],
        "blank": ways["blank"],
        "differing": ways["differs"],
        "declined": groups["declined"],
        "repositories": many["repositories"],
        "failed_repositories": many["states"]["failed"],
    }
    said = {name: int(outputs[name] or 0) for name in expected}
    if said != expected:
        yield f"the outputs are {said}, the table has {expected}"
    if sum(many["states"].values()) != many["repositories"]:
        yield f"the states {many['states']} are not those of {many['repositories']} repositories"
    states = {name: count for name, count in many["states"].items() if count}
    outcomes = Counter(row["outcome"] for row in rows)
    if unknown := states.keys() - outcomes.keys() - {"failed", "not read", "complete"}:
        yield f"no row of the table has the outcomes {unknown}"
    # A run that ends early has no outcome in its log
    is_ended = told.exit_code in {ENDED, *CANCELLED} or told.report["errors"]
    for name in ("summary",) if is_ended else ("log", "summary"):
        text = told.texts[name]
        for state, count in states.items():
            if not _says(text, f"many.count_{state.replace(' ', '_')}", count=count):
                yield f"the {name} does not say that {count} repositories are {state}"
        for way in ("blank", "differs"):
            if ways[way] and not _says(text, f"evidence.{way}", count=ways[way]):
                yield f"the {name} does not say that {ways[way]} paths are {way}"
    # At a terminal, the log is there
    for name, key in READ.items() if many["budget"] and told.stdout else ():
        if (count := many["budget"][name]) and not _says(told.stdout, key, count=count):
            yield f"the report counts {count} as {name}, and the log does not say it"


READ = {
    "proposed": "many.missing_proposed",
    "to_update": "many.missing_to_update",
    "declined": "many.count_declined",
    "unset": "many.count_unset",
    "pull_requests_unread": "many.missing_unread",
}
"""Numbers that a reading has found, by their names in the report, with the keys of the log."""
REPOSITORY_OF_PAGE = re.compile(
    r'<tr data-name="([^"]*)"[^>]*>\s*<th scope="row">(?:(?!</th>).)*?'
    r'(?:<span class="soft">([^<]*)</span>)?</th>\s*'
    r'<td class="number">(\d+)</td>\s*<td>(.*?)</ul>',
    re.DOTALL,
)
"""A repository that needs a look; with the name of the list if there are several."""
LINK_OF_PAGE = re.compile(r'key"></span>[^<]*</span> <a href="([^"]*)"><code>(.*?)</code></a>')
TILE = re.compile(r'<strong>(\d+)</strong> <span class="(\w+) key">')
CARD = re.compile(r"<strong>(\d+) / (\d+)</strong>")
NUMBER = re.compile(r'class="number[^"]*">(\d+)</td>')


def _page(page: str, rows: Sequence[Row]) -> Iterator[str]:
    """The numbers of the page count the rows of the table, and its links are those of the rows."""
    page = re.sub(r'<a href="#repositories"[^>]*>(.*?)</a>', r"\1", page)
    groups = Counter(_class(row) for row in rows)
    tiles = {name: int(count) for count, name in TILE.findall(page) if name != "failed"}
    if wrong := {name: count for name, count in tiles.items() if count != groups[name]}:
        yield f"the tiles of the page count {wrong}, the table {dict(groups)}"
    several = len({row["list"] for row in rows}) > 1
    absent = defaultdict[tuple[str, str], Counter[str]](Counter)
    lacking = defaultdict[str, set[str]](set)
    for row in rows:
        of_row = {_class(row)} - {"present"}
        absent[row["repository"], row["list"] if several else ""].update(of_row)
        failed = {"failed"} if row["outcome"] == "failed" else set[str]()
        lacking[row["repository"]] |= of_row | failed
    reached = [
        sum(not each - allowed for each in lacking.values()) for allowed in ({""}, {"declined"})
    ]
    shown = [int(part) for part, _ in CARD.findall(page)[:2]]
    if shown and shown != reached:
        yield f"the page says that {shown} are complete and done, the table {reached}"
    yield from _paths_of_page(page, rows)
    addresses = defaultdict[tuple[str, str], set[str]](set)
    for row in rows:
        addresses[row["repository"], row["path"]].add(row["pull_request"])
    listed = page.partition('id="list"')[2].partition('id="matrix"')[0]
    for name, of_list, number, text in REPOSITORY_OF_PAGE.findall(listed):
        lacks = absent[html.unescape(name), html.unescape(of_list)].total()
        if int(number) != lacks:
            yield f"the page says that {name} {of_list} lacks {number}, the table {lacks}"
        for address, path in LINK_OF_PAGE.findall(text):
            place = html.unescape(name), html.unescape(path)
            if "/pull/" in address and html.unescape(address) not in addresses[place]:
                yield f"the page links {place} to {address}, the table to {addresses[place]}"


def _paths_of_page(page: str, rows: Sequence[Row]) -> Iterator[str]:
    """The table of paths has the numbers of the rows."""
    if 'id="by-path"' not in page:
        return
    by_path = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        shade = row["standing"].replace(" ", "_")
        by_path[row["path"]].update({_class(row), shade, "all"})
    head, *lines = re.findall(r"<tr>(.*?)</tr>", page.partition('id="by-path"')[2], re.DOTALL)
    bars = [*re.findall(r'<span class="(\w+) key">', head), "all"]
    for line in lines:
        path = re.search(r'<th scope="row"><code>(.*?)</code>', line)
        numbers = [int(each) for each in NUMBER.findall(line)]
        if path and len(numbers) == len(bars):
            counts = by_path[html.unescape(path[1])]
            if wrong := [bar for bar, n in zip(bars, numbers, strict=True) if n != counts[bar]]:
                yield f"the page counts {numbers} of {path[1]}, the table {dict(counts)}: {wrong}"


def _class(row: Row) -> str:
    """Return the class that the page gives to the state of a row."""
    return _group(row["standing"]).replace(" ", "_")


def _around(text: str, at: int) -> str:
    return repr(text[max(at - 60, 0) : at + 60])


# --- What a run said is true --------------------------------------------------------------------


def _true(host: StandInHost, told: Told) -> Iterator[str]:
    """Pull requests, branches and files of the report are really there when the run ends.

    Repositories are left out in which somebody else has done something meanwhile, and runs whose
    host lagged behind or answered something else than it had.
    """
    is_misled = host.quirks.lag is not None or host.faults.have_lied
    if _had_company(host, told) or is_misled or told.environ.get("INPUT_REF"):
        return
    during = [each for each in host.journal if each.number >= told.began]
    strangers = {each.repository.id for each in during if each.actor.token != told.token}
    names = {each.full_name: each for each in host.repositories if not each.deleted}
    entries = defaultdict[int, list[Write | Act]](list)
    for entry in during:
        entries[entry.repository.id].append(entry)
    listed = defaultdict[str, set[str]](set)
    for each in told.registrations:
        listed[each["repository"]].update(file["path"] for file in each["files"])
    for each in told.registrations:
        repository = names.get(each["repository"])
        if repository is None or repository.id in strangers or not each["files"]:
            continue
        ours = entries[repository.id]
        writes = [entry for entry in ours if isinstance(entry, Write) and entry.old]
        written = {change.path for entry in writes for change in entry.changes}
        if not written <= listed[repository.full_name]:
            yield f"{written - listed[repository.full_name]} are written, and are not in the list"
        name = each["repository"]
        for problem in (
            *_true_files(repository, each, told),
            *_true_pull(repository, each, ours, told),
        ):
            yield f"of {name}, in mode {each['mode']}: {problem}"


def _true_files(repository: Repository, each: Any, told: Told) -> Iterator[str]:
    base = each["base_branch"] and repository.find_head(each["base_branch"])
    if not base:
        return
    tree = repository.commit_at(base).tree
    heads = [
        repository.commit_at(pull.head_sha).tree
        for pull in repository.pull_requests
        if pull.state == "open"
    ]
    branch = each["branch"] and repository.find_head(each["branch"])
    on_branch = branch and repository.commit_at(branch).tree

    @cache
    def brought(commit: str) -> set[str]:
        deltas = repository.changes(repository.commit_at(commit)).deltas
        return {delta.new_file.path for delta in deltas}

    for file in each["files"]:
        path, state = file["path"], file["standing"]
        entry = find_entry(tree, file.get("found_path", path))
        if state == "unread" or "\ufffd" in path:
            continue
        # Another path may count, which may even be in another repository, and hidden
        is_elsewhere = state in PRESENT and told.environ.get("INPUT_RESPECT_ALTERNATIVES")
        if (state in PRESENT) != (entry is not None or bool(is_elsewhere)):
            yield f"{path} is said to be {state}, and the base branch has {entry}"
        # REST shows the file to which a link leads
        elif (
            entry and kind_of(entry) == "file" and file.get("blob", str(entry.id)) != str(entry.id)
        ):
            yield f"{path} is said to be {file['blob']}, and is {entry.id}"
        # A run whose pull request could not be opened says so beside the files
        if (
            state == "proposed"
            and not each["error"]
            and not any(find_entry(head, path) for head in heads)
        ):
            yield f"{path} is said to be proposed, and no open pull request has it"
        if file["done"] == "created":
            if not on_branch or not find_entry(on_branch, path):
                yield f"{path} is said to be created, and {each['branch']} lacks it"
            elif file["commit"] and path not in brought(file["commit"]):
                yield f"{path} is said to be created by {file['commit']}, which lacks it"


def _true_pull(
    repository: Repository, each: Any, ours: Sequence[Write | Act], told: Told
) -> Iterator[str]:
    said = each["pull_request"]
    acts = [entry for entry in ours if isinstance(entry, Act)]
    opened = {entry.pull_request for entry in acts if entry.verb == "open"}
    # Of two lists, the other one may have written
    is_only = sum(other["repository"] == each["repository"] for other in told.registrations) == 1
    if said is None:
        # A run that has failed may not know it
        if opened and is_only and told.exit_code == each["exit_code"] == 0:
            yield f"nothing is said of the pull request {opened}"
        return
    pull = repository.pull_request(said["number"])
    # GitHub leads from a former name to the present one
    names = (repository.full_name, *repository.former_names)
    urls = {pull.html_url.replace(repository.full_name, name) for name in names}
    if said["url"] not in urls:
        yield f"#{pull.number} is at {pull.html_url}, not at {said['url']}"
    operation = said["operation"]
    if (operation == "created") != (pull.number in opened):
        yield f"#{pull.number} is said to be {operation}, and these were opened: {opened}"
    if operation in {"created", "updated"} and pull.state != "open":
        yield f"#{pull.number} is said to be {operation}, and is {pull.state}"
    if operation in {"created", "updated"}:
        yield from _described(pull.body or "", each)
    if operation in {"closed", "withdrawn"} and pull.state != "closed":
        yield f"#{pull.number} is said to be {operation}, and is {pull.state}"
    is_written = any(isinstance(entry, Write) for entry in ours)
    is_clear = is_only and told.exit_code == 0
    if operation in {"none", "withdrawn", "closed"} and is_written and is_clear:
        yield f"#{pull.number} is said to be {operation}, and branches were written"


WITH_OPEN = {"opened", "updated", "conflicting", "waiting", "to update", "to close"}
"""The states of repositories that have an open pull request."""


def _true_of_many(host: StandInHost, told: Told) -> Iterator[str]:
    """The log names every pull request that was written to; states and numbers are the host's."""
    if _had_company(host, told) or host.faults.have_lied or host.quirks.lag is not None:
        return
    during = [each for each in host.journal if each.number >= told.began]
    strangers = {each.repository for each in during if each.actor.token != told.token}
    did = defaultdict[tuple[Repository, int], set[str]](set)
    for each in during:
        if each.repository in strangers:
            continue
        if isinstance(each, Write):
            for pull in each.repository.pull_requests:
                is_own = pull.head_repository == each.repository.full_name
                if is_own and pull.head == each.branch and pull.state == "open":
                    did[each.repository, pull.number].add("push")
        elif each.pull_request:
            did[each.repository, each.pull_request].add(each.verb)
    rows = told.report["many"]["rows"]
    failed = {row["repository"] for row in rows if row["state"] == "failed"}
    # At a terminal, the log is there
    for (repository, number), verbs in did.items() if told.stdout else ():
        name = repository.full_name
        # Without an answer, a run does not know the address
        address = name if name in failed else repository.pull_request(number).html_url
        if not re.search(rf"{re.escape(address)}\b", told.stdout):
            yield f"the log does not name {address}, and the run did {verbs}"
    yield from _announced(told, did, has_strangers=bool(strangers))
    yield from _states_of_many(host, told, strangers)


def _states_of_many(host: StandInHost, told: Told, strangers: set[Repository]) -> Iterator[str]:
    names = {each.full_name: each for each in host.repositories if not each.deleted}
    needed = set[str]()
    for row in told.report["many"]["rows"]:
        repository = names.get(row["repository"])
        if repository is None or repository in strangers:
            continue
        pulls = {each.html_url: each for each in repository.pull_requests}
        pull, state = pulls.get(row["pull_request"] or ""), row["state"]
        is_open = pull is not None and pull.state == "open"
        can_merge = pull is not None and is_open and repository.is_mergeable(pull.number)
        is_right = {
            "conflicting": is_open and not can_merge,
            "not named": repository.name == ".github",
            "not writable": repository.archived or repository.read_only,
            "withdrawn": pull is not None and not is_open,
            "closed": pull is not None and not is_open,
            "to open": not is_open,
            "to close": is_open or pull is None,
        }
        if not is_right.get(state, is_open or state not in WITH_OPEN):
            yield f"{repository.full_name} is not {state}: {row}"
        if pull and is_open:
            needed.add(pull.html_url)
    yield from _page_of_many(told, needed, has_strangers=bool(strangers))


def _announced(
    told: Told, did: Mapping[tuple[Repository, int], set[str]], *, has_strangers: bool
) -> Iterator[str]:
    """A run writes in no more repositories than it has announced, and counts descriptions."""
    many = told.report["many"]
    budget = many["budget"]
    if budget is None or told.mode != "register" or has_strangers:
        return
    in_each = defaultdict[Repository, list[set[str]]](list)
    for (repository, _), verbs in did.items():
        in_each[repository].append(verbs)
    opened = sum("open" in verbs for verbs in did.values())
    closed = sum("close" in verbs and "open" not in verbs for verbs in did.values())
    described = sum(verbs == {"edit"} for verbs in did.values())
    changed = sum(
        not any("open" in verbs for verbs in all_verbs)
        and any(verbs != {"edit"} for verbs in all_verbs)
        for all_verbs in in_each.values()
    )
    # What was announced as more may turn out to be less: a refused branch leaves a pull request
    # that is only closed, and a file that is on its branch already only a description
    changes = budget["now"] + budget["updates"] + budget["closes"]
    pairs = {
        "to open": (opened, budget["now"]),
        "to close": (closed, budget["closes"]),
        "to change": (opened + changed, changes),
        "to describe": (opened + changed + described, changes + budget["descriptions"]),
    }
    if wrong := {name: each for name, each in pairs.items() if each[0] > each[1]}:
        yield f"more was done than announced: {wrong}"
    for name in (
        # At a terminal, the log is there
        ("log", "summary")[not told.stdout :]
        if described and told.exit_code not in {ENDED, *CANCELLED}
        else ()
    ):
        if not _says(told.texts[name], "many.described", count=described):
            yield f"the {name} does not say that {described} descriptions were updated"


def _page_of_many(told: Told, needed: Collection[str], *, has_strangers: bool) -> Iterator[str]:
    """Each filter shows as many rows as it says; the open pull requests are those of the host."""
    page = told.kept.get("page", "")
    options = page.partition('<select name="outcome">')[2].partition("</select>")[0]
    said = {name: int(n) for name, n in re.findall(r'value="([a-z ]+)">\D*(\d+)', options)}
    shown = Counter(re.findall(r'data-outcome="(.*?)"', page.partition('id="matrix"')[2]))
    if said != shown:
        yield f"the filters of the page say {said}, and show {shown}"
    yield from filters_of(page)
    if not page or has_strangers or "table" not in told.kept:
        return
    rows = csv.DictReader(io.StringIO(told.kept["table"].removeprefix("\ufeff"), newline=""))
    of_list = {
        (row["repository"], row["list"])
        for row in rows
        if row["standing"] in {"proposed", "unread", "declined"} and row["pull_request"] in needed
    }
    steps = page.partition('<ul class="steps">')[2].partition("</ul>")[0]
    opens = [texts["page.open_today"].partition("{count}") for texts in TEXTS.values()]
    counts = [re.search(rf"{re.escape(before)}(\d+)", steps) for before, _, _ in opens]
    count = sum(int(each[1]) for each in counts if each)
    if count != len(of_list):
        yield f"the page says that {count} pull requests are open, the host has {len(of_list)}"


def filters_of(page: str) -> Iterator[str]:
    """Each number of a page that is a link shows so many rows, and each kind as many as it says."""
    top, _, matrix = page.partition('id="matrix"')
    options = top.partition('<select name="kind">')[2].partition("</select>")[0]
    said = {name: int(n) for name, n in re.findall(r'value="([a-z]+)">\D*(\d+)', options)}
    rows = re.findall(r"<tr (data-.*?)>", matrix)
    data = [dict(re.findall(r'data-(\w+)="(.*?)"', each)) for each in rows]
    kinds = Counter(kind for each in data for kind in each.get("kinds", "").split())
    if said != kinds:
        yield f"the kinds of the page say {said}, and show {kinds}"
    cells = Counter(cell for each in data for cell in enumerate(each["cells"]))
    for link, words in re.findall(r'<a href="#repositories" (data-[^>]*)>(.*?)</a>', top):
        asked = dict(re.findall(r'data-(\w+)="(.*?)"', link))
        path, states, kind = (asked.pop(name, "") for name in ("path", "state", "kind"))
        if states:
            found = sum(cells[int(path), state] for state in states)
        else:
            found = sum(
                all(value.removeprefix("=") == each[name] for name, value in asked.items())
                and (not kind or kind in each.get("kinds", "").split())
                for each in data
            )
        # The number of all stands before or after that of these, by language
        if str(found) not in re.findall(r"\d+", words):
            yield f"{words!r} of the page ({link}) shows {found} rows"


def _described(body: str, each: Any) -> Iterator[str]:
    """The description shows each file that the run has created as added, unless it is too long."""
    added = tuple(texts["state.added"] for texts in TEXTS.values())
    rows = dict(re.findall(r"^\| `([^`|]+)` \| (.*?) \|", body, re.MULTILINE))
    created = {file["path"] for file in each["files"] if file["done"] == "created"}
    for path in created & rows.keys():
        if not rows[path].startswith(added):
            yield f"{path} was created, and the description says {rows[path]}"


# --- Of each world ------------------------------------------------------------------------------


def of_world(host: StandInHost) -> Iterator[str]:
    """Yield the promises that registrar has broken in this world, over all its runs."""
    of_repository = defaultdict[Repository, list[Write | Act]](list)
    for each in host.journal:
        of_repository[each.repository].append(each)
    said = defaultdict[str, list[tuple[Told, Any]]](list)
    for told in RUNS.get(host, ()):
        for each in told.registrations:
            said[each["repository"]].append((told, each))
    for repository, entries in of_repository.items():
        for problem in _History(host, repository, entries, said[repository.full_name]).problems():
            yield f"{repository.full_name}: {problem}"
    yield from _planned(host)


class _Pull(NamedTuple):
    """An open pull request of registrar."""

    of_list: str
    head: str
    base: str
    is_marked: bool = True
    """Whether its description still has the mark, without which runs do not continue it."""

    @property
    def no_counts_for(self) -> tuple[str, str, str]:
        """The values for which a "no" of a person counts: the list, the branch and the base.

        With another name of the list, of the branch or of the base branch, files are proposed anew.
        """
        return self.of_list, re.sub(r"-\d+$", "", self.head), self.base


class _History:
    """The history of one repository so far, while its journal is read from the beginning."""

    def __init__(
        self,
        host: StandInHost,
        repository: Repository,
        entries: Sequence[Write | Act],
        said: Sequence[tuple[Told, Any]],
    ) -> None:
        self.repository = repository
        self.entries = entries
        self.said = said
        """Each run that has reported something about it, with its report."""
        self.names_moved = any(each.deleted or each.former_names for each in host.repositories)
        self.is_misled = host.faults.are_random
        self.unseen = host.quirks.unlisted_pull_requests
        """The pull requests that GitHub does not show, so that none of them declines anything."""
        self.ours = defaultdict[str, set[str]](set)
        """The blobs that registrar has written, by path."""
        self.heads = repository.heads()
        self.open = dict[int, _Pull]()
        self.closed = dict[int, _Pull]()
        self.closed_by_us = set[int]()
        self.nos = defaultdict[tuple[str, str, str], dict[str, int]](dict)
        """The declined paths, each with the number of its pull request."""
        self.unwanted = dict[str, int]()
        """The paths that somebody has taken away or closed so far, with the number of the entry."""
        self.made = set[str]()
        """The branches that runs have made."""
        self.default = repository.default_branch
        self.additions = Counter[str]()
        """How often runs have added a path to a branch."""
        # Back to the beginning
        for each in reversed(entries):
            if isinstance(each, Write):
                self._move(each.branch, each.old)
            else:
                self.default = each.before.get("default_branch", self.default)

    def _move(self, branch: str, commit: str | None) -> None:
        self.heads.pop(branch, None)
        if commit:
            self.heads[branch] = commit

    def problems(self) -> Iterator[str]:
        for each in self.entries:
            if isinstance(each, Write):
                is_ours = each.actor.kind == "registrar"
                changes = self._changes(each)
                if is_ours:
                    yield from self._written(each, changes)
                else:
                    self._pushed(each, changes)
                self._move(each.branch, each.new)
                yield from self._repeats(each.branch) if is_ours else ()
            else:
                yield from self._done(each)
        if not self.is_misled:
            yield from self._invented()
            yield from self._counted_once()
            yield from self._last_words()

    def _runs_at(self, each: Write | Act) -> tuple[list[Told], list[Write | Act], bool]:
        """Return the runs during which something was done, and all that was done during them.

        The last value says whether somebody else than registrar has done any of it.
        """
        runs = [run for run, _ in self.said if run.began <= each.number < run.ended]
        during = [e for e in self.entries if any(r.began <= e.number < r.ended for r in runs)]
        return runs, during, any(e.actor.kind != "registrar" for e in during)

    def _changes(self, each: Write) -> list[Change]:
        """Return the changes of a branch; a new one is compared with the default branch."""
        old = each.old or self.heads.get(self.default)
        return self.repository.changed(old, each.new) if old and each.new else []

    def _written(self, each: Write, changes: Sequence[Change]) -> Iterator[str]:
        bases = {pull.base for pull in self.open.values()}
        if each.branch == self.default or (each.branch in bases and each.old is not None):
            yield f"a run wrote to {each.branch}, a branch into which pull requests are merged"
        if each.new is None:
            yield f"a run deleted the branch {each.branch}"
        known = {pull.head for pull in (*self.open.values(), *self.closed.values())}
        if each.old is None:
            self.made.add(each.branch)
        elif each.branch not in known | self.made and (
            work := self._work_of_others(each.old, self.default)
        ):
            # A branch that has only listed files may be one of ours
            listed = {
                file["path"]
                for run in self._runs_at(each)[0]
                for one in run.registrations
                for file in one["files"]
            }
            if work := [path for path in work if path not in listed]:
                yield f"a run wrote to {each.branch}, which has the work of somebody: {work}"
        if each.old and each.new and not (changes or self.is_misled):
            yield f"a run made the commit {each.new} on {each.branch}, which changes nothing"
        for path, old, new in changes if each.old else ():
            self.additions[path] += old is None
            if old is not None and old not in self.ours[path]:
                did = "deleted" if new is None else "replaced"
                yield f"a run {did} {path} on {each.branch}, which somebody else had written"
            if new is not None:
                self.ours[path].add(new)

    def _pushed(self, each: Write, changes: Sequence[Change]) -> None:
        """Note what a push of somebody else declines, and for what somebody changed their mind."""
        gone = {path for path, old, new in changes if old and not new}
        there = {path for path, _, new in changes if new}
        # A run whose answer is lost cannot tell whose file it is
        self.additions.update(path for path, old, _ in changes if old is None)
        if each.new is None and each.old and (base := self.heads.get(self.default)):
            gone = {path for path, old, _ in self.repository.changed(base, each.old) if not old}
        self.unwanted = dict.fromkeys(gone, each.number) | self.unwanted
        # A merge takes away what the base branch has lost, which declines nothing
        is_merge = bool(each.new) and len(self.repository.commit_at(str(each.new)).parents) > 1
        for number, pull in self.open.items():
            # Without a record, nothing says whose file it was (`limit-record`)
            is_seen = pull.is_marked and number not in self.unseen
            if pull.head == each.branch and not is_merge and is_seen:
                self.nos[pull.no_counts_for] |= dict.fromkeys(
                    (gone - there) & self.ours.keys(), number
                )
        for key, nos in self.nos.items():
            heads = {pull.head for pull in self.open.values() if pull.no_counts_for == key}
            if each.branch in {*heads, key[2]}:
                for path in there & nos.keys():
                    del nos[path]

    def _done(self, each: Act) -> Iterator[str]:
        number, is_ours = each.pull_request or 0, each.actor.kind == "registrar"
        match each.verb:
            case "change":
                self.default = each.after.get("default_branch", self.default)
            case "open" if is_ours:
                yield from self._opened(each, number)
            case "edit" if (
                number in self.open and {"author", "head_repository"} & each.after.keys()
            ):
                # It is theirs from now on
                del self.open[number]
            case "edit" if number in self.open:
                pull = self.open[number]
                base, is_marked = each.after.get("base", pull.base), pull.is_marked
                if "body" in each.after:
                    is_marked = bool(re.search(f"(?m)^{MARKED}", each.after["body"] or ""))
                self.open[number] = pull._replace(base=base, is_marked=is_marked)
            case "close":
                yield from self._needed(each, number) if is_ours else ()
                self._closed(each, number, is_ours=is_ours)
            case "merge":
                self.open.pop(number, None)
            case "reopen" if number in self.closed:
                if is_ours and number not in self.closed_by_us:
                    yield f"a run reopened #{number}, which somebody had closed"
                self.open[number] = self.closed[number]
                for key, nos in self.nos.items():
                    self.nos[key] = {path: of for path, of in nos.items() if of != number}

    def _needed(self, each: Act, number: int) -> Iterator[str]:
        """Yield a pull request that a run closes, although it has somebody's work or adds a file.

        A run may close one that it has opened itself, because somebody was faster.
        """
        self.closed_by_us.add(number)
        runs, during, is_disturbed = self._runs_at(each)
        opened = {e.pull_request for e in during if isinstance(e, Act) and e.verb == "open"}
        if is_disturbed or self.is_misled or number in opened or number not in self.open:
            return
        pull = self.open[number]
        is_needless = any(run.mode == "register" for run in runs)
        if is_needless and (added := self._added(pull)):
            yield f"a run closed #{number} as needless, which adds {sorted(added)}"
        head = self.heads.get(pull.head)
        if head and (work := self._work_of_others(head, pull.base)):
            yield f"a run closed #{number}, which has the work of somebody: {work}"

    def _work_of_others(self, head: str, base: str) -> list[str]:
        """Return the paths that a branch has got from somebody else than registrar."""
        since = self.repository.merge_base(self.heads[base], head)
        brought = self.repository.changed(str(since.id), head) if since else []
        return [path for path, _, new in brought if new and new not in self.ours[path]]

    def _closed(self, each: Act, number: int, *, is_ours: bool) -> None:
        shown = self.repository.pull_request(number)
        is_known = number in self.open
        pull = self.open.pop(number, _Pull("", shown.head, shown.base))
        if not is_ours:
            added = dict.fromkeys(self._added(pull), each.number)
            self.unwanted = added | self.unwanted
            if is_known and number not in self.unseen:
                # Files that somebody else has added are theirs
                proposed = dict.fromkeys(added.keys() & self.ours.keys(), number)
                self.nos[pull.no_counts_for] |= proposed
        if is_known:
            self.closed[number] = pull
        if not is_ours:
            self.closed_by_us.discard(number)

    def _opened(self, each: Act, number: int) -> Iterator[str]:
        after, runs = each.after, self._runs_at(each)[0]
        found = re.search(r"<!-- registrar:list (\w+) -->", after["body"] or "")
        mine = _Pull(found[1] if found else "", after["head"], after["base"])
        # Beside random answers, a known limit (`limit-versions` in docs/concepts.md)
        is_excused = self.is_misled or any(
            run.environ.get("INPUT_BRANCH") and other.began < run.ended and run.began < other.ended
            for run in runs
            for other, _ in self.said
            if other is not run
        )
        for other, pull in {} if is_excused else self.open.items():
            is_same = (mine.of_list, mine.base) == (pull.of_list, pull.base)
            if mine.of_list and is_same and pull.is_marked and self._added(pull):
                yield f"#{number} was opened while #{other} was open for the same list"
        self.open[number] = mine
        yield from self._repeats(mine.head)

    def _repeats(self, branch: str) -> Iterator[str]:
        """Yield the declined paths that an open pull request of this branch proposes again."""
        for number, pull in self.open.items():
            nos = self.nos[pull.no_counts_for]
            if pull.head == branch:
                for path in self._added(pull) & nos.keys():
                    yield f"#{number} proposes {path}, which somebody declined in #{nos[path]}"

    def _added(self, pull: _Pull, *, only_ours: bool = False) -> set[str]:
        """Return the paths that a pull request adds now, perhaps only those with our content."""
        head, base = (self.heads.get(name) for name in (pull.head, pull.base))
        changes = self.repository.changed(base, head) if head and base else []
        return {
            path
            for path, old, new in changes
            if old is None and (not only_ours or new in self.ours[path])
        }

    def _invented(self) -> Iterator[str]:
        """Yield the paths that a run called declined, although nobody had taken them away."""
        for told, each in self.said:
            for file in each["files"]:
                at = self.unwanted.get(file["path"], told.ended)
                if file["standing"] == "declined" and at >= told.ended:
                    yield f"{file['path']} is called declined, and nobody has declined it"

    def _counted_once(self) -> Iterator[str]:
        """Yield the paths that more runs call created than have created them.

        If a name has passed on to another repository, it does not say which one a run has meant.
        """
        if self.names_moved:
            return
        files = (file for _, each in self.said for file in each["files"])
        created = Counter(file["path"] for file in files if file["done"] == "created")
        for path in created - self.additions:
            yield f"{created[path]} runs call {path} created, {self.additions[path]} did that"

    def _last_words(self) -> Iterator[str]:
        """Yield the rows that are wrong in the description that a run was the last to write."""
        last = self.entries[-1]
        runs, _, is_disturbed = self._runs_at(last)
        if isinstance(last, Act):
            numbers = [last.pull_request]
        else:
            numbers = [n for n, pull in self.open.items() if pull.head == last.branch]
        if is_disturbed or not runs or any(run.exit_code for run in runs):
            return
        words = tuple(texts["state.added"] for texts in TEXTS.values())
        # What an earlier value of a property has added stays
        unset = {
            file["path"]
            for run in runs
            for each in run.registrations
            for file in each["files"]
            if file["standing"] == "unset"
        }
        for number in self.open.keys() & numbers:
            pull = self.open[number]
            ours = self._added(pull, only_ours=True)
            # A directory in the place of a listed file counts as proposed
            added = {str(up) for each in self._added(pull) for up in (each, *Path(each).parents)}
            body = self.repository.pull_request(number).body or ""
            for shown, state in re.findall(r"^\| `([^`|]+)` \| (.*?) \|", body, re.MULTILINE):
                path = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), shown)
                if path in unset:
                    continue
                if path not in added if state.startswith(words) else path in ours:
                    yield f"#{number} says of {path} {state!r}, and adds {sorted(added)}"


def _planned(host: StandInHost) -> Iterator[str]:
    """A plan says what the next run does, if nothing has changed between them."""
    for plan, run in pairwise(RUNS.get(host, ())):
        if (plan.mode, run.mode) != ("plan", "register") or plan.ended != run.began:
            continue
        left_out = {"INPUT_MODE", "INPUT_LANGUAGE", "RUNNER_TEMP"}
        inputs = [
            {key: value for key, value in each.environ.items() if key not in left_out}
            for each in (plan, run)
        ]
        if inputs[0] != inputs[1] or plan.exit_code or run.exit_code:
            continue
        done = {_place(each): each for each in run.registrations}
        for each in plan.registrations:
            if after := done.get(_place(each)):
                yield from _did(each, after)


def _place(registration: Any) -> tuple[str, str]:
    return registration["repository"], registration["profile"]


def _did(plan: Any, run: Any) -> Iterator[str]:
    pairs = {"to create": "created", "to update": "updated"}
    done = {file["path"]: file for file in run["files"]}
    for file in plan["files"]:
        after = done.get(file["path"])
        if after is None:
            continue
        said = pairs.get(file["done"], "")
        if said == "created" and (after["done"], after["standing"]) == ("skipped", "proposed"):
            # The branch of an interrupted run has it already
            continue
        if (said or after["done"] in pairs.values()) and said != after["done"]:
            yield f"the plan says of {file['path']} {file['done']}, the run {after['done']}"

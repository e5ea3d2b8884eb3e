"""The notes of a run over many repositories on its lists, after all repositories were read."""

from collections.abc import Iterable, Iterator

from registrar.models.run_result import ManyResult
from registrar.models.spec import FileList
from registrar.texts.messages import Message, msg


def of_rules(result: ManyResult, lists: Iterable[FileList]) -> Iterator[Message]:
    """Yield the number of repositories to which each rule applies, and the notes of the lists."""
    of_list: dict[str, dict[int, int]] = {}
    for (name, number), count in result.rules.items():
        of_list.setdefault(name, {})[number] = count
    rules_of = {each.label: each.rules for each in lists}
    for name, counts in of_list.items():
        parts = [msg("many.rule", number=number, count=n) for number, n in counts.items()]
        yield msg("many.rules", list=name, parts=parts)
        if not_applying := [
            each.described for each in rules_of[name] if counts.get(each.number) == 0
        ]:
            yield msg("many.rules_not_applying", list=name, rules=not_applying)
    if result.replaced:
        replaced = result.replaced.items()
        entries = [
            msg("label.replaced_in", entry=each.shown, count=count) for each, count in replaced
        ]
        yield msg("progress.replaced", entries=entries)
    for unused, count in result.unused_parts.items():
        yield msg("many.counted", note=unused.described, count=count)
    for (path, name), those in result.unset.items():
        skipped = msg("many.unset", path=path, name=name)
        names = [each.link for each in those]
        yield msg("cause.with_repositories", cause=skipped, repositories=names)

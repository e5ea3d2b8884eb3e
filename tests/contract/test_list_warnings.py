"""A run warns of probable mistakes in a list before it writes to any repository."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import TARGET, Action


class Doubt(NamedTuple):
    """A list that earns a warning, and lists like it that do not."""

    earns: str
    words: str
    earn_not: tuple[str, ...]
    where: str


def doubt(earns: str, words: str, *earn_not: str, where: str = "entry 1, line 1") -> Doubt:
    """The warning is about the first entry, unless another place is given."""
    return Doubt(earns, words, earn_not, where)


def entry(**keys: object) -> str:
    """A list of one entry with the path ``a``."""
    given = {key: value for key, value in keys.items() if value is not None}
    return f"- {json.dumps({'path': 'a', **given})}\n"


def when(condition: str) -> str:
    """A list of one rule."""
    return f"rules:\n  - when: {condition}\n    files: [a]\n"


def no_template(placeholder: str) -> str:
    return (
        f"a holds {placeholder}, which is not filled in, because the entry has no `template: true`"
    )


def doubled(found: str, *, template: bool) -> str:
    name = found.strip("{ }")
    if template:
        return f"the template holds {found}, which is not filled in. Write {{{name}}}"
    return f"a holds {found}, which is not filled in. To fill it in, write {{{name}}} and add"


def no_language(name: str) -> str:
    return (
        f"{name} is not among the languages that GitHub recognises, as far as registrar knows, so"
        " the condition may never"
    )


def filled_nowhere(placeholder: str) -> str:
    return f"{placeholder} is filled in only in contents, so the file would have this name"


def on_windows(path: str, reason: str) -> str:
    return f"git on Windows cannot check out the path {path}, because {reason}. Choose another"


TO_THE_LETTER = "is not a pattern: `*`, `?` and `[` become a part of the file's name"
OF_FOLDER = '- {path: "%s", content_file: "folder/", template: true}\n'
OF_FORK = "rules:\n  - when: {fork: true}\n    files: "
LFS = "matches an LFS pattern of"
OTHER = "*.txt filter=other\n"
EXECUTABLE = "tools/run is executable, but the file that is created"


def lfs(attributes: str, path: str, at: str = "") -> str:
    """A list with attributes of git, and a file."""
    return f"- {json.dumps({'path': f'{at}.gitattributes', 'content': attributes})}\n- {path}\n"


def crlf(attributes: str, content: str = "@echo off\r\n") -> str:
    """A list with attributes of git, and a file with these line endings."""
    listed = [
        {"path": ".gitattributes", "content": f"{attributes}\n"},
        {"path": "docs/run.bat", "content": content},
    ]
    return "".join(f"- {json.dumps(each)}\n" for each in listed)


DOUBTS = {
    "a template without content": doubt(
        entry(template=True), "`template` has no effect", entry(template=False)
    ),
    "an alternative that is the path": doubt(
        entry(alternatives=["b", "a"]), "`alternatives` has a itself", entry(alternatives=["b"])
    ),
    **{
        f"a placeholder {placeholder} without `template`": doubt(
            entry(content=f"x {placeholder} y"),
            no_template(placeholder),
            entry(content=f"x {placeholder} y", template=False),
            entry(content=f"x ${placeholder} {{{placeholder}}} y"),
            entry(content="{other} {} {owner"),
        )
        for placeholder in ("{owner}", "{repo}", "{default_branch}", "{property:team}")
    },
    **{
        f"{found} in a template: {template}": doubt(
            entry(content=f"x {found} y", template=template),
            doubled(found, template=bool(template)),
            entry(content=f"x {found} y", template=False),
            entry(content=f"{{{{{found}}}}} {{{{owner}}}} {{{{ other }}}}", template=template),
            entry(content=f"x ${found}", template=False),
        )
        for found in ("{{ owner }}", "{{repo }}", "{{  property:team }}")
        for template in (None, True)
    },
    "a placeholder in a part": doubt(
        '- path: a\n  parts:\n    - content: "{owner}\\n"\n',
        no_template("{owner}"),
        '- path: a\n  parts:\n    - content: "{owner}\\n"\n      template: True\n',
        where="entry 1, line 3",
    ),
    "a placeholder in a file": doubt(
        entry(content_file="owner"),
        no_template("{owner}"),
        entry(content_file="owner", template=True),
    ),
    "a placeholder in a file of a folder": doubt(
        '- {path: "b/", content_file: "folder/"}\n',
        "b/c holds {repo}, which is not filled in",
        OF_FOLDER % "b/",
    ),
    **{
        f"a pattern as a path: {path}": doubt(
            f"- '{path}'\n", f"the path {path} {TO_THE_LETTER}", "- a\n"
        )
        for path in ("docs/*.md", "a?", "[a-z].md")
    },
    "a pattern as an alternative": doubt(
        entry(alternatives=["docs/*"]),
        f"the path docs/* {TO_THE_LETTER}",
        entry(alternatives=["docs/a"]),
    ),
    **{
        f"a placeholder in a path: {placeholder}": doubt(
            entry(path=f"docs/{placeholder}.md"),
            f"the path docs/{placeholder}.md: {filled_nowhere(placeholder)}",
            entry(path="docs/{repository}.md"),
            entry(path="{{ cookiecutter.repo }}/a"),
        )
        for placeholder in (
            *("{repo}", "{owner}", "{default_branch}", "{property:team}", "${repo}", "{{ repo }}"),
        )
    },
    "a placeholder in an alternative": doubt(
        entry(alternatives=["docs/{repo}.md"]),
        f"the path docs/{{repo}}.md: {filled_nowhere('{repo}')}",
    ),
    "a placeholder in the path of a folder": doubt(
        OF_FOLDER % "{owner}/", f"the path {{owner}}/: {filled_nowhere('{owner}')}"
    ),
    "a pattern as the path of a folder": doubt(
        OF_FOLDER % "docs/*/", f"the path docs/*/ {TO_THE_LETTER}"
    ),
    **{
        f"a placeholder in {key}": doubt(
            when(f'{{{key}: "{{repo}}.md"}}'),
            f"the path {{repo}}.md: {filled_nowhere('{repo}')}",
            where="rule 1, line 2",
        )
        for key in ("exists", "missing")
    },
    **{
        f"nothing for Windows: {path}": doubt(
            f"- {json.dumps(path)}\n", on_windows(path, reason), *others
        )
        for path, reason, *others in (
            ("aux.md", "aux is the name of a device there", "- auxiliary.md\n", "- x/a.aux\n"),
            ("docs/NUL", "NUL is the name of a device there", "- nul-x\n"),
            ("Com1 .tar.gz/a", "Com1 is the name of a device there", "- com/com0\n", "- com10\n"),
            ("lpt\u00b9", "lpt\u00b9 is the name of a device there", "- lpt\n"),
            ("conout$.x", "conout$ is the name of a device there", "- conout\n"),
            ("docs/end.", '"end." ends with a dot or a space', "- .end\n", "- a..b\n"),
            ("end /a", '"end " ends with a dot or a space', '- "an end/a"\n'),
            ("base:1809", "it holds :", "- base-1809\n"),
            ('a"b<c>|d', 'it holds "', "- a'b\n"),
        )
    },
    "nothing for Windows in a folder": doubt(
        OF_FOLDER % "aux/", on_windows("aux/", "aux is the name of a device there")
    ),
    **{
        f"a character that nobody sees: {path!a}": doubt(
            f"- {json.dumps(path)}\n",
            f"the path {shown} holds a character that people do not see, or take for an ordinary "
            f"space: U+{ord(found):04X}.",
            f"- {json.dumps(path.replace(found, ' '))}\n",
        )
        for found, path, shown in (
            ("\u00a0", "docs/a\u00a0b.md", "docs/a\u00a0b.md"),
            ("\u200b", "docs/a\u200b.md", "docs/a\\u200b.md"),
            ("\ufeff", "docs/\ufeffa.md", "docs/\\ufeffa.md"),
            ("\u00ad", "docs/a\u00adb.md", "docs/a\\u00adb.md"),
            ("\u202e", "docs/a\u202eb.md", "docs/a\\u202eb.md"),
            ("\u200d", "docs/a\u200db.md", "docs/a\\u200db.md"),
            ("\u200e", "a/\u200eb.md", "a/\\u200eb.md"),
        )
    },
    "a character that nobody sees, in an alternative": doubt(
        entry(alternatives=["docs/\u200bb"]), "the path docs/\\u200bb holds a character"
    ),
    "a character that nobody sees, in a condition": doubt(
        when('{exists: "docs/\u200bb"}'),
        "the path docs/\\u200bb holds a character",
        where="rule 1, line 2",
    ),
    "what joins characters of other scripts": doubt(
        '- "a\\u200db"\n',
        "the path a\\u200db holds",
        *(
            f"- {json.dumps(path)}\n"
            for path in (
                "\U0001f469\u200d\U0001f4bb.md",
                "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.md",
                "\u05d0\u200f.md",
                "\u8cc7\u6599\u3000\u4e00\u89a7.md",
                "caf\u00e9/\u2764\ufe0f.md",
            )
        ),
    ),
    **{
        f"typographic quotes: {path}": doubt(
            f"- {path}\n", f"the path {path} begins or ends with {found}, which becomes a part of"
        )
        for found, path in (
            ("\u201c", "\u201cdocs/a.md\u201d"),
            ("\u2018", "\u2018docs/a.md\u2019"),
            ("\u00bb", "docs/a.md\u00bb"),
        )
    },
    "an apostrophe in a name": doubt(
        "- \u2019a\n", "the path \u2019a begins or ends", "- L\u2019Or\u00e9al/a\u2019s.md\n"
    ),
    "too long for Windows": doubt(
        f"- {'d' * 200}/{'a' * 59}\n",
        "git on Windows cannot check out the path ddd",
        f"- {'d' * 200}/{'a' * 58}\n",
        entry(alternatives=[f"{'d' * 200}/{'a' * 59}"]),
    ),
    "too long for Windows, with a character that no font has": doubt(
        f"- {'d' * 200}/\ue000{'a' * 58}\n", "git on Windows cannot check out the path ddd"
    ),
    **{
        f"a comment that may be a part of the path: {text!r}": doubt(
            text, f"{found} behind the path {path} is a comment of YAML", *others
        )
        for text, path, found, *others in (
            (
                "- docs/issue #12.md\n",
                "docs/issue",
                "#12.md",
                "- docs/issue # 12.md\n",
                "- docs/issue #todo\n",
                "- docs/issue.md #12.md\n",
                "- 'docs/issue' #12.md\n",
                "- LICENSE #see https://example.com/a.md\n",
                "- LICENSE #https://example.com/a.md\n",
                "- 'docs/issue #12.md'\n",
                "- docs/issue#12.md\n",
            ),
            ("- path: docs/C #.md\r\n", "docs/C", "#.md", "- path: docs/C # .md\r\n"),
        )
    },
    **{
        f"another letter case: {text!r}": doubt(
            text, f"{paths} differ in letter case only", earn_not, where=where
        )
        for text, where, paths, earn_not in (
            (
                "- README.md\n- readme.md\n",
                "entry 2, line 2",
                "the paths README.md and readme.md",
                "- README.md\n- readme.txt\n",
            ),
            (
                "- Docs/a\n- docs/b\n- docs/c\n",
                "entry 2, line 2",
                "the paths Docs and docs",
                "- docs/a\n- docs/b/A\n",
            ),
            ("- a\n- A/b\n", "entry 2, line 2", "the paths a and A", "- a\n- b/A\n"),
            (
                f"files: [a]\n{OF_FORK}[b, A]\n",
                "rule 1, entry 2, line 4",
                "the paths a and A",
                f"files: [a]\n{OF_FORK}[a, b]\n",
            ),
            (
                "extends: health\nfiles: [.github/support.md]\n",
                "entry 1, line 2",
                "the paths .github/SUPPORT.md and .github/support.md",
                "extends: health\nfiles: [.github/SUPPORT.md]\n",
            ),
        )
    },
    **{
        f"{pattern} excludes nothing": doubt(
            f"extends: health\nexclude:\n- '{pattern}'\n",
            f"the pattern {pattern} of `exclude` matches nothing",
            where="line 3",
        )
        for pattern in ("**/nothing", ".github", "idea/**")
    },
    "another Unicode form": doubt(
        "- docs/\u30ac\n- docs/\u30ab\u3099\n",
        "the path docs/\u30ab\u3099 is listed in two Unicode forms (NFC and NFD)",
        "- docs/\u30ac\n- docs/\u30ab\n",
        where="entry 2, line 2",
    ),
    **{
        f"a pattern in {key}": doubt(
            when(condition),
            f"{key} compares whole values: in {value}, `*`, `?`, `[` and `|` stand for themselves.",
            when(condition.replace(value, "x")),
            where="rule 1, line 2",
        )
        for key, value, condition in (
            ("property", "*", '{property: {team: "*"}}'),
            ("property", "plat*", '{not: {property: {team: [a, "plat*"]}}}'),
            ("property", "gold|silver", '{property: {tier: "gold|silver"}}'),
            ("exists", "**/go.mod", '{exists: "**/go.mod"}'),
            ("missing", "*.md", '{missing: ["*.md", a]}'),
            ("topic", "api-*", '{topic: "api-*"}'),
            ("topic", "*", '{topic: "*"}'),
        )
    },
    "a placeholder in a property of a condition": doubt(
        when('{property: {team: "{repo}"}}'),
        "property compares with the value as it is written: {repo} is filled in only in contents.",
        when('{property: {team: "{other}"}, name: "svc-?.*_1", topic: [A-1, b2]}'),
        where="rule 1, line 2",
    ),
    "a placeholder in a description": doubt(
        entry(description="The name of {repo}"),
        "`description` holds {repo}, which is filled in only in contents.",
        entry(description="The {name} of this"),
    ),
    "an executable file of an entry": doubt(
        "- {path: a, content_file: tools/run}\n",
        EXECUTABLE,
        "- {path: a, content_file: folder/c, template: true}\n",
    ),
    "an executable file of a part": doubt(
        "- path: a\n  parts:\n    - content_file: tools/run\n",
        EXECUTABLE,
        "- path: a\n  parts:\n    - {content_file: folder/c, template: true}\n",
        where="entry 1, line 3",
    ),
    "an executable file of a folder": doubt(
        "- {path: b/, content_file: tools/}\n", EXECUTABLE, OF_FOLDER % "b/"
    ),
    **{
        f"for LFS: {attributes[:60]!r}": doubt(
            lfs(attributes, path, at),
            f"{path} {LFS} {at}.gitattributes, which the list has too",
            *(lfs(text, path, at) for text in others),
            where="entry 2, line 2",
        )
        for at, path, attributes, *others in (
            (
                "",
                "docs/logo.png",
                "# pictures\n*.png filter=lfs diff=lfs merge=lfs -text\n",
                "# *.png filter=lfs\n*.png -text diff=lfs\n",
                "*.jpg filter=lfs\n",
                "*.png filter=lfs\nlogo.png -filter\n",
                "*.png filter=lfs\n/docs/** !filter\n",
                "*.png filter=lfs\ndocs/*.png filter=other\n",
                "/*.png filter=lfs\nassets/ filter=lfs\n",
                "[attr]lfs filter=lfs\n",
            ),
            ("", "docs/a/logo.PNG", "docs/**/*.[Pp][Nn][Gg] filter=lfs"),
            ("", "docs/a/b", "/docs/** text filter=lfs\n", "docs/* filter=lfs\n"),
            ("", "a-b", '"?-b" filter=lfs\n', "[attr]-b filter=lfs\n"),
            ("docs/", "docs/a/b", "b filter=lfs\n", "docs/a/* filter=lfs\n"),
            # What is more would take too long
            ("", "a.png", f"{OTHER * 299}*.png filter=lfs", f"{OTHER * 300}*.png filter=lfs"),
            ("", "b.png", f"{'*' * 996}.png filter=lfs", f"{'*' * 997}.png filter=lfs"),
        )
    },
    **{
        f"CRLF beside {attributes!r}": doubt(
            crlf(attributes),
            "docs/run.bat has line endings of Windows (CRLF), but by .gitattributes, which the",
            *(crlf(text) for text in others),
            crlf(attributes, "a\nb\rc"),
            where="entry 2, line 2",
        )
        for attributes, *others in (
            # What earns no warning leaves a clone unchanged, as tried with git 2.39
            (
                "* text",
                "* text=auto",
                "* text=auto eol=lf",
                "*.txt text",
                "* text\n*.bat -text",
                "* text\n*.bat binary",
                "* text\n*.bat text=auto",
                "* text\ndocs/** !text",
            ),
            ("* eol=lf", "* -text eol=lf", "* eol=lf\n*.bat !eol", "# * eol=lf"),
            ("*.bat text eol=crlf", "*.bat text=auto eol=crlf"),
            ("* text=auto\n*.bat text", "*.bat text\n* text=auto"),
        )
    },
    **{
        f"content {text!r} of {path}": doubt(
            entry(path=path, content=text),
            f"{path} {words}",
            *(entry(path=other, content=each, template=False) for other, each in others),
        )
        for path, text, words, *others in (
            (
                "logo.png",
                "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
                "would hold a pointer of Git LFS (version https://git-lfs.github.com/spec/v1)",
                ("logo.png", "version 1\n"),
                ("a.md", "It begins with `version https://git-lfs.github.com/spec/v1`.\n"),
            ),
            (
                ".github/ISSUE_TEMPLATE/bug.yml",
                "\ufeffname: Bug\n",
                "begins with a byte order mark (U+FEFF), so its beginning is not recognised.",
                (".github/ISSUE_TEMPLATE/bug.yml", "name: Bug\n"),
                ("data.csv", "\ufeffa;b\n"),
                ("compose.yml", "\ufeff---\na: b\n"),
                ("Program.cs", "\ufeffusing System;\n"),
            ),
            ("docs/a.md", "\ufeff---\ntitle: A\n---\n", "begins with a byte order mark"),
            (
                "run",
                "\ufeff#!/bin/sh\n",
                "begins with a byte order mark",
                ("lib.rs", "\ufeff#![no_std]\n"),
            ),
            (
                "run",
                "#!/bin/sh -e\r\necho\r\n",
                "begins with #!/bin/sh -e, and this line ends as on Windows (CRLF)",
                ("run", "#!/bin/sh -e\necho\r\n"),
                ("run.bat", "@echo off\r\n"),
                ("lib.rs", "#![no_std]\r\n"),
            ),
        )
    },
    **{
        f"braces of another language: {found}": doubt(
            entry(path="a.yml", content=f"a: '{found}'\n", template=True),
            f"the template holds {found}, and filling it in would leave one brace on each side. If",
            entry(path="a.rb", content=f"a {found}\n", template=True),
            entry(path="a.yml", content=f"a: '{found}'\n", template=False),
            entry(path="a.yml", content=f"a: '{{{{{found}}}}}'\n", template=True),
        )
        for found in (
            *(
                "{{ .Values.image }}",
                "{{- .Name -}}",
                "{{ cookiecutter.name }}",
                "{{ .Name | up }}",
            ),
            *("{{- if .Values.on }}", "{{ range .Items }}", '{{ include "a.b" . }}'),
        )
    },
    "double braces that may be meant": doubt(
        entry(path="a.yml", content="a: '{{ .Name }}'\n", template=True),
        "the template holds {{ .Name }}",
        *(
            entry(path="a.yml", content=text, template=True)
            for text in (
                "run: awk '{{ print $1 }}'\n",
                "run: kubectl get -o jsonpath='{{.items[0].metadata.name}}'\n",
                "run: f() {{ if true; then echo; fi; }}\n",
                "script: const {{ data }} = await x\n",
                "a: {{ b: c.d }}\n",
                'a: "{{self.name}} {{name}}"\n',
                "run: echo ${{{{ github.ref }}}}\n",
            )
        ),
    ),
    **{
        f"blank: {path}": doubt(
            entry(path=path, **more),
            f"{path} has no content, and GitHub reports such a file as invalid while it is blank.",
            entry(path=path, may_be_blank=True, **more),
            entry(path=path, content="name: A\n"),
            *(entry(path=each) for each in others),
        )
        for path, more, *others in (
            (
                ".github/workflows/ci.yml",
                {},
                ".github/workflows/README.md",
                "docs/workflows/ci.yml",
            ),
            (".github/workflows/ci.yaml", {"content": " \n"}),
            (".github/dependabot.yml", {}, ".github/release.yml", "dependabot.yml"),
            (
                ".github/ISSUE_TEMPLATE/bug.yml",
                {"content": "{}"},
                ".github/ISSUE_TEMPLATE/config.yml",
                ".github/ISSUE_TEMPLATE/bug.md",
            ),
            (".github/DISCUSSION_TEMPLATE/ideas.yml", {}),
            ("action.yml", {}, "src/action.yml"),
            (".github/actions/a/action.yaml", {}),
        )
    },
    "blank, by its parts": doubt(
        '- path: .github/dependabot.yml\n  parts:\n    - content: "\\n"\n',
        ".github/dependabot.yml has no content",
        '- path: .github/dependabot.yml\n  parts:\n    - content: "version: 2\\n"\n',
    ),
    "CRLF in one of the parts": doubt(
        '- {path: .gitattributes, content: "* text\\n"}\n'
        '- {path: a, content: "b\\n", parts: [{content: "c\\r\\n"}]}\n',
        "a has line endings of Windows (CRLF), but by .gitattributes, which the",
        where="entry 2, line 2",
    ),
    "for LFS, by a rule": doubt(
        f'files: [a.bin]\n{OF_FORK}[{{path: .gitattributes, content: "*.bin filter=lfs"}}]\n',
        f"a.bin {LFS} .gitattributes, which the list has too",
    ),
    "for LFS, though not by a rule": doubt(
        'files:\n- {path: .gitattributes, content: "*.bin filter=lfs"}\n- a.bin\n'
        f"{OF_FORK}[.gitattributes]\n",
        f"a.bin {LFS} .gitattributes, which the list has too",
        where="entry 2, line 3",
    ),
    "for LFS, but for a nearer file": doubt(
        '- {path: .gitattributes, content: "* filter=lfs\\n.* -filter\\n"}\n'
        '- {path: docs/.gitattributes, content: "b -filter"}\n- docs/b\n- docs/c\n',
        f"docs/c {LFS} .gitattributes",
        where="entry 4, line 4",
    ),
    **{
        f"the language {given}": doubt(
            when(f"\n      language: {given}"),
            f"{no_language(name)} hold.{meant}",
            when(good),
            where="rule 1, line 3",
        )
        for given, name, meant, good in (
            (
                "qqzzxx",
                "qqzzxx",
                "",
                "{language: [Go, JAVASCRIPT, c++, 'jupyter notebook', Shell]}",
            ),
            ("[go, Pythn]", "Pythn", " Did you mean `Python`?", "{name: 'Pythn*'}"),
            ("golang", "golang", " Did you mean `Go`?", "{topic: golang}"),
        )
    },
}


@pytest.fixture
def folder(action: Action) -> Action:
    """The workspace has the files that the lists name."""
    action.write("owner", "x {owner}\n")
    action.write("folder/c", "x {repo}\n")
    (action.workspace / action.write("tools/run", "x\n")).chmod(0o755)
    return action


def warnings_of(action: Action, text: str) -> list[str]:
    """The warnings about a list."""
    name = action.write("list.yml", text)
    run = action(definitions=name, mode="validate", language="en", runner=True).or_fail()
    warnings = run.annotations("warning")
    for each in warnings:
        assert each.properties["file"] == name
        assert f"line {each.properties['line']}:" in each.data
    return [each.data for each in warnings]


@pytest.mark.parametrize("doubt", DOUBTS.values(), ids=DOUBTS)
def test_a_doubtful_list_is_warned_of_at_its_place(folder: Action, doubt: Doubt) -> None:
    [warning] = warnings_of(folder, doubt.earns)
    assert warning.startswith(f"list.yml, {doubt.where}: {doubt.words}")
    assert ("Did you mean" in warning) == ("Did you mean" in doubt.words)
    for text in doubt.earn_not:
        assert warnings_of(folder, text) == []


@pytest.mark.parametrize(
    ("content", "template", "expected"),
    [
        ("${{HOME}}/{repo}", True, "${HOME}/example"),
        ("${{user.name}} {{owner}}", True, "${user.name} {owner}"),
        ("${{{{ secrets.X }}}} {owner}", True, "${{ secrets.X }} octo"),
        ("${{ secrets.X }}", False, "${{ secrets.X }}"),
    ],
)
def test_what_a_template_may_hold_stays_right(
    action: Action, repository: Repository, content: str, template: bool, expected: str
) -> None:
    listed = action.write("list.yml", entry(path="new", content=content, template=template))
    run = action(definitions=listed, language="en", commit_strategy="single").or_fail()
    assert "Warning" not in run.text
    [branch] = [each for each in repository.branches if each != "main"]
    assert repository.files(branch)["new"] == expected.encode()


def test_what_is_wrong_is_told_at_once_with_what_may_be(action: Action, host: StandInHost) -> None:
    """In two entries, twice in one text, and warnings beside errors."""
    contents = ("{year}", "${{ x }}", "${{ secrets.A }} {month} {day", "{{ owner }}")
    listed = [
        {"path": path, "content": text, "template": True}
        for path, text in zip("abcd", contents, strict=True)
    ]
    name = action.write("list.json", json.dumps([*listed, "*"]))
    run = action(definitions=name, mode="validate", language="en", host_token="", target_repo="")
    assert (run.exit_code, host.requests) == (2, [])
    found = [
        (matched[1], matched[2])
        for line in run.stderr.splitlines()
        if (matched := re.match(r"(Error|Warning): list\.json, (entry \d).*", line))
    ]
    assert found == [
        ("Warning", "entry 4"),
        ("Warning", "entry 5"),
        ("Error", "entry 1"),
        ("Error", "entry 2"),
        ("Error", "entry 3"),
        ("Error", "entry 3"),
        ("Error", "entry 3"),
    ]
    for word in ("{year}", "{month}", "${{ x }}", "${{ secrets.A }}", "unmatched brace"):
        assert word in run.stderr


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"title": "a {{ repo }}"}, "title holds {{ repo }}, which is not filled in. Write {repo}"),
        ({"body": "{{owner }}"}, "body holds {{owner }}, which is not filled in. Write {owner}"),
        ({"labels": "{{ property:team }}"}, "labels holds {{ property:team }}, which"),
        ({"title": "a {{repo}} {{ other }}", "labels": "[bug], {other}, {{ other }}"}, ""),
        *(
            ({"target_repos": f"octo/*, {entry}"}, f"target_repos: {words}")
            for entry, words in (
                ("-property:tier=bron*", "property compares whole values: in tier=bron*, `*`"),
                ("property:tier=a|b", "property compares whole values: in tier=a|b, `*`"),
                ("-property:tier={owner}", "property compares with the value as it is written"),
                ("language:golang", "golang is not among the languages that GitHub recognises"),
            )
        ),
        ({"target_repos": "octo/*, -property:tier=a-b & c, language:c++, -topic:x"}, ""),
    ],
)
def test_inputs_warn_of_probable_mistakes(
    action: Action, inputs: dict[str, str], words: str
) -> None:
    run = action(inputs, definitions=action.listing("a"), language="en", mode="validate")
    assert run.exit_code == 0
    assert (f"Warning: {words}" in run.stderr) if words else run.stderr == ""


@pytest.mark.parametrize("mode", ["plan", "check", "register"])
@pytest.mark.parametrize("targets", ["", "octo/*"], ids=["one", "many"])
def test_every_mode_warns(action: Action, repository: Repository, mode: str, targets: str) -> None:
    name = action.write("list.yml", entry(content="{owner}"))
    run = action(definitions=name, mode=mode, target_repos=targets, language="en")
    assert f"Warning: list.yml, entry 1, line 1: {no_template('{owner}')}" in run.console


# --- A list alone ---------------------------------------------------------------------------------


def test_a_list_is_validated_without_token_target_and_request(
    action: Action, host: StandInHost
) -> None:
    rules = "rules:\n  - when: {language: go}\n    files: [b, c]\n"
    name = action.write("list.yml", f"files: ['*', a]\n{rules}")
    run = action(definitions=name, mode="validate", language="en", host_token="", target_repo="")
    assert (run.exit_code, host.requests) == (0, [])
    said = "can be used, but has warnings (1), which are probably mistakes. Files: 4. Rules: 1."
    assert run.lines == [f"list.yml {said}"]
    assert "Warning: list.yml, entry 1, line 1: the path * is not a pattern" in run.stderr
    assert run.summary == f"## List\n\n- `list.yml` {said}\n"
    assert run.report == {"version": 1, "exit_code": 0, "errors": [], "registrations": []}


def test_built_in_lists_and_those_for_many_are_valid(action: Action, host: StandInHost) -> None:
    for inputs in ({"profile": "all"}, {"profile": "starter", "target_repos": f"{TARGET}, octo/*"}):
        run = action(inputs, mode="validate", language="en")
        assert (run.exit_code, run.stderr) == (0, "")
    assert host.requests == []


def test_files_that_are_not_missing_lead_to_sections_that_fit(action: Action) -> None:
    environ = action.environment({"definitions": action.listing("a"), "language": "en"})
    unwritable = action.start(environ, "--page", "/nonexistent/x.html")
    assert "#outputs-summary-or-report-are-missing" in unwritable.stderr
    large = action(definitions=action.write("large.yml", "#" * 2_000_001), language="en")
    assert "#definition-files" in large.stderr
    assert (unwritable.exit_code, large.exit_code) == (2, 2)

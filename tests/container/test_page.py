"""The page with the results, in a real browser: its counts, its filters and its requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab

from registrar.models.settings import Mode
from registrar.models.standing import Standing
from registrar.rendering.states import BARS
from registrar.reporting.page import Page
from registrar.reporting.rows import rows_of
from registrar.texts.messages import Catalogue, msg
from tests.container import tools
from tests.values import record

PATHS = ("SECURITY.md", "=cmd()", "</script><script>alert(1)</script>", "a\"b'<i>.md", "x\u202etxt")
STANDINGS = (
    *(Standing.SAME, Standing.BLANK, Standing.TO_CREATE, Standing.PROPOSED),
    *(Standing.DECLINED, Standing.NO_FILE, Standing.DIFFERS),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # In containers tests run as root, and then Chromium does not start with its sandbox
        flags = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
        chromium = playwright.chromium.launch(executable_path=tools.find("chromium"), args=flags)
        yield chromium
        chromium.close()


def written(folder: Path, language: str, repositories: int = 40) -> Path:
    page = Page("2026-11-22T00:00:00+00:00", Mode.PLAN, ("team",))
    for number in range(repositories):
        name = f"octo/{'service' if number % 2 else 'tool'}-{number}"
        standings = {
            path: Standing.SAME if number < 10 else STANDINGS[(number + place) % len(STANDINGS)]
            for place, path in enumerate(PATHS)
        }
        made = record(name, standings, team=f"<b>{number % 4}")
        page.counted.add(made)
        page.add(made, rows_of(made))
    file = folder / f"page-{language}.html"
    file.write_text("".join(page.render(Catalogue(language))), "utf-8")
    return file


@pytest.fixture
def tab(browser: Browser, tmp_path: Path) -> Iterator[Tab]:
    """The opened page. The test fails if the page sends a request or writes to the console."""
    tab = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("dialog", lambda dialog: said.append(dialog.message))
    file = written(tmp_path, "en")
    tab.goto(file.as_uri())
    yield tab
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert said == []
    tab.close()


def names(tab: Tab) -> list[str]:
    return tab.locator("section:visible tbody tr:visible th").all_inner_texts()


def test_it_counts_and_shows_what_is_not_complete(tab: Tab) -> None:
    assert "10 / 40\nRepositories: complete" in tab.locator(".cards").inner_text()
    assert "15 / 40\nRepositories: done" in tab.locator(".cards").inner_text()
    assert len(names(tab)) == 30
    assert tab.locator("#count").inner_text() == "30 of 40 shown"
    assert "Left out" not in tab.locator("main").inner_text()
    assert tab.title() == "octo: scaffold"


def test_hostile_names_stay_text(tab: Tab) -> None:
    shown = tab.locator("main").inner_text()
    for path in PATHS[:-1]:
        assert path in shown
    assert "x\\u202etxt" in shown
    assert "\u202e" not in tab.content()
    assert tab.locator("script").count() == 1
    assert tab.locator("i").count() == 0


def test_a_number_leads_to_so_many_rows(tab: Tab) -> None:
    tab.get_by_role("searchbox", name="Search by name").fill("tool-1")
    links = tab.locator("a[href='#repositories']")
    found = [links.nth(number) for number in range(links.count())]
    assert [each.inner_text() for each in found[:2]] == ["10", "15"]
    assert len(found) > 30
    for each in found:
        each.click()
        assert len(names(tab)) == int(each.inner_text().partition(" ")[0])
        assert tab.locator("#count").inner_text() == f"{len(names(tab))} of 40 shown"
    tab.get_by_role("combobox", name="View").select_option("matrix")
    found[1].click()
    assert len(names(tab)) == 15


def test_search_and_filters_go_together(tab: Tab) -> None:
    tab.get_by_role("searchbox", name="Search by name").fill("TOOL-")
    assert all("tool-" in name for name in names(tab))
    before = len(names(tab))
    tab.get_by_role("combobox", name="State").select_option(label="To create")
    tab.get_by_role("combobox", name="Path").select_option(label=PATHS[2])
    assert 0 < len(names(tab)) < before
    fitting = tab.locator("#list tr:visible li", has_text="To create </script>")
    assert fitting.count() == len(names(tab))
    assert tab.locator("#count").inner_text() == f"{len(names(tab))} of 40 shown"


def test_a_search_also_finds_what_has_nothing_to_look_at(tab: Tab) -> None:
    search = tab.get_by_role("searchbox", name="Search by name")
    search.fill("service-3")
    found = ["octo/service-3", "octo/service-31", "octo/service-33", "octo/service-35"]
    assert {*names(tab)} == {*found, "octo/service-37", "octo/service-39"}
    count = tab.locator("#count")
    assert count.inner_text() == "6 of 40 shown"
    search.fill("o-such-repository")
    assert count.inner_text() == "0 of 40 shown"


def test_present_is_what_is_there_whatever_is_in_it(tab: Tab) -> None:
    tab.get_by_role("combobox", name="State").select_option(label="Present")
    assert len(names(tab)) == 40
    tab.get_by_role("combobox", name="State").select_option(label="Present: Blank")
    assert 0 < len(names(tab)) < 30


def test_the_matrix_has_every_repository_and_path_under_a_head_that_stays(tab: Tab) -> None:
    tab.get_by_role("combobox", name="View").select_option("matrix")
    assert len(names(tab)) == 40
    cells = tab.locator("#matrix tbody td:not(:last-child)")
    assert cells.count() == 40 * len(PATHS)
    letters = set(cells.all_inner_texts())
    assert letters == {"✓", "B", "D", "N", "P", "C", "X"}
    tab.get_by_role("combobox", name="team").select_option("=<b>3")
    assert len(names(tab)) == 10
    assert "<b>3: 2 of 10 complete" in tab.get_by_role("combobox", name="team").inner_text()
    tab.get_by_role("combobox", name="team").select_option("")
    tab.set_viewport_size({"width": 375, "height": 600})
    head = tab.locator("#matrix thead")
    place = "element => element.getBoundingClientRect().top"
    before = head.locator("th").first.evaluate(place)
    tab.locator(".matrix").evaluate("element => { element.scrollTop = 200 }")
    assert head.locator("th").first.evaluate(place) == before
    assert tab.evaluate("document.documentElement.scrollWidth") == 375


def test_a_missing_path_leads_nowhere(tab: Tab) -> None:
    """GitHub has a form for a new file, but it writes to the default branch."""
    missing = tab.locator("#list li", has_text="To create")
    assert missing.count() > 0
    assert missing.locator("a").count() == 0


def opened(
    browser: Browser, folder: Path, made: Mapping[str, Mapping[str, Standing]], width: int = 1280
) -> Tab:
    """Open the page of repositories whose paths are in these states."""
    page = Page("2026-11-22T00:00:00+00:00", Mode.PLAN)
    for name, standings in made.items():
        row = record(name, standings)
        page.counted.add(row)
        page.add(row, rows_of(row))
    file = folder / "page.html"
    file.write_text("".join(page.render(Catalogue("en"))), "utf-8")
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(file.as_uri())
    return tab


@pytest.mark.parametrize("width", [390, 1280])
def test_the_longest_names_leave_it_readable(browser: Browser, tmp_path: Path, width: int) -> None:
    """GitHub allows 39 characters for an owner and 100 for a repository."""
    named = (f"{'o' * 39}/{number:03}{'n' * 97}" for number in range(30))
    made = {name: {"a.md": Standing.TO_CREATE} for name in named}
    tab = opened(browser, tmp_path, made, width)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    heights = tab.locator("#list tbody tr").evaluate_all("those => those.map(r => r.offsetHeight)")
    assert max(heights) < 260
    tab.close()


def test_what_needs_nobody_is_behind_one_click(browser: Browser, tmp_path: Path) -> None:
    standings = {"a": Standing.TO_CREATE, "b": Standing.DIFFERS, "c": Standing.SAME}
    tab = opened(browser, tmp_path, {f"octo/{name}": {"a.md": s} for name, s in standings.items()})
    assert names(tab) == ["octo/a"]
    tab.get_by_role("checkbox").check()
    assert names(tab) == ["octo/a", "octo/b", "octo/c"]
    tab.close()


def test_words_in_backticks_are_code() -> None:
    page = Page("2026-11-22T00:00:00+00:00", Mode.PLAN)
    page.ended_early = [msg("many.next", repositories=["<b>`x`"])]
    rendered = "".join(page.render(Catalogue("en")))
    assert "<code>mode: register</code>" in rendered
    assert "&lt;b&gt;" in rendered


def test_it_sorts(tab: Tab) -> None:
    numbers = tab.locator("#list tbody tr:visible td.number")
    lacking = [int(text) for text in numbers.all_inner_texts()]
    assert lacking == sorted(lacking, reverse=True)
    tab.get_by_role("combobox", name="Sort").select_option("name")
    assert names(tab) == sorted(names(tab))


def test_what_is_sorted_by_a_property_has_a_heading_for_each_value(tab: Tab) -> None:
    tab.get_by_role("combobox", name="Sort").select_option(label="team")
    headings = tab.locator("#list tr.group:visible")
    begins = [text.partition(" of 10 complete")[0] for text in headings.all_inner_texts()]
    assert begins == ["<b>0: 3", "<b>1: 3", "<b>2: 2", "<b>3: 2"]
    tab.get_by_role("combobox", name="team").select_option("=<b>3")
    assert headings.count() == 1
    tab.get_by_role("combobox", name="Sort").select_option("name")
    assert headings.count() == 0


def test_on_a_telephone_it_comes_in_parts(browser: Browser, tmp_path: Path) -> None:
    made = {f"octo/{number:02}": {"a.md": Standing.TO_CREATE} for number in range(45)}
    tab = opened(browser, tmp_path, made, 390)
    more = tab.get_by_role("button")
    for shown, left in ((20, 25), (40, 5)):
        assert (len(names(tab)), more.inner_text()) == (shown, f"… and {left} more")
        assert tab.locator("#count").inner_text() == "45 of 45 shown"
        more.click()
    assert (len(names(tab)), more.is_hidden()) == (45, True)
    tab.close()


def test_the_keyboard_reaches_every_control(tab: Tab) -> None:
    reached = []
    focused = "document.activeElement.name || document.activeElement.tagName"
    for _ in range(16):
        tab.keyboard.press("Tab")
        reached.append(tab.evaluate(focused))
    controls = ("view", "search", "state", "path", "property0", "sort")
    places = [reached.index(name) for name in controls]
    assert places == sorted(places)
    tab.get_by_role("searchbox", name="Search by name").focus()
    tab.keyboard.type("tool-12")
    assert names(tab) == ["octo/tool-12"]


def test_a_screen_reader_is_told_what_is_what(tab: Tab) -> None:
    tree = tab.locator("body").aria_snapshot()
    for words in ('heading "octo: scaffold"', 'combobox "State"', "status:"):
        assert words in tree
    assert tab.locator("html").get_attribute("lang") == "en"


def test_without_scripts_everything_is_there(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(written(tmp_path, "ja").as_uri())
    assert tab.locator("#list tbody tr:visible").count() == 30
    assert tab.locator("#matrix tbody tr").count() == 40
    assert tab.locator("#controls").is_hidden()
    context.close()


@pytest.mark.parametrize("width", [375, 480, 768, 860, 1100, 1300])
def test_it_fits_its_window(browser: Browser, tmp_path: Path, width: int) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(written(tmp_path, "en").as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    heading = "th => th.getBoundingClientRect().height / parseFloat(getComputedStyle(th).fontSize)"
    lines = tab.locator("#by-path + div thead th").evaluate_all(f"those => those.map({heading})")
    assert len(lines) == 10  # a state that no path has gets no column
    assert max(lines) < 7  # three lines of text and the colour
    too_wide = "those => those.map(each => each.scrollWidth - each.clientWidth)"
    assert not any(tab.locator(".scroll:visible").evaluate_all(too_wide))
    edge = "those => those.map(li => li.offsetLeft + li.offsetWidth)"
    edges = tab.locator(".cards li").evaluate_all(edge)
    assert edges[-1] == max(edges)  # the last row has no gap
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_colours_follow_the_reader(browser: Browser, tmp_path: Path, scheme: str) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    tab = context.new_page()
    tab.goto(written(tmp_path, "ja").as_uri())
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(13, 17, 23)" if scheme == "dark" else "rgb(255, 255, 255)")
    colour_of = """name => {
        const key = document.querySelector(".key").cloneNode();
        key.className = `${name} key`;
        document.body.append(key);
        return getComputedStyle(key).backgroundColor;
    }"""
    parts = [*(bar.name for bar in BARS), "failed"]
    colours = {part: tab.evaluate(colour_of, part) for part in parts}
    assert len({*colours.values()}) == len(parts), colours
    context.close()

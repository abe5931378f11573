"""The page of a report in a real browser: Debian's Chromium, headless."""

import json

import pytest

from numerate.report.write import write_report
from tests.browser import Browser
from tests.run_folder import HOSTILE, HOSTILE_FILE, SYSTEMS, make_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("runs") / "demo")
    return write_report(run, compare="paper")


@pytest.fixture(autouse=True)
def no_complaints(browser):
    """Whatever a test does, the console stays empty and only the page itself is loaded."""
    browser.complaints.clear()
    browser.requests.clear()
    yield
    browser.run("1")  # whatever is on its way has come
    assert browser.complaints == []
    assert {url.partition(":")[0] for url in browser.requests} <= {"file"}
    assert len(browser.requests) <= 4


def count(browser, selector):
    return browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")


def read_column(browser, place):
    """The cells of a column of the first table, of the probed systems, from top to bottom."""
    return browser.run(
        "[...document.querySelectorAll('#table-1 tbody.probed tr')]"
        f".map(row => row.cells[{place}].textContent)"
    )


def test_every_figure_is_drawn(browser, page):
    browser.open(page)
    assert browser.run("[...document.querySelectorAll('figure')].map(f => f.dataset.chart)") == [
        "neighbours",
        "scores",
        "number-line",
        "cosines",
        "magnitude",
        "layers",
        "anchors",
        "sweep",
        "curves",
        "baselines",
    ]
    n_systems = len(SYSTEMS)
    assert count(browser, "[data-chart=scores] circle.mark") == 5 * n_systems
    assert count(browser, "[data-chart=neighbours] path.cloud") == n_systems
    assert count(browser, "[data-chart=neighbours] + .scroll tbody tr") == n_systems
    assert count(browser, "[data-chart=number-line] path.cloud") == n_systems
    assert count(browser, "[data-chart=cosines] canvas.mark") == n_systems
    assert count(browser, "[data-chart=magnitude] path.curve") == n_systems
    assert count(browser, "[data-chart=magnitude] path.band") == n_systems
    assert count(browser, "[data-chart=layers] path.curve") == 2 * n_systems
    assert count(browser, "[data-chart=anchors] rect.mark") > 50
    assert count(browser, "[data-chart=anchors] path.ticks") == 2
    assert count(browser, "[data-chart=sweep] path.curve") == 4
    assert count(browser, "[data-chart=curves] path.curve") == 4
    assert count(browser, "[data-chart=baselines] path.curve") == 3
    assert not browser.run("document.body.innerHTML.includes('NaN')")
    assert browser.run(
        "[...document.querySelectorAll('figure svg, figure canvas.mark')]"
        ".every(one => one.getAttribute('aria-label') && one.getBoundingClientRect().height > 100)"
    )
    # The heatmaps are not one colour.
    assert browser.run(
        "new Set(document.querySelector('canvas.mark').getContext('2d')"
        ".getImageData(0, 0, 100, 1).data).size > 20"
    )


def test_a_system_switched_off_disappears_and_comes_back(browser, page):
    browser.open(page)
    rows = "#table-1 tbody tr[data-systems='0']"
    shown = "document.querySelector(" + json.dumps(rows) + ").getBoundingClientRect().height > 0"
    before = browser.run("document.querySelectorAll('figure .mark').length")
    assert browser.run(shown)
    browser.point(".systems button[data-number='0']", press=True)
    assert browser.run("document.querySelector('.systems button').ariaPressed") == "false"
    assert count(browser, "[data-chart=number-line] path.cloud") == len(SYSTEMS) - 1
    assert count(browser, "[data-chart=cosines] canvas.mark") == len(SYSTEMS) - 1
    assert count(browser, "[data-chart=magnitude] path.curve") == len(SYSTEMS) - 1
    assert count(browser, "figure .mark[data-slot='0']:not(rect)") == 0
    assert not browser.run(shown)
    # Trained curves go when all systems of their variant are off, and not before.
    browser.point(".systems button[data-number='1']", press=True)
    assert count(browser, "[data-chart=curves] path.curve") == 4
    browser.point(".systems button[data-number='2']", press=True)
    assert count(browser, "[data-chart=curves] path.curve") == 0
    for number in range(3):
        browser.point(f".systems button[data-number='{number}']", press=True)
    assert browser.run("document.querySelectorAll('figure .mark').length") == before
    assert browser.run(shown)


def test_a_header_sorts_its_table_both_ways_by_mouse_and_keyboard(browser, page):
    browser.open(page)
    head = "#table-1 thead tr:last-child th:nth-child(2)"
    browser.point(f"{head} button", press=True)
    values = [float(text.split()[0]) for text in read_column(browser, 1)]
    assert values == sorted(values)
    assert browser.run(f"document.querySelector('{head}').ariaSort") == "ascending"
    browser.point(f"{head} button", press=True)
    values = [float(text.split()[0]) for text in read_column(browser, 1)]
    assert values == sorted(values, reverse=True)
    assert browser.run(f"document.querySelector('{head}').ariaSort") == "descending"
    # The paper's rows stay below, with the line that says so first.
    assert (
        browser.run("document.querySelector('#table-1').querySelector('tbody.paper tr').className")
        == "kind"
    )
    browser.run("document.querySelector('#table-1 thead tr:last-child th button').focus()")
    browser.press("Enter")
    assert read_column(browser, 0) == sorted(SYSTEMS)


def test_what_training_adds_stays_below_its_twin_and_goes_with_either_system(browser, tmp_path):
    systems = {"base": 4.0, "a (masked)": 1.0, "untrained a (masked)": 2.0}
    browser.open(write_report(make_run(tmp_path / "run", systems=systems)))
    twin = ["untrained a (masked)", "training adds"]
    assert read_column(browser, 0) == ["base", "a (masked)", *twin]
    head = "#table-1 thead tr:last-child th:nth-child(2) button"
    browser.point(head, press=True)
    assert read_column(browser, 0) == ["a (masked)", *twin, "base"]
    browser.point(head, press=True)
    assert read_column(browser, 0) == ["base", *twin, "a (masked)"]
    assert count(browser, "[data-chart=scores] circle.mark.hollow") == 5
    browser.point(".systems button[data-number='1']", press=True)
    assert count(browser, "#table-1 tr.adds.off") == 1


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("[data-chart=scores] svg", "log-rmse"),
        ("[data-chart=number-line] svg", "decoded value"),
        ("[data-chart=neighbours] svg", "one most like it"),
        ("[data-chart=cosines] canvas.mark", "51 and 51: 1"),
        ("[data-chart=magnitude] svg", "ln-anchors (masked): 0."),
        ("[data-chart=anchors] svg", "numerals from"),
        ("[data-chart=curves] svg", "ln-anchors: "),
    ],
)
def test_the_value_under_the_pointer_is_shown(browser, page, target, says):
    browser.open(page)
    assert browser.run("document.getElementById('tip').hidden")
    browser.point(target, x=0.505, y=0.505)
    assert not browser.run("document.getElementById('tip').hidden")
    assert says in browser.run("document.getElementById('tip').textContent")
    browser.point("h1")
    assert browser.run("document.getElementById('tip').hidden")


def test_a_value_that_was_touched_stays_until_the_next_touch(browser, page):
    browser.open(page, width=390)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.tap("[data-chart=magnitude] svg")
    assert "base: 0." in browser.run("document.getElementById('tip').textContent")
    assert not browser.run("document.getElementById('tip').hidden")
    browser.tap("#magnitude-title")
    assert browser.run("document.getElementById('tip').hidden")
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_values_can_be_read_with_the_keyboard_too(browser, page):
    browser.open(page)
    browser.run("document.querySelector('[data-chart=magnitude] svg').focus()")
    browser.press("ArrowRight")
    assert "base: 0." in browser.run("document.getElementById('tip').textContent")


def test_light_and_dark_follow_the_system_and_the_button(browser, page):
    ground = "getComputedStyle(document.body).backgroundColor"
    line = "getComputedStyle(document.querySelector('[data-slot=\"1\"].curve')).stroke"
    browser.open(page)
    light = browser.run(ground), browser.run(line)
    browser.open(page, scheme="dark")
    dark = browser.run(ground), browser.run(line)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    browser.point("#theme", press=True)
    assert (browser.run(ground), browser.run(line)) == light
    browser.point("#theme", press=True)
    assert (browser.run(ground), browser.run(line)) == dark


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_the_page_itself_never_scrolls_sideways(browser, page, width):
    browser.open(page, width=width)
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelector('#table-1 .scroll').scrollWidth") > 300


def test_hostile_names_run_nothing(browser, tmp_path):
    (tmp_path / HOSTILE_FILE).parent.mkdir()  # the name holds a slash
    systems = {"base": 4.0, HOSTILE: 1.0, "<b>bold</b>": 2.0}
    run = make_run(tmp_path / "<i>run", systems=systems, corpus_name=HOSTILE_FILE)
    browser.open(write_report(run, examples="corpus"), width=360)
    assert browser.run("document.images.length + document.querySelectorAll('script').length") == 2
    assert browser.run("document.querySelector('h1').textContent").startswith(HOSTILE)
    assert "<script>alert(1)</script>.txt" in browser.run("document.body.innerText")
    browser.point("[data-chart=scores] svg", y=0.4)
    assert HOSTILE in browser.run("document.getElementById('tip').textContent")
    browser.point(".systems button[data-number='1']", press=True)
    assert browser.run("document.documentElement.scrollWidth") <= 360

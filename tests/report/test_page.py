"""The HTML page: the file, and what a person finds in a browser, by mouse, keyboard and screen reader."""

import json
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from simtmm.errors import OutputError, StudyError
from simtmm.report.page import Table, load_table, page, write_page
from simtmm.study.sweep import sweep
from tests.report.browser import CHROMIUM, Browser, contrast
from tests.study.programs import designed, write

ROWS = [
    {
        "machine": machine,
        "n": n,
        "threads": threads,
        "simulated.seconds": n * 2e-9 * (1 + 64 / threads) * factor,
        "tmm.seconds": n * 1e-9 * factor,
        "simulated.bound": "memory" if threads < 128 else "compute",
    }
    for machine, factor in (("gtx280", 1.0), ("gtx480", 0.5))
    for n in (1024, 4096, 16384, 65536)
    for threads in (32, 64, 128)
]
TABLE = Table.from_rows("Two machines", ROWS, ["machine", "n", "threads"], about={"who": "by hand"})


def data_of(text):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def test_the_page_holds_the_table():
    data = data_of(page(TABLE))
    assert data["columns"]["n"] == [row["n"] for row in ROWS]
    assert data["axes"] == ["machine", "n", "threads"]
    assert data["summary"] == "24 rows, 3 axes, 3 results"
    assert data["about"]["who"] == "by hand"
    assert data["about"]["simtmm"]


def test_the_page_needs_nothing_beside_it():
    text = page(TABLE)
    assert re.findall(r'(?:src|href)="(?!data:,"|#plot")[^"]*"', text) == []
    assert [url for url in re.findall(r"https?://[^\s\"']+", text) if "www.w3.org" not in url] == []
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_words_of_the_data_stay_words():
    bad = "</script><script>alert(1)</script> @SCRIPT@ \u2028 <!--"
    table = Table(f"{bad} & title", {bad: [bad, None], "y": [1, 2]}, [bad], about={bad: bad})
    text = page(table)
    assert data_of(text)["columns"][bad] == [bad, None]
    assert "alert(1)</script>" not in text.replace("&lt;/script&gt;", "")
    assert "<h1>&lt;/script&gt;&lt;script&gt;" in text


def test_what_json_lacks_is_left_out():
    values = data_of(page(Table("t", {"a": [float("nan"), float("inf"), True, None, 1.5]}, [])))["columns"]["a"]
    assert values == [None, None, "yes", None, 1.5]


def test_a_column_is_there_if_any_row_has_it():
    table = Table.from_rows("t", [{"n": 1}, {"n": 2, "seconds": 3.0}], ["n"])
    assert table.columns == {"n": [1, 2], "seconds": [None, 3.0]}


@pytest.mark.parametrize(
    ("columns", "axes", "message"),
    [
        ({"a": [1], "b": [1, 2]}, [], "columns of different lengths"),
        ({"thread": [1]}, ["threads"], "axis 'threads': no such column; did you mean 'thread'"),
        ({"a": range(5_000_001)}, [], "5000001 rows of 1 values are too many"),
    ],
)
def test_a_table_that_can_not_be_is_refused(columns, axes, message):
    with pytest.raises(OutputError, match=message):
        Table("t", columns, axes)


def test_tables_from_files(tmp_path):
    table = pa.table({"number": [0, 1], "n": [1, 2], "status": ["done", "done"], "tmm.cycles": [3.0, 4.0]})
    pyarrow.parquet.write_table(table.replace_schema_metadata({"simtmm": '{"simtmm": "0"}'}), tmp_path / "t.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    for suffix in ("parquet", "csv"):
        made = load_table(tmp_path / f"t.{suffix}")
        assert (made.axes, list(made.columns)) == (["n"], ["n", "status", "tmm.cycles"])
    assert load_table(tmp_path / "t.csv", ["status"]).axes == ["status"]
    assert load_table(tmp_path / "t.parquet").about["simtmm"] == "0"


def test_words_of_another_program_in_a_table_are_left_out(tmp_path):
    table = pa.table({"n": [1, 2]}).replace_schema_metadata({"simtmm": "[" * 5000})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert list(load_table(tmp_path / "t.parquet").about) == ["table"]


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.sqlite", "none.toml", "none.txt"])
def test_a_file_that_is_not_there_or_no_table_is_refused(tmp_path, name):
    with pytest.raises(StudyError, match=f"none.{name.rpartition('.')[2]}"):
        load_table(tmp_path / name)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def shown(chromium, tmp_path):
    """The page of TABLE in a browser. Whatever a test does there, nothing may come on the console."""
    path = tmp_path / "page.html"
    write_page(path, TABLE)
    chromium.errors.clear()
    chromium.dark(False)
    chromium.open(path)
    yield chromium
    assert chromium.errors == []


SAID = "document.getElementById('said').textContent"
MARKS = "document.querySelector('#plot .marks').getAttribute('d').split('M').length - 1"


def number(browser, selector):
    return browser.run(f"document.querySelectorAll({selector!r}).length")


def choose(browser, control, value):
    """As a person chooses it: the browser is told what changed."""
    script = f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('change')); }})"
    browser.run(f"{script}(document.querySelector({control!r}))")


def click(browser, selector):
    browser.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
    x, y = browser.run(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({selector!r}).getBoundingClientRect())"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.mouse(kind, x, y, button="left", clickCount=1)


def box(browser):
    browser.run("document.getElementById('plot').scrollIntoView({block: 'center'})")
    return browser.run(
        "(r => [r.x, r.y, r.width, r.height])(document.querySelector('#plot svg').getBoundingClientRect())"
    )


def ticks(browser):
    return browser.run("[...document.querySelectorAll('#plot text')].map(t => t.textContent)")


def test_a_plot_is_drawn_at_once(shown):
    assert shown.run(SAID) == "lines: simulated.seconds over n, 6 series, 24 marks"
    assert number(shown, "#plot .series") == 6
    assert number(shown, "#plot .line") == 6
    assert shown.run(MARKS) == 4
    assert shown.run("document.getElementById('logx').checked && document.getElementById('logy').checked")
    assert "nothing to draw for this choice" not in ticks(shown)


def test_axes_are_chosen(shown):
    choose(shown, "#x", "threads")
    choose(shown, "#by", "n")
    assert shown.run(SAID) == "lines: simulated.seconds over threads, 8 series, 24 marks"
    choose(shown, "#x", "machine")  # words
    assert {"gtx280", "gtx480"} <= set(ticks(shown))


def test_another_column_is_added(shown):
    click(shown, "#ys input[value='tmm.seconds']")
    assert shown.run(SAID) == "lines: 2 columns over n, 12 series, 48 marks"


def test_rows_are_filtered_in_plot_and_table(shown):
    choose(shown, "select[data-axis=machine]", "gtx480")
    assert shown.run(SAID) == "lines: simulated.seconds over n, 3 series, 12 marks"
    assert number(shown, "#table tbody tr") == 12


def test_log_scales_are_switched(shown):
    assert "10,000" in ticks(shown)
    assert "60,000" not in ticks(shown)
    click(shown, "#logx")
    assert "60,000" in ticks(shown)


def test_the_diagonal_is_drawn_when_asked_for(shown):
    assert number(shown, "#plot .diagonal") == 0
    click(shown, "#diagonal")
    assert number(shown, "#plot .diagonal") == 1


def test_a_heat_map_over_two_axes(shown):
    choose(shown, "#kind", "heat")
    choose(shown, "#up", "threads")
    assert (
        shown.run(SAID) == "heat map: simulated.seconds over n and threads, 12 cells; "
        "with machine = gtx280, one of 2 values (Only where chooses another)"
    )
    assert number(shown, "#plot .cell") == 12
    colours = shown.run("[...document.querySelectorAll('#plot .cell')].map(c => c.getAttribute('fill'))")
    assert len(set(colours)) > 6
    assert shown.run("document.getElementById('ys').closest('fieldset').hidden")


def test_pointing_at_a_mark_reads_it(shown):
    left, top, width, height = box(shown)
    marks = shown.run("document.querySelector('#plot .marks').getAttribute('d')")
    x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", marks).groups())
    shown.mouse("mouseMoved", left + (x + 4) * width / 960, top + y * height / 470)
    assert shown.run("document.getElementById('tip').hidden") is False
    told = shown.run("document.getElementById('tip').textContent").split("\n")
    first = ROWS[0]
    assert told == [
        f"simulated.seconds: {first['simulated.seconds'] * 1e6:.4g} \u00b5s", "n: 1,024", "machine: gtx280",
        "threads: 32", "bound by memory",
    ]  # fmt: skip
    shown.mouse("mouseMoved", 2, 2)
    assert shown.run("document.getElementById('tip').hidden") is True


def test_zoom_by_dragging_by_the_wheel_and_back(shown):
    left, top, width, height = box(shown)
    whole = ticks(shown)
    shown.mouse("mousePressed", left + width * 0.4, top + height * 0.4, button="left", clickCount=1)
    shown.mouse("mouseMoved", left + width * 0.6, top + height * 0.6, button="left", buttons=1)
    assert number(shown, "#plot .box") == 1
    shown.mouse("mouseReleased", left + width * 0.6, top + height * 0.6, button="left", clickCount=1)
    dragged = ticks(shown)
    assert dragged != whole
    assert number(shown, "#plot .box") == 0
    left, top, width, height = box(shown)
    shown.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-200)
    assert ticks(shown) not in (whole, dragged)
    click(shown, "#reset")
    assert ticks(shown) == whole


def test_the_keyboard_reads_marks_and_zooms(shown):
    shown.run("document.getElementById('plot').focus()")
    shown.press("ArrowRight")
    assert shown.run(SAID).startswith("simulated.seconds: 6.144 \u00b5s, n: 1,024, machine: gtx280, threads: 32")
    shown.press("ArrowRight")
    assert "n: 4,096" in shown.run(SAID)
    shown.press("ArrowDown")
    assert "n: 4,096, machine: gtx280, threads: 64" in shown.run(SAID)
    whole = ticks(shown)
    shown.press("+")
    zoomed = ticks(shown)
    shown.press("ArrowRight", shift=True)
    assert len({str(whole), str(zoomed), str(ticks(shown))}) == 3
    shown.press("0")
    assert ticks(shown) == whole


def test_every_control_is_reached_by_tab(shown):
    reached = set()
    shown.run("document.activeElement.blur()")
    for _ in range(60):
        shown.press("Tab")
        reached.add(shown.run("document.activeElement.id || document.activeElement.textContent"))
    assert {
        "theme", "kind", "x", "by", "logx", "logy", "diagonal", "zoom-in", "zoom-out", "reset", "save-svg", "save-csv",
        "plot", "machine = gtx280, threads = 32",
    } <= reached  # fmt: skip


def test_a_series_is_hidden_and_shown_again(shown):
    click(shown, "#legend button")
    assert shown.run("document.querySelector('#legend button').getAttribute('aria-pressed')") == "false"
    assert shown.run(SAID) == "lines: simulated.seconds over n, 5 series, 20 marks"
    shown.press("Enter")  # the button keeps the focus
    assert shown.run(SAID) == "lines: simulated.seconds over n, 6 series, 24 marks"


def test_the_table_is_sorted_by_a_column(shown):
    column = "[...document.querySelectorAll('#table tbody tr')].map(r => r.cells[2].textContent)"
    assert shown.run(column)[:4] == ["32", "64", "128", "32"]
    click(shown, "#table thead th:nth-child(3) button")
    assert shown.run(column) == ["32"] * 8 + ["64"] * 8 + ["128"] * 8
    click(shown, "#table thead th:nth-child(3) button")
    assert shown.run(column)[0] == "128"
    assert shown.run("document.querySelector('#table th:nth-child(3)').getAttribute('aria-sort')") == "descending"


def test_light_and_dark_by_system_and_by_button(shown):
    paper = "getComputedStyle(document.body).backgroundColor"
    light = shown.run(paper)
    shown.dark(True)
    dark = shown.run(paper)
    assert light == "rgb(255, 255, 255)"
    assert dark == "rgb(22, 24, 28)"
    click(shown, "#theme")
    assert shown.run(paper) == light


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_series_stand_out_from_the_paper(shown, dark):
    """WCAG 2.1: a contrast of 4.5 for text (1.4.3), 3 for graphics (1.4.11)."""
    shown.dark(dark)
    variables = "Object.fromEntries(['paper','field','ink','dim','focus','c0','c1','c2','c3','c4','c5','c6','c7'].map("
    variables += "n => [n, getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()]))"
    colours = shown.run(variables)
    for name, least in {"ink": 4.5, "dim": 4.5, "focus": 3, **{f"c{k}": 3 for k in range(8)}}.items():
        for ground in ("paper", "field") if name in ("ink", "dim") else ("paper",):
            assert contrast(colours[name], colours[ground]) >= least, (name, ground)


def test_a_screen_reader_is_told_what_there_is(shown):
    told = shown.accessible()
    for expected in (
        ("heading", "Two machines"),
        ("combobox", "Across"),
        ("combobox", "Colours by"),
        ("checkbox", "logarithmic up"),
        ("checkbox", "simulated.seconds"),
        ("application", "Plot, lines: simulated.seconds over n, 6 series, 24 marks"),
        ("button", "machine = gtx280, threads = 32"),
        ("columnheader", "n"),
    ):
        assert expected in told
    unnamed = [role for role, name in told if role in ("button", "combobox", "checkbox", "link") and not name]
    assert unnamed == []


def test_what_is_saved_is_a_picture_and_the_rows(shown):
    shown.run(
        "window.saved = []; URL.createObjectURL = blob => { window.saved.push(blob); return '#'; };"
        "HTMLAnchorElement.prototype.click = () => {};"
    )
    click(shown, "#save-svg")
    click(shown, "#save-csv")
    picture, rows = shown.run("Promise.all(window.saved.map(blob => blob.text()))")
    assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(--" not in picture
    assert rows.splitlines()[0] == ",".join(ROWS[0])
    assert len(rows.splitlines()) == 25


@pytest.mark.parametrize(
    "table",
    [
        Table("empty", {}, []),
        Table("no rows", {"n": [], "seconds": []}, ["n"]),
        Table("words only", {"a": ["x", "y"], "b": ["u", None]}, ["a"]),
        Table("one row", {"n": [1], "seconds": [0.0]}, ["n"]),
        Table("nothing but results", {"seconds": [1.0, None, 0.0], "cycles": [1, 2, 3]}, []),
        Table("many series", {"k": range(500), "n": [1] * 500, "seconds": range(500)}, ["k", "n"]),
    ],
    ids=lambda table: table.title,
)
def test_odd_tables_are_shown_too(shown, tmp_path, table):
    write_page(tmp_path / "odd.html", table)
    shown.open(tmp_path / "odd.html")
    for kind in ("points", "heat", "lines"):
        choose(shown, "#kind", kind)
    assert shown.run("document.title") == table.title
    for key in ("ArrowRight", "+", "-", "0"):
        shown.run("document.getElementById('plot').focus()")
        shown.press(key)


def test_in_a_narrow_window_words_keep_their_size_and_do_not_overlap(shown):
    try:
        shown.size(400, 900)
        assert shown.run("document.documentElement.scrollWidth") <= 400
        assert shown.run("document.querySelector('#plot svg').getScreenCTM().a") == pytest.approx(1, abs=0.01)
        overlaps = """
            (words => words.some((a, i) => words.slice(i + 1).some(b =>
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)))
            ([...document.querySelectorAll('#plot text')].map(t => t.getBoundingClientRect()))
        """
        assert not shown.run(overlaps)
        assert shown.run(MARKS) == 4
    finally:
        shown.size(1200, 1000)
    assert shown.run("document.querySelector('#plot svg').viewBox.baseVal.width") == 960


def opened(browser, path, table, address=""):
    write_page(path, table)
    browser.open(SimpleNamespace(as_uri=lambda: path.as_uri() + address))
    return browser


def test_the_address_shows_the_same_again(shown, tmp_path):
    choose(shown, "#kind", "points")
    choose(shown, "#x", "threads")
    choose(shown, "#filters select[data-axis=machine]", "gtx480")
    click(shown, "thead button")
    told, rows = shown.run(SAID), shown.run("document.getElementById('table').textContent")
    again = opened(shown, tmp_path / "again.html", TABLE, shown.run("location.hash"))
    assert again.run(SAID) == told
    assert again.run("document.getElementById('table').textContent") == rows
    odd = opened(shown, tmp_path / "odd.html", TABLE, "#kind=cake&x=none&view=1,2&where=machine%3Dnone&y=k")
    assert odd.run(SAID).startswith("lines: simulated.seconds over n")


def test_up_and_down_go_to_the_mark_above_and_below(shown):
    choose(shown, "select[data-axis=threads]", "64")
    shown.run("document.getElementById('plot').focus()")
    shown.press("ArrowRight")
    # The slower is above
    for key, machine in (("ArrowDown", "gtx480"), ("ArrowDown", "gtx480"), ("ArrowUp", "gtx280")):
        shown.press(key)
        assert f"machine: {machine}" in shown.run(SAID)


def test_related_series_have_one_colour_and_a_dash_each_in_the_legend(shown):
    click(shown, "#ys label:nth-child(2) input")
    lines = "[...document.querySelectorAll('#plot .line')].map(line => line.getAttribute('{}'))"
    colours, dashes = (shown.run(lines.format(name)) for name in ("stroke", "stroke-dasharray"))
    assert (len(colours), len(set(colours)), len(set(dashes))) == (12, 2, 4)  # columns; machines by threads
    assert number(shown, "#legend path[stroke-dasharray]") == 12
    click(shown, "#ys label:nth-child(2) input")
    colours, dashes = (shown.run(lines.format(name)) for name in ("stroke", "stroke-dasharray"))
    assert (len(colours), len(set(colours)), len(set(dashes))) == (6, 2, 3)  # machines; threads


def test_a_large_map_has_labels_that_do_not_overlap_and_crosses_where_there_is_nothing(shown, tmp_path):
    rows = [{"a": a, "b": b, "c": c, "y.cycles": a * b * c + 0.5} for a in range(50) for b in range(50) for c in (1, 2)]
    large = opened(shown, tmp_path / "large.html", Table.from_rows("Large", rows[:-2], ["a", "b", "c"]))
    choose(large, "#kind", "heat")
    assert "with c = 1, one of 2 values" in large.run(SAID)  # and no mean of both
    assert "1 crossed out: there is no value" in large.run(SAID)
    assert number(large, "#plot .blank") == 1
    overlaps = """(boxes => boxes.some((a, i) => boxes.slice(i + 1).some(
        b => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2)))(
        [...document.querySelectorAll('#plot text')].map(t => t.getBoundingClientRect()))"""
    assert not large.run(overlaps)


TIMES = {  # of two programs by n and threads: one wins, the other does, both take the same, one alone has a time
    (1, 32): (1.0, 3.0), (2, 32): (2.0, 1.0), (1, 64): (1.5, 1.5), (2, 64): (1.0, None),
}  # fmt: skip


def test_a_winner_map_over_two_axes_is_that_of_the_times(shown, tmp_path):
    rows = [
        {"machine": machine, "program": program, "n": n, "threads": threads, "simulated.cycles": time, "issued": 3}
        for machine in ("gtx280", "gtx480")
        for (n, threads), times in TIMES.items()
        for program, time in zip(("scan", "reduce"), times, strict=True)
    ]
    axes = ["machine", "program", "n", "threads"]
    page = opened(shown, tmp_path / "winners.html", Table.from_rows("Two programs", rows, axes))
    choose(page, "#kind", "winners")
    choose(page, "#x", "n")
    choose(page, "#up", "threads")
    assert (
        page.run(SAID) == "winner map: who is fastest by simulated.cycles over n and threads, 3 cells; "
        "with machine = gtx280, one of 2 values (Only where chooses another); "
        "1 striped: several take the same time; 1 crossed out: fewer than two programs have a time"
    )
    colours = page.run("[...document.querySelectorAll('#plot .cell')].map(c => c.getAttribute('fill'))")
    reduce, scan = "var(--c0)", "var(--c1)"
    assert sorted(colours) == [reduce, reduce, scan, scan]  # one each, and both where they are equal
    legend = page.run("[...document.querySelectorAll('#legend li')].map(item => item.textContent.trim())")
    assert legend == ["reduce: fastest in 1", "scan: fastest in 1"]
    page.run("document.getElementById('plot').focus()")
    page.press("ArrowRight")
    assert page.run(SAID).startswith("scan is fastest, scan: 1, reduce: 3, n: 1, threads: 32")
    choose(page, "#value", "issued")  # is no time, and so is not taken
    assert page.run("document.getElementById('value').value") == "simulated.cycles"
    choose(page, "#kind", "lines")
    assert page.run("document.querySelector('#value').closest('label').hidden")


def test_a_table_of_one_program_has_no_winner_map(shown):
    assert number(shown, "#kind option") == 3


def test_reasons_stand_behind_the_numbers_and_numbers_are_whole(shown, tmp_path):
    reason = "a block of 1024 threads does not fit: " * 8
    rows = [
        {"n": 1, "status": "done", "reason": "", "y.cycles": 123456.789},
        {"n": 2, "status": "skipped", "reason": reason},
    ]
    page = opened(shown, tmp_path / "reasons.html", Table.from_rows("Reasons", rows, ["n"]))
    heads = page.run("[...document.querySelectorAll('thead button')].map(b => b.textContent)")
    assert heads == ["n", "status", "y.cycles (cycles)", "reason"]
    assert "123,456.789" in page.run("document.getElementById('table').textContent")
    right = "(r => r.right)(document.querySelector('thead th:nth-child(3)').getBoundingClientRect())"
    assert page.run(right) < page.run("innerWidth")


def test_a_study_has_its_answers_on_the_page(shown, tmp_path):
    axes = {"memory.latency": [100, 200, 400, 800, 1600], "resources.shared_memory": [64, 1024]}
    study = sweep(designed(write(tmp_path), axes=axes, compute=["simulated", "tmm"]), workers=1)
    page = opened(shown, tmp_path / "study.html", Table.from_study(study))
    heads = page.run("[...document.querySelectorAll('#answers h3')].map(h => h.textContent)")
    assert {"Skipped", "Fastest [cycles]", "Elasticity of time: per cent for one per cent more"} <= set(heads)
    assert any(head.startswith("Form of the curves") for head in heads)

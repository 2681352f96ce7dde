"""`simtmm paper reproduce`, with reproductions that are made up."""

import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from simtmm.__main__ import main
from simtmm.validation import cases as reproductions
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.snapshot import keep

needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib")

ERROR = 0.1  # of each simulated value here


def table(name, count=4, error=ERROR):
    points = tuple(
        Measured(f"n = {at}", 10.0 * at, {"simulated": 10.0 * at * (1 + error), "tmm": 5.0 * at}, float(at))
        for at in range(1, count + 1)
    )
    return Accuracy(
        name, f"About {name}", "time", "us", points, "nothing", "a table", "gtx280", "n", {"simulated": 0.2}
    )


made_up = {"streams": (table("stream-a"), table("stream-b")), "lists": (table("list", 3),)}


def reproduce_streams(watch=None):
    return made_up["streams"]


def reproduce_lists(watch=None):
    if watch is not None:
        watch("points", 3, 3)
    return made_up["lists"]


def sample_lists(watch=None):
    return tuple(replace(table, points=table.points[:1]) for table in made_up["lists"])


def interrupted(watch=None):
    raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """Two reproductions in the place of the real ones; what they give can be changed."""
    names = {"streams": f"{__name__}:reproduce_streams", "lists": f"{__name__}:reproduce_lists"}
    monkeypatch.setattr("simtmm.validation.cases.REPRODUCTIONS", names)
    monkeypatch.setattr("simtmm.validation.snapshot.REPRODUCTIONS", names)
    for name, tables in list(made_up.items()):
        monkeypatch.setitem(made_up, name, tables)
    return names


@pytest.fixture(autouse=True)
def quick_pictures(monkeypatch):
    """Empty pictures: what is drawn is tested elsewhere, and takes a while."""
    if find_spec("matplotlib") is not None:
        from simtmm.report.pictures.style import new_figure

        monkeypatch.setattr("simtmm.report.pictures.accuracy.picture", lambda table: new_figure(0.5, 0.5))


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in a folder that holds a folder `docs`: status, output, errors."""
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", "reproduce", *words, *(["-j", "1"] if "-j" not in words else [])])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


def contents():
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def change(name, **others):
    """Let a table of the reproduction come out otherwise."""
    made_up[name] = (replace(made_up[name][0], **others), *made_up[name][1:])


def test_it_prints_the_errors_of_every_table_and_writes_nothing(command):
    status, out, err = command()
    assert (status, err) == (0, "")
    assert [line.split(":")[0] for line in out.splitlines() if ": About" in line] == ["stream-a", "stream-b", "list"]
    assert out.count("10.0 %") >= 3
    assert contents() == {}


def test_names_choose(command):
    _, out, _ = command("lists")
    assert "list: About list" in out
    assert "stream-a" not in out


def test_reproductions_and_figures_are_listed_with_reasons(command):
    status, out, err = command("--list")
    assert (status, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[1:3] == ["streams", "lists"]
    assert "ma-fig-4.1         Speedup of the dynamic program" in lines
    assert "ma-fig-3.1         a drawing, without numbers" in lines
    document = json.loads(command("--list", "--json")[1])
    assert document["tables"] == ["streams", "lists"]
    assert {"name": "ma-fig-6.1", "title": "f_sched over blocks"} in document["figures"]


def test_a_figure_is_printed_and_written_with_an_index(command):
    status, out, _ = command("ma-fig-6.1")
    assert status == 0
    assert "fitted: nothing" in out
    assert "list: About" not in out
    if find_spec("matplotlib") is not None:
        assert command("ma-fig-6.1", "-o", "new")[0] == 0
        assert sorted(contents()) == ["new/figures/ma-fig-6.1." + kind for kind in ("csv", "json", "png")] + [
            "new/index.md"
        ]


def test_all_makes_tables_and_figures(command, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("simtmm.validation.figures.drawable_names", lambda: ("ma-fig-6.1", "ma-fig-4.9"))
    assert command("all", "-o", "new")[0] == 0
    page = Path("new/index.md").read_text()
    assert "[accuracy.md](accuracy.md)" in page
    assert page.index("## ma-fig-4.9") < page.index("## ma-fig-6.1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ma-fig-3.1"], "ma-fig-3.1: is not reproduced: a drawing"),
        (["ma-fig-6.1", "--check"], "--check: compares tables"),
        (["ma-fig-6.1", "-o", "no/such"], "no/such: can't be written"),
        (["ma-fig-6.2", "nothing"], "reproduction 'nothing': unknown"),
    ],
)
def test_what_is_wrong_of_figures_is_one_line(command, words, said):
    status, _, err = command(*words)
    assert status == 2
    assert said in err
    assert err.count("\n") == 1


def test_json_is_one_document_with_points_and_errors(command):
    status, out, _ = command("lists", "--json")
    (document,) = json.loads(out)["tables"]
    assert status == 0
    assert [point["measured"] for point in document["points"]] == [10, 20, 30]
    assert document["errors"]["simulated"]["mean"] == pytest.approx(ERROR)


@needs_matplotlib
def test_a_folder_gets_page_data_and_pictures(command):
    assert command("-o", "docs")[0] == 0
    names = [
        f"docs/accuracy/{name}.{kind}" for name in ("list", "stream-a", "stream-b") for kind in ("csv", "json", "png")
    ]
    assert sorted(contents()) == sorted([*names, "docs/accuracy.md"])
    headings = [line for line in Path("docs/accuracy.md").read_text().splitlines() if line.startswith("## ")]
    assert headings == ["## All tables", "## About stream-a", "## About stream-b", "## About list"]


@needs_matplotlib
def test_written_again_nothing_changes(command):
    command("-o", "docs")
    before = contents()
    command("-o", "docs")
    assert contents() == before


@needs_matplotlib
def test_what_is_not_chosen_stays_as_it_is(command):
    command("-o", "docs")
    before = contents()
    made_up["streams"] = ()  # would be lost if it were run
    change("lists", title="About other lists")
    command("lists", "-o", "docs")
    after = contents()
    changed = {path for path in before if after[path] != before[path]}
    assert after.keys() == before.keys()
    assert changed == {"docs/accuracy.md", "docs/accuracy/list.json", "docs/accuracy/list.png"}
    headings = [line for line in Path("docs/accuracy.md").read_text().splitlines() if line.startswith("## ")]
    assert headings == ["## All tables", "## About stream-a", "## About stream-b", "## About other lists"]


@needs_matplotlib
def test_a_table_that_is_no_longer_made_goes(command):
    command("-o", "docs")
    made_up["streams"] = made_up["streams"][:1]
    command("streams", "-o", "docs")
    assert not list(Path("docs/accuracy").glob("stream-b.*"))
    assert "stream-b" not in Path("docs/accuracy.md").read_text()
    assert command("--check")[0] == 0


@needs_matplotlib
def test_what_was_written_is_as_computed(command):
    command("-o", "docs")
    before = contents()
    status, out, err = command("--check")
    assert (status, err) == (0, "")
    assert out == "recomputed 11 points of 3 tables equal those in docs, and none is worse than promised\n"
    assert contents() == before


@needs_matplotlib
def test_a_stale_figure_is_reported_and_nothing_is_written(command):
    command("-o", "docs")
    before = contents()
    made_up["lists"] = (table("list", 3, error=0.11),)
    status, out, _ = command("--check")
    assert status == 1
    assert out.splitlines() == [
        "list: n = 1: simulated: 11 is stored, 11.1 is computed",
        "list: n = 2: simulated: 22 is stored, 22.2 is computed",
        "list: n = 3: simulated: 33 is stored, 33.3 is computed",
        "3 differences between docs and recomputed 11 points of 3 tables",
    ]
    assert contents() == before
    assert command("streams", "--check")[0] == 0


@needs_matplotlib
def test_a_figure_worse_than_promised_is_reported(command):
    made_up["lists"] = (table("list", 3, error=0.3),)
    command("-o", "docs")
    status, out, _ = command("--check")
    assert status == 1
    assert out.splitlines()[0] == "list: simulated: mean error 30.00%, promised at most 20.00%"


@needs_matplotlib
def test_check_gives_its_findings_as_json_too(command):
    command("-o", "docs")
    made_up["lists"] = (table("list", 3, error=0.3),)
    status, out, _ = command("--check", "--json")
    document = json.loads(out)
    assert status == 1
    assert len(document["differences"]) == 4
    assert len(document["tables"]) == 3


@needs_matplotlib
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("docs/accuracy.md", "docs/accuracy.md: does not follow from docs/accuracy/*.json"),
        ("docs/accuracy/list.csv", "docs/accuracy/list.csv: does not follow from list.json"),
        ("docs/accuracy/list.png", "docs/accuracy/list.png: is not the picture of list.json"),
    ],
)
def test_a_file_that_was_changed_or_lost_is_reported(command, path, told):
    command("-o", "docs")
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[: len(content) // 100])
    status, out, _ = command("--check")
    assert (status, out.splitlines()[0]) == (1, told)
    Path(path).unlink()
    status, out, _ = command("--check")
    assert (status, out.splitlines()[0]) == (1, told)


@needs_matplotlib
def test_errors_that_were_made_smaller_by_hand_are_reported(command):
    command("-o", "docs")
    path = Path("docs/accuracy/list.json")
    document = json.loads(path.read_text())
    document["errors"]["simulated"]["mean"] = 0.01
    path.write_text(json.dumps(document))
    status, out, _ = command("--check")
    assert (status, out.splitlines()[0]) == (1, f"{path}: errors: do not follow from its points")


@needs_matplotlib
def test_a_file_of_no_table_is_reported(command):
    command("-o", "docs")
    Path("docs/accuracy/old.png").write_bytes(b"")
    status, out, _ = command("--check")
    assert (status, out.splitlines()[0]) == (1, "docs/accuracy/old.png: belongs to no table")


@needs_matplotlib
def test_an_interrupted_run_keeps_what_is_done_and_the_next_goes_on(command, names, monkeypatch, caplog):
    command("-o", "docs")
    before = contents()
    calls = []
    monkeypatch.setattr(f"{__name__}.reproduce_streams", lambda watch=None: (calls.append(1), made_up["streams"])[1])
    right, names["lists"] = names["lists"], f"{__name__}:interrupted"
    status, _, err = command("-o", "docs")
    assert (status, err) == (130, "simtmm: interrupted\n")
    left = contents()
    assert json.loads(left.pop("docs/.reproduce-unfinished.json"))["done"] == ["streams"]
    assert left == before
    names["lists"] = right
    status, out, _ = command("-o", "docs")
    assert (status, calls) == (0, [1])  # not made again
    assert "continuing an interrupted call: 1 done" in caplog.text
    assert "stream-a" in out
    assert contents() == before
    command("-o", "docs")
    assert calls == [1, 1]  # a call that ended well is done anew


@needs_matplotlib
@pytest.mark.parametrize("change", ["names", "code", "damage"])
def test_what_was_ended_does_not_stand_for_anything_else(command, names, monkeypatch, caplog, change):
    names["lists"] = f"{__name__}:interrupted"
    assert command("-o", "docs")[0] == 130
    names["lists"] = f"{__name__}:reproduce_lists"
    unfinished = Path("docs/.reproduce-unfinished.json")
    if change == "code":
        monkeypatch.setattr("simtmm.report.papers.reproducing._made_by", lambda: "another")
    if change == "damage":
        unfinished.write_text("[]")
    calls = []
    monkeypatch.setattr(f"{__name__}.reproduce_streams", lambda watch=None: (calls.append(1), made_up["streams"])[1])
    status, _, err = command(*(["streams"] if change == "names" else []), "-o", "docs")
    if change == "damage":
        assert (status, calls) == (2, [])
        assert "remove it" in err
    else:
        assert (status, calls) == (0, [1])
        assert "starting over" in caplog.text
        assert not unfinished.exists()


@needs_matplotlib
def test_figures_are_written_one_by_one_and_go_on(command, monkeypatch):
    from simtmm.validation import figures as papers
    from simtmm.validation.figures.figure import Figure

    made = []

    def call(maker):
        if maker == "algorithms:tables" and len(made) == 1:
            raise KeyboardInterrupt
        made.append(maker)
        return tuple(
            Figure(name, name, "", "", "", columns=("a",), rows=((1.0,),)) for name, item in papers.ITEMS.items()
            if item.makes == maker
        )  # fmt: skip

    monkeypatch.setattr(papers, "_call", call)
    names = ["ma-fig-4.9", "ma-table-4.1"]
    assert command(*names, "-o", "out")[0] == 130
    assert Path("out/figures/ma-fig-4.9.csv").exists()
    assert "ma-fig-4.9" in Path("out/index.md").read_text()
    made.append("so that it goes on")
    assert command(*names, "-o", "out")[0] == 0
    assert made == ["algorithms:suffixes", "so that it goes on", "algorithms:tables"]
    assert sorted(path.name for path in Path("out/figures").glob("*.json")) == ["ma-fig-4.9.json", "ma-table-4.1.json"]
    assert not Path("out/.reproduce-unfinished.json").exists()


@needs_matplotlib
def test_an_interrupted_write_loses_nothing(command, monkeypatch):
    command("-o", "docs")
    before = contents()
    made_up["lists"] = (table("list", 3, error=0.15),)
    written = Path.write_bytes
    left = [3]

    def some(path, content):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return written(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", some)
        assert command("-o", "docs")[0] == 130
    assert left == [0]
    assert contents() == before  # and nothing half-written beside it


@needs_matplotlib
def test_several_processes_give_the_same(command):
    alone, several = (command("--json", "-j", number) for number in "12")
    assert several == alone
    assert alone[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stream",), "reproduction 'stream': unknown; did you mean 'streams'?"),
        (("lists", "xyz", "--list"), "reproduction 'xyz': unknown; known: lists, streams"),
        (("-o", "nowhere"), "nowhere/accuracy.md: can't be written (there is no folder nowhere)"),
        (("--check",), "docs/accuracy: holds no tables; `simtmm paper reproduce -o docs` writes them"),
        (
            ("--check", "-o", "nowhere"),
            "nowhere/accuracy: holds no tables; `simtmm paper reproduce -o nowhere` writes them",
        ),
        (("-j", "0"), "workers = 0: must be at least 1"),
        (("--bogus",), "--bogus"),
    ],
)
def test_wrong_words_are_refused_in_one_line(command, names, words, message):
    names.update(dict.fromkeys(names, f"{__name__}:no_such_function"))  # refused before anything is run
    if "nowhere" in words and "--check" not in words and find_spec("matplotlib") is None:
        pytest.skip("needs matplotlib")
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert contents() == {}


@needs_matplotlib
def test_damaged_data_is_refused_before_anything_is_run(command, names):
    command("-o", "docs")
    Path("docs/accuracy/list.json").write_text('{"name": "list"')
    before = contents()
    names.update(dict.fromkeys(names, f"{__name__}:no_such_function"))
    for words in (("-o", "docs"), ("--check",)):
        status, out, err = command(*words)
        assert (status, out) == (2, "")
        assert "docs/accuracy/list.json: no table of `simtmm paper reproduce`" in err
    assert contents() == before


def test_without_matplotlib_no_folder_is_written(command, monkeypatch, names):
    names.update(dict.fromkeys(names, f"{__name__}:no_such_function"))
    monkeypatch.setattr("simtmm.report.pictures.style.find_spec", lambda name: None)
    status, _, err = command("-o", "docs")
    assert status == 2
    assert "pictures need matplotlib" in err
    assert contents() == {}


def test_a_sample_gives_the_same_tables_with_fewer_points():
    (sampled,) = reproductions.sample("lists")
    assert sampled.points == made_up["lists"][0].points[:1]
    assert keep({"lists": (sampled,)})[0].accuracy.name == "list"


def test_help_tells_exit_statuses(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "Exit status: 0 done; 1, with --check, a figure in FOLDER is stale" in " ".join(out.split())

"""Mistakes that are easily made on the command line: each is one line with what is allowed, and nothing is written."""

import json

import pytest

WORKLOAD = {"blocks": [{"warps": [[["compute", 4], ["load", [0, 1]]]]}]}
CUDA = "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }"
FILES = ["s.cu", "w.json"]


@pytest.fixture
def command(called, monkeypatch, tmp_path):
    """The command in a folder of a workload and a file of CUDA."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    (tmp_path / "s.cu").write_text(CUDA)
    return called


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sweep", "stream", "--vary", "threads=32,x"), "axis threads = 'x': must be a whole number from 1 to 1024"),
        (("sweep", "stream", "--vary", "threads=32,6.5"), "axis threads = 6.5: must be a whole number from 1 to 1024"),
        (("sweep", "stream", "copy", "--vary", "threads=32,x"), "axis threads = 'x': must be a whole number from 1 to"),
        (("sweep", "stream", "--vary", "memory.latency=9,x"), "axis memory.latency = 'x': must be a number"),
        (("sweep", "stream", "--vary", "cores.groups=9,x"), "axis cores.groups = 'x': must be a whole number"),
        (("sweep", "merge", "--kind", "algorithm", "--vary", "n=9,x"), "axis n = 'x': must be a number"),
        (("explain", "w.json", "-o", "x.docx"), "-o x.docx: must end in .json, .html or .csv"),
        (("run", "w.json", "-o", "x.HTML"), "-o x.HTML: must end in .json, .html or .csv"),
        (("run", "w.json", "--html", "x.csv"), "--html x.csv: must end in .html"),
        (("run", "w.json", "--timeline", "t.xyz"), "--timeline t.xyz: must end in .json or .json.gz"),
        (("run", "w.json", "--timeline", "t.gz"), "--timeline t.gz: must end in .json or .json.gz"),
        (("run", "w.json", "--engine", "turbo"), "engine 'turbo': unknown; known: auto, fast, reference"),
        (("run", "stream", "--engine", "quick"), "engine 'quick': unknown; known: auto, fast, reference"),
        (("run", "w.json", "-m", "rtx4080"), "machine 'rtx4080': unknown; did you mean 'rtx-4080'? "),
        (
            ("run", "w.json", "--start", "hot"),
            "Invalid value for '--start': 'hot' is not one of 'warm', 'cold', 'kept'.",
        ),
        (("explian", "s.cu"), "No such command 'explian'. (see simtmm --help; did you mean 'explain'?)"),
        (("run", "t.cu", "--grid", "1", "--block", "1"), "t.cu: no such file; did you mean 's.cu'?"),
        (("run", "gone.cu", "--grid", "1", "--block", "1"), "gone.cu: no such file\n"),
        (("record", "s.cu", "--grid", "1", "--block", "1", "-o", "t.txt"), "-o t.txt: a trace must end in .parquet"),
        (
            ("sweep", "threads", "s.cu"),
            "s.cu: needs its launches: simtmm run, diff, record and record measure have --grid,",
        ),
        (
            ("run", "w.json", "-m", "gtx480", "--set", "memory.l2=40"),
            "machine GeForce GTX 480: memory.l2 = 40: must be a table of keys, or with --set a size, as "
            "memory.l2=40MiB",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_refused_in_one_line(command, tmp_path, words, said):
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: {said}"), err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_a_folder_is_no_file_of_device_code(command, tmp_path):
    (tmp_path / "d.cu").mkdir()
    words = "run", "d.cu", "--grid", "1", "--block", "1"
    assert command(*words) == (2, "", "simtmm: error: d.cu: is a folder\n")


def test_an_unknown_machine_can_be_made(command):
    assert command("run", "w.json", "-m", "rtx4080")[2].endswith(
        "did you mean 'rtx-4080'? `simtmm machines new` makes one from a data sheet\n"
    )


def test_unknown_figures_bring_all_that_are_drawn(command):
    status, _, err = command("paper", "reproduce", "fig-99")
    assert status == 2
    assert err.startswith("simtmm: error: reproduction 'fig-99': unknown; known: ablation, barrel, ")
    assert "; figures: ma-fig-1.1, ma-fig-4.1, " in err
    assert err.count("\n") == 1


def test_what_is_out_of_range_alone_is_skipped(command):
    status, out, _ = command("sweep", "stream", "--vary", "threads=32,4096", "--dry-run", "-j", 1)
    assert status == 0
    assert "1 excluded" in out


@pytest.mark.parametrize("name", ["/dev/null", "plain"])
def test_a_file_without_a_suffix_is_no_mistake(command, name):
    assert command("run", "--lines", "w.json", "--no-what-if", "-o", name)[0] == 0
    assert command("run", "w.json", "--no-what-if", "--timeline", name)[0] == 0


def test_an_option_of_launches_says_where_launches_stand(called):
    status, out, err = called("tune", "x.cu", "--grid", "4")
    assert (status, out) == (2, "")
    assert err == (
        "simtmm: error: No such option: --grid (describe a .cu file's launches in a file (.toml); only run, "
        "diff and record have this option)\n"
    )

"""`simtmm diff --baseline`: a gate for continuous integration."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from simtmm.analysis.gate import Timed, compared, new_baseline
from simtmm.provenance import VERSION
from simtmm.report.gate import gate_markdown
from tests.pages.examples import commands, files

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
GATE = ("diff", "--baseline", "perf.json", "kernels.toml")
KERNELS = """machine = "gtx280"
[short]
source = "work/w.json"
[long]
source = "work/w.json"
set = { memory.latency = 2000 }
"""


def workload(computes):
    return json.dumps({"blocks": [{"warps": [[["compute", computes], ["load", [0, 1]]] * 5]}] * 8})


@pytest.fixture
def command(called, monkeypatch, tmp_path):
    """The command in a folder of two kernels' table and their workload."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "w.json").write_text(workload(4))
    (tmp_path / "kernels.toml").write_text(KERNELS)
    return called


@pytest.fixture
def baseline(command, tmp_path):
    """The file of a first run."""
    assert command(*GATE)[0] == 0
    return tmp_path / "perf.json"


def test_the_first_run_writes_the_baseline(command, tmp_path):
    status, out, _ = command(*GATE)
    assert status == 0
    assert out.startswith("perf.json is written: the simulated time of 2 kernels. Commit it.\n")
    document = json.loads((tmp_path / "perf.json").read_text())
    assert (document["schema"], document["version"]) == ("simtmm-baseline", 1)
    assert document["provenance"]["simtmm"] == VERSION
    short, long = document["kernels"]["short"], document["kernels"]["long"]
    assert 0 < short["seconds"] < long["seconds"]
    assert [short[key] for key in ("machine", "cause", "line")] == ["GeForce GTX 280", "too few blocks", "load"]
    assert long["words"] == {"source": "work/w.json", "set.memory.latency": "2000", "machine": "gtx280"}


def test_what_did_not_change_is_the_same_to_the_byte(command, baseline):
    written = baseline.read_bytes()
    status, out, _ = command(*GATE, "--json")
    found = json.loads(out)
    assert status == 0
    assert [(row["name"], row["change"]) for row in found["kernels"]] == [("short", 0), ("long", 0)]
    assert (found["failed"], found["notes"], found["written"]) == ([], [], False)
    assert found["words"] == "None of 2 kernels grew by more than 5 % in simulated time."
    command(*GATE)
    assert baseline.read_bytes() == written
    command(*GATE, "--update")
    assert json.loads(baseline.read_text())["kernels"] == json.loads(written)["kernels"]


def test_what_grew_ends_with_status_1(command, baseline, tmp_path):
    written = baseline.read_bytes()
    (tmp_path / "work" / "w.json").write_text(workload(400))
    status, out, _ = command(*GATE)
    assert status == 1
    first, *_, header, short, long = out.splitlines()
    assert first == "2 of 2 kernels grew by more than 5 % in simulated time."
    assert header.split() == ["kernel", "before", "after", "change", "cause"]
    (cause,) = re.fullmatch(r"short on GeForce GTX 280 +[\d.]+ us +[\d.]+ us +\+[\d.]+ % +(.*)", short).groups()
    assert re.match(r"too few blocks, behind that [\w ]+ at compute", cause)
    assert long.startswith("long on GeForce GTX 280 (memory.latency = 2000)")
    assert command(*GATE, "--fail-above", "10000%")[0] == 0
    assert baseline.read_bytes() == written
    assert command(*GATE, "--update")[0] == 0
    assert command(*GATE)[0] == 0


def timed(cause, line="k.cu:3 (x)", behind=""):
    return Timed("A100", "digest", 1e-3, 1000.0, cause, line, (), {}, behind)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (timed("atomics"), timed("atomics"), "atomics at k.cu:3 (x)"),
        (
            timed("too few blocks", behind="memory latency"),
            timed("too few blocks", "k.cu:7", "L2 bandwidth"),
            "too few blocks, behind that L2 bandwidth at k.cu:7 (was too few blocks, behind that memory latency at "
            "k.cu:3 (x))",
        ),
        (timed("launches", ""), timed("launches", ""), "launches"),
    ],
)
def test_a_cause_that_no_line_has_a_part_in_is_told_with_what_lies_behind_it(before, after, words):
    found = compared(new_baseline({"k": before}), {"k": after}, 0.05)
    assert gate_markdown(found).splitlines()[-1].split(" | ")[-1].rstrip(" |") == words.replace("_", "\\_")


def test_a_baseline_without_what_lies_behind_is_read_as_before(command, baseline):
    document = json.loads(baseline.read_text())
    for kernel in document["kernels"].values():
        del kernel["behind"]
    baseline.write_text(json.dumps(document))
    assert command(*GATE)[0] == 0


def test_what_shrank_is_no_failure(command, baseline, tmp_path):
    (tmp_path / "work" / "w.json").write_text(workload(1))
    status, out, _ = command(*GATE, "--fail-above", "0")
    assert status == 0
    assert "-" in out.splitlines()[-1].partition("us")[2]


def test_new_and_vanished_kernels_are_told_and_do_not_fail(command, baseline, tmp_path):
    (tmp_path / "kernels.toml").write_text(KERNELS.replace("[short]", "[new]"))
    status, out, _ = command(*GATE)
    assert status == 0
    assert out.startswith("The kernel did not grow by more than 5 %")
    assert "Note: new: is not in the baseline, so it was not compared: --update adds it.\n" in out
    assert "Note: short: is only in the baseline: the file of kernels no longer has it.\n" in out


def test_a_changed_table_and_machine_are_noted(command, baseline, tmp_path):
    document = json.loads(baseline.read_text())
    document["kernels"]["short"]["machine_digest"] = "0" * 16
    document["kernels"]["short"]["compiled_by"] = ["CUDA 12.4, machine code"]
    baseline.write_text(json.dumps(document))
    (tmp_path / "kernels.toml").write_text(KERNELS.replace("2000", "2001"))
    status, out, _ = command(*GATE, "--json")
    assert status == 0
    assert json.loads(out)["notes"] == [
        "short: its machine, GeForce GTX 280, changed since the baseline.",
        "short: compiled by CUDA 12.4, machine code in the baseline, by nothing now.",
        "long: its table changed since the baseline: set.memory.latency was 2000, is 2001.",
    ]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("simtmm", "0.0.1", f"simtmm 0.0.1 wrote the baseline, and this is {VERSION}"),
        ("code", "0" * 16, f"Another build of simtmm {VERSION} wrote the baseline"),
    ],
)
def test_another_simtmm_is_noted(command, baseline, key, value, said):
    document = json.loads(baseline.read_text())
    document["provenance"][key] = value
    baseline.write_text(json.dumps(document))
    status, out, _ = command(*GATE)
    assert status == 0
    assert f"Note: {said}: its rules may have differed.\n" in out


def test_paths_are_relative_to_the_file(command, baseline, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert command("diff", "--baseline", "../perf.json", "../kernels.toml")[0] == 0


def test_the_document_is_written_beside_markdown(command, baseline, tmp_path):
    status, out, _ = command(*GATE, "--markdown", "-o", "d.json")
    assert status == 0
    assert out.splitlines()[2:4] == ["| kernel | before | after | change | cause |", "|---|--:|--:|--:|---|"]
    assert json.loads((tmp_path / "d.json").read_text())["baseline"] == "perf.json"


def timed(cycles, seconds=None, **changes):
    values = {"machine": "m", "machine_digest": "", "cause": "issue", "line": "", "compiled_by": (), "words": {}}
    return Timed(**{**values, "seconds": seconds, "cycles": cycles, **changes})


@pytest.mark.parametrize(
    ("before", "after", "change", "failed"),
    [
        (timed(100), timed(110), 0.1, False),  # by as much as is allowed
        (timed(100), timed(110.001), 0.10001, True),
        (timed(3, 3e-9), timed(3.3, 3.3e-9), 0.1, False),
        (timed(100, 1e-7), timed(90, 2e-7), 1, True),  # a slower clock
        (timed(100, 1e-7), timed(90), -0.1, False),  # no clock any more: cycles
        (timed(0), timed(0), 0, False),
        (timed(0), timed(1), float("inf"), True),
    ],
)
def test_it_fails_above_the_part_and_not_at_it(before, after, change, failed):
    (row,) = compared(new_baseline({"k": before}), {"k": after}, 0.1).rows
    assert row.change == pytest.approx(change)
    assert row.failed == failed


def test_names_are_no_markdown():
    found = compared(new_baseline({"a|b": timed(1)}), {"a|b": timed(2, line="`x`\n<b>", cause="tail")}, 0.1)
    row = r"| a\|b | 1 cycles | 2 cycles | **+100.00 %** | tail at \`x\` \<b\> (was issue) |"
    assert gate_markdown(found).splitlines()[4] == row


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have a table for each kernel, such as [saxpy]"),
        ("machine = 3", "machine = 3: must be a machine's name or file"),
        ("source = 'x.cu'", "source = 'x.cu': must be a kernel's table, or machine"),
        ("[a", "is not TOML ("),
        ("[a]\nsource = 'gemm'", "a.machine: is missing: must be a machine's name (see `simtmm machines`) or file"),
        ("[a]\nmachine = 'v100'", "a.source: is missing: must be a kernel's name, or a file"),
        ("[a]\nsource = 3", "a.source = 3: must be a kernel's name, or a file"),
        ("[a]\nsorce = 'x'", "a.sorce: unknown key; did you mean 'source'?"),
        ("[a]\nsource = 'gem'\nmachine = 'v100'", "a.source = 'gem': unknown kernel: neither shipped nor in a folder"),
        ("[a]\nsource = 'x.py'", "a.source = 'x.py': must be a trace: simtmm record x.py -o x.parquet"),
        ("[a]\nsource = 'x.cu'", "a.source = 'x.cu': no such file: x.cu"),
        ("[a]\nsource = 'x.json'", "a.source = 'x.json': no such file: x.json"),
        ("[a]\nsource = 's.cu'", "a.grid: is missing: must be one to three sizes, such as 64 or '64x64'"),
        ("[a]\nsource = 's.cu'\ngrid = 0\nblock = 1", "a.grid = 0: must be one to three sizes of at least 1"),
        ("[a]\nsource = 's.cu'\ngrid = 1\nblock = 1\nshared = -1", "a.shared = -1: must be a whole number of bytes"),
        ("[a]\nsource = 's.cu'\ngrid = 1\nblock = 1\nargs = 'n'", "a.args = 'n': must be a table, or a list"),
        ("[a]\nsource = 's.cu'\ngrid = 1\nblock = 1\nargs = [[1]]", "a.args.0 = [1]: must be a number or a text"),
        ("[a]\nsource = 's.cu'\ngrid = 1\nblock = 1\ncompile = 'x'", "a.compile = 'x': must be a list of texts"),
        (
            "[a]\nsource = 'gemm'\ngrid = 1",
            "a.grid: is for a file of device code (.cu, .ptx, .cubin, .fatbin), not",
        ),
        ("[a]\nsource = 'gemm'\nas = 'x'", "a.as = 'x': must be one of written, compiled, ptx"),
        ("[a]\nsource = 'gemm'\nparams = 3", "a.params = 3: must be a table"),
        ("[a]\nsource = 'gemm'\nparams = { n = true }", "a.params.n = True: must be a number or a text"),
        ("[a]\nsource = 'gemm'\nmachine = 'gtx28'", "a: machine 'gtx28': unknown; did you mean"),
        ("[a]\nsource = 'gemm'\nmachine = 'no.toml'", "a: no.toml: can't be read (No such file or directory)"),
        ("[a]\nsource = 'gemm'\nmachine = 'v100'\nstart = 'hot'", "a: start = 'hot': must be one of warm, cold, kept"),
        ("[a]\nsource = 'gemm'\nmachine = 'v100'\nset = { x = 1 }", "a: machine V100: x: unknown key"),
        (
            "[a]\nsource = 'work/w.json'\nmachine = 'v100'\nparams = { n = 1 }",
            "a: work/w.json: parameters (n) can only",
        ),
        ("[a]\nsource = 'gemm'\nmachine = 'v100'\nparams = { q = 1 }", "a: kernel gemm: parameter 'q': unknown"),
    ],
)
def test_a_wrong_file_of_kernels_is_told_in_one_line(command, tmp_path, text, said):
    (tmp_path / "s.cu").write_text("")
    (tmp_path / "kernels.toml").write_text(text)
    status, out, err = command(*GATE)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: kernels.toml: {said}"), err
    assert err.count("\n") == 1
    assert not (tmp_path / "perf.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--fail-above", "10"),
            "--fail-above '10': must be a percentage, such as 10%, or a fraction from 0 to 1, such as 0.1",
        ),
        (("--fail-above", "nan%"), "--fail-above 'nan%': must be a percentage"),
        (("--fail-above", "-1%"), "--fail-above '-1%': must be a percentage"),
        (("b.json",), "B = b.json: can't be combined with --baseline: kernels.toml says how to run each kernel"),
        (("-m", "v100"), "--machine: can't be combined with --baseline"),
        (("--set-b", "a=1"), "--set-b: can't be combined with --baseline"),
        (("--markdown", "--json"), "--markdown: can't be combined with --json"),
        (("-o", "perf.json"), "-o perf.json: is the baseline: name another file"),
        (("--baseline", "perf.txt"), "--baseline perf.txt: must end in .json"),
        (("--baseline", "no/perf.json"), "no/perf.json: can't be written (there is no folder no)"),
        (("--baseline", "work/w.json"), "work/w.json: schema = None: must be 'simtmm-baseline'"),
        (("--baseline", "work/w.json", "--update"), "work/w.json: schema = None: must be 'simtmm-baseline'"),
    ],
)
def test_wrong_words_are_told_in_one_line(command, tmp_path, words, said):
    status, out, err = command(*GATE, *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: {said}"), err
    assert err.count("\n") == 1
    assert not (tmp_path / "perf.json").exists()
    assert (tmp_path / "work" / "w.json").read_text() == workload(4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kernels.toml",), "B: is missing: compare kernels.toml with another run, or with a file (--baseline FILE"),
        (("a", "b", "--update"), "--update: needs --baseline FILE"),
        (("a", "b", "--fail-above", "5%"), "--fail-above: needs --baseline FILE"),
        (("a", "b", "--markdown"), "--markdown: needs --baseline FILE"),
        (("work/w.json", "--baseline", "p.json"), "work/w.json: must be a file of kernels (.toml) with --baseline"),
    ],
)
def test_what_belongs_together_is_asked_for(command, words, said):
    status, out, err = command("diff", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: {said}"), err


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (("version",), 2, "version = 2: must be 1: rewrite it with --update"),
        (("version",), True, "version = True: must be 1"),
        (("kernels",), [], "kernels = []: must be an object"),
        (("provenance", "simtmm"), 1, "provenance.simtmm = 1: must be a text"),
        (("kernels", "short"), 1, "kernels.short = 1: must be an object"),
        (("kernels", "short", "seconds"), "x", "kernels.short.seconds = 'x': must be a number of at least 0 or null"),
        (("kernels", "short", "cycles"), -1, "kernels.short.cycles = -1: must be a number of at least 0"),
        (("kernels", "short", "cause"), None, "kernels.short.cause = None: must be a text"),
        (("kernels", "short", "compiled_by"), "x", "kernels.short.compiled_by = 'x': must be a list of texts"),
        (("kernels", "short", "words", "grid"), 1, "kernels.short.words.grid = 1: must be a text"),
    ],
)
def test_a_damaged_baseline_is_told_in_one_line_and_stays(command, baseline, keys, value, said):
    document = json.loads(baseline.read_text())
    *parents, last = keys
    table = document
    for parent in parents:
        table = table[parent]
    table[last] = value
    baseline.write_text(json.dumps(document))
    status, out, err = command(*GATE)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: perf.json: {said}"), err
    assert json.loads(baseline.read_text()) == document
    assert command(*GATE, "--update")[0] == 0


@pytest.mark.skipif(find_spec("nvidia.cu13") is None, reason="CUDA's compilers are not installed")
def test_the_page_can_be_followed(called, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name, text in files(PAGE).items():
        (tmp_path / name).write_text(text)
    first, second, difference, *_ = commands(PAGE)
    for example in (first, second, difference):
        status, out, _ = called(*example.words)
        assert status == 0
        assert out.startswith(example.shown.removesuffix("...\n\n").removesuffix("...\n"))
    (tmp_path / "slower.cu").replace(tmp_path / "saxpy.cu")
    status, out, _ = called(*second.words, "--markdown")
    assert status == 1
    assert out == re.search(r"```markdown\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]

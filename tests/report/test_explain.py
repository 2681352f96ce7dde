"""`simtmm run --lines`: the source with what each line takes, arrays, launches and reasons; and as documents."""

import csv
import json
import os
import re
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from simtmm import load_machine, load_workload, run, simulate
from simtmm.cli import app
from simtmm.cli.commands import run as command_of_run
from simtmm.errors import EngineError
from simtmm.report.explain import explained, text
from simtmm.stalls import COUNTS, REASONS, Place, Places, Reason, Stalls

WORKLOAD = {"blocks": [{"warps": [[["compute", 3], ["load", [0, 1]], ["barrier"]], [["shared", 4], ["barrier"]]]}]}


def command(*words):
    return CliRunner().invoke(app(), ["run", "--lines", *words])


def shown(done):
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD), encoding="utf-8")
    return tmp_path


def test_the_source_is_shown_with_what_each_line_takes():
    out = shown(command("gemm", "-m", "h100-sxm", "--no-what-if"))
    assert out.startswith("gemm (n=32, side=16, sum=memory, seed=0) on H100 SXM, from a warm L2\n")
    assert "kernel.cu\n" in out
    (hot,) = [line for line in out.splitlines() if line.startswith("17 ")]
    assert "float x = LD_ASYNC(a, i * n + k)" in hot
    assert "line in flight" in hot
    (next_to_it,) = [line for line in out.splitlines() if line.startswith("16 ")]
    assert "%" not in next_to_it  # what does nothing is context


def test_the_hottest_lines_alone():
    out = shown(command("gemm", "-m", "h100-sxm", "--top", "2", "--no-what-if"))
    rows = [line for line in out.splitlines() if line.startswith("kernel.cu:")]
    assert "The hottest 2 of " in out
    assert len(rows) == 2
    assert rows[0].startswith("kernel.cu:17 ")


def test_instructions_stand_below_their_line():
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    words = ("gemm", "-m", "h100-sxm", "--as", "compiled", "--no-what-if")
    assert "LDG.E" not in shown(command(*words))
    out = shown(command(*words, "--instructions"))
    lines = out.splitlines()
    (first,) = [number for number, line in enumerate(lines) if line.startswith("17 ")]
    assert "LDG.E" in lines[first + 1]


def test_each_instruction_of_a_line_stands_there_once_with_all_of_its_ticks():
    places = Places(
        (
            Place("load", "k.cu", 3, "x", instruction="LDG.E"), Place("load", "k.cu", 4, "y", instruction="LDG.E.64"),
            Place("load", "k.cu", 3, "x", instruction="LDG.E"), Place("work", "k.cu", 3, "x"),
            Place("store", "k.cu", 3, "x", instruction="STG.E"),
        )
    )  # fmt: skip
    ticks = np.zeros((6, len(REASONS)), np.int64)
    ticks[:, Reason.ISSUING], ticks[:, Reason.L2_LATENCY] = (10, 20, 5, 5, 20, 0), (10, 0, 5, 15, 5, 5)
    stalls = Stalls(ticks, np.zeros((6, len(COUNTS)), np.int64), ticks[:1], places, ticks[:1], np.zeros(1, np.int64))
    rows = list(text._Instructions(stalls).rows(SimpleNamespace(place=Place("load", "k.cu", 3))))
    assert [(row[1], row[-1].strip()) for row in rows] == [("30 %", "LDG.E"), ("25 %", "STG.E")]


@pytest.mark.parametrize(("form", "code", "load"), [("compiled", "sass", "LDG.E"), ("ptx", "ptx", "ld.global")])
def test_code_stands_below_its_line_with_the_times_that_warps_did_it(form, code, load):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    words = ("gemm", "-m", "h100-sxm", "--as", form, "--no-what-if", "--top", "1")
    first, *below = shown(command(*words, f"--{code}")).splitlines()[5:]
    assert first.startswith("kernel.cu:17 ")
    assert below[0].strip() == code.upper()
    loads = [line for line in below if load in line]
    assert any(re.search(r"\d %.*\d times, (line in flight|memory latency) \d", line) for line in loads)
    shares = [float(line.split("%")[0]) for line in below if "%" in line.split("times")[0]]
    assert sum(shares) == pytest.approx(float(first.split("%")[0].split()[1]), abs=0.5 * len(shares))


@pytest.mark.parametrize("words", [("gemm", "--sass"), ("gemm", "--ptx")])
def test_code_that_a_trace_lacks_is_refused(words):
    refused = command(*words, "--no-what-if")
    assert "has no " in str(refused.exception)
    assert "--as compiled" in str(refused.exception)


def test_a_trace_has_the_lines_that_its_events_come_from():
    out = shown(command("--no-what-if"))
    assert "A trace has only the source lines" in out
    assert "Node next = LD(before, successor);" in out


def test_a_workload_has_operations(here):
    out = shown(command("w.json", "-m", "ideal", "--no-what-if"))
    assert "Operations\n" in out
    assert {line.split()[0] for line in out.splitlines()[5:]} == {"load", "barrier", "compute", "shared"}


@pytest.mark.parametrize("by", ["array", "launch", "reason"])
def test_the_same_put_together_in_other_ways(by):
    out = shown(command("list-ranking-wyllie", "--by", by, "--no-what-if", "--param", "n=256"))
    words = {"array": ["nodes", "jumped"], "launch": ["jump"], "reason": ["memory latency", "long_scoreboard"]}
    assert all(word in out for word in words[by])
    percents = [int(line.split(" %")[0].split()[-1]) for line in out.splitlines()[3:] if " %  " in line]
    assert 90 <= sum(percents) <= 101


def test_arrays_of_a_workload_are_not_known(here):
    assert "only a trace names them" in shown(command("w.json", "-m", "ideal", "--by", "array"))


def test_documents_have_the_rows(here):
    words = ("list-ranking-wyllie", "-m", "gtx480", "--param", "n=256", "--no-what-if", "--by", "array")
    document = json.loads(shown(command(*words, "--json")))
    assert document["by"] == "array"
    result = run("list-ranking-wyllie", "gtx480", {"n": 256}).result
    assert document["rows"] == result.arrays
    shown(command(*words, "-o", "arrays.csv"))
    with open("arrays.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["array"] for row in rows] == [row["array"] for row in result.arrays]
    assert [int(row["ticks"]) for row in rows] == [row["ticks"] for row in result.arrays]
    assert sorted(os.listdir(here)) == ["arrays.csv", "w.json"]


def test_a_page_is_written_and_told_over_time_unless_the_program_is_long(here, monkeypatch):
    shown(command("w.json", "-m", "gtx480", "-o", "x.html"))
    page = (here / "x.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "Over time" in page
    monkeypatch.setattr(command_of_run, "LONG", 1)
    shown(command("w.json", "-m", "gtx480", "-o", "y.html"))
    assert len((here / "y.html").read_text(encoding="utf-8")) < len(page)


def test_a_run_says_it_too():
    """`run --by` in the place of its report; the hottest first."""
    words = ("histogram", "-m", "h100-sxm", "--no-what-if")
    out = shown(CliRunner().invoke(app(), ["run", *words, "--by", "line", "--top", "2"]))
    assert "The hottest 2 of 7 lines" in out
    assert "Where the simulated time went" not in out
    assert out.replace(" ", "") == shown(command(*words, "--top", "2")).replace(" ", "")
    by_array = json.loads(shown(CliRunner().invoke(app(), ["run", *words, "--by", "array", "--json"])))
    assert by_array["by"] == "array"
    assert by_array["rows"] == by_array["stalls"]["arrays"]
    reasons = shown(CliRunner().invoke(app(), ["run", *words, "--by", "reason", "--top", "1"])).splitlines()[3:]
    assert len(reasons) == 3  # title, heading and a row
    refused = CliRunner().invoke(app(), ["run", *words, "--by", "lines"])
    assert "--by 'lines': unknown; did you mean 'line'" in str(refused.exception)


@pytest.mark.parametrize("by", ["line", "array", "launch"])
def test_what_is_counted_stands_in_a_table_of_its_own(by):
    words = ("histogram", "-m", "h100-sxm", "--start", "cold", "--no-what-if", "--by", by)
    assert "What is counted there" not in shown(command(*words))
    out = shown(command(*words, "--counts"))
    counted, moved = out.split("What is counted there")[1].split("What moves, in bytes")
    heading, *rows = counted.strip().splitlines()
    assert heading.split()[:3] == ["times", "warp", "instr."]
    cold = load_machine("h100-sxm").replace({"memory.l2.start": "cold"})
    whole = run("histogram", cold, what_if=False).result
    expected = {"line": whole.lines, "array": whole.arrays, "launch": whole.launches}[by]
    first = {"line": "kernel.cu:19", "array": "totals", "launch": "0"}[by]
    (row,) = [row for row in rows if row.startswith(f"{first} ")]
    (reported,) = [
        row
        for row in expected
        if first in (f"{row.get('file')}:{row.get('line')}", row.get("array"), str(row.get("number")))
    ]
    assert f"{reported['thread_instructions']:,}" in row
    assert f"{reported['atomics']:,}" in row
    assert f"{reported['memory_bytes']:,}" in moved
    assert "op." in moved  # its classes are not known: no FLOPs


def test_compiled_kernels_have_floating_point_instructions_a_byte():
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    words = ("gemm", "-m", "h100-sxm", "--start", "cold", "--as", "compiled", "--no-what-if", "--by", "launch")
    out = shown(command(*words, "--counts"))
    assert "of them fp" in out
    assert out.splitlines()[-1].endswith(" fp")


def test_rows_of_a_result_add_up(here):
    result = simulate("gtx480", load_workload("w.json"), stalls=True)
    whole = sum(result.stalls.reasons.values())
    assert sum(row["ticks"] for row in result.arrays) == whole
    assert sum(row[reason] for row in result.sites for reason in REASONS) == whole
    assert [(row["number"], row["ticks"], row["launch_ticks"]) for row in result.launches] == [(0, whole, result.ticks)]
    reasons = result.stalls.reasons
    assert result.stalls.summed("reason")[0]["reason"] == max(reasons, key=reasons.get)


def test_without_stalls_a_result_says_how_to_get_them(here):
    result = simulate("gtx480", load_workload("w.json"))
    for name in ("sites", "arrays", "launches"):
        with pytest.raises(EngineError, match="has no stalls: simulate with stalls=True"):
            getattr(result, name)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "lines"), "--by 'lines': unknown; did you mean 'line'?"),
        (("-o", "there/x.html"), "there"),
        (("no-such-kernel",), "kernel 'no-such-kernel': unknown"),
    ],
)
def test_mistakes_are_told_in_a_line(here, words, said):
    done = command(*words)
    assert done.exit_code != 0
    assert said in str(done.exception or "") + done.output


def test_a_launch_has_its_cycles_and_its_time_however_many_ticks_a_cycle_has(here):
    machine = load_machine("h100-sxm")
    done = run("w.json", machine, what_if=False)
    out = shown(command("w.json", "-m", "h100-sxm", "--by", "launch", "--no-what-if"))
    (row,) = [line.split() for line in out.splitlines() if line.startswith("0 ")]
    assert machine.ticks_per_cycle > 1
    assert float(row[1].replace(",", "")) == pytest.approx(done.result.cycles, abs=0.5)
    assert float(row[2]) == pytest.approx(done.result.seconds * 1e6, rel=0.01)  # of three digits
    assert row[3] == "us"


def test_a_program_of_no_warps_is_reported(here):
    (here / "none.json").write_text(json.dumps({"blocks": []}), encoding="utf-8")
    out = shown(command("none.json", "-m", "ideal"))
    assert "There is nothing to simulate." in out
    assert "No warp did anything." in out
    assert list(explained(run("none.json", "ideal"), "launch"))

"""A run says whether such a result was ever compared with hardware, and which assumption decides it."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from simtmm import load_kernel, load_machine, run
from simtmm.analysis.compared_with_hardware import (
    Comparison,
    assumptions,
    compared_with_hardware,
    comparisons,
    may_be_measured,
)
from simtmm.machine.known import machine_files
from tests.trace.build import store, trace

ACCURACY = Path(__file__).parents[2] / "docs" / "accuracy"
KERNELS = {"stream": "stream", "h100-gemm": "gemm", "h100-mvt": "mvt", "h100-vector-add": "vector-add",
           "gtx280-local-ranking": "list-ranking-helman-jaja",
           "h100-polybench-compiled": "naive gemm, mvt and syrk of PolyBench-GPU",
           "h100-sdk-compiled": "kernels of the CUDA SDK and Rodinia's lud",
           "h100-more-compiled": "3dconv of PolyBench-GPU, a Walsh transform and a sort",
           "h100-sxm-streams": "stream",
           "h100-sxm-polybench": "naive gemm, mvt and syrk of PolyBench-GPU",
           "h100-sxm-sdk": "kernels of the CUDA SDK, and sums in shared memory",
           "h100-sxm-tiles": "sums and products of matrices",
           "ladder": "matrices, and a histogram in global memory"}  # fmt: skip
COMPILED = ("h100-sxm-polybench", "h100-sxm-sdk", "h100-sxm-tiles", "ladder")  # and those whose names say so
SERIES = ("simulated", "simulated, by the data sheet")  # of a GPU that was left out: L known, or not


def rows_of_tables():
    """What machines/compared.csv has to hold: of each table of measured times its mean error."""
    rows = []
    for path in sorted(ACCURACY.glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        name = path.stem
        kernels = KERNELS.get("stream" if name == f"stream-{kept['machine']}" else name)
        if kernels is None or kept["reference"] != "measured":
            continue
        machine = load_machine(kept["machine"])
        form = "compiled" if name.endswith("-compiled") or name in COMPILED else "written"
        points = str(len(kept["points"]))
        beside = path.with_name(f"stream-left-out-{kept['machine']}.json")
        left_out = beside if kernels == "stream" and beside.is_file() else None
        foretold = [mean_error(left_out, series) if left_out else "" for series in SERIES]
        row = [kept["machine"], machine.digest(), machine.family or "", kernels, form, points]
        rows.append([*row, mean_error(path, "simulated"), *foretold])
    return rows


def mean_error(path, series):
    points = json.loads(path.read_text(encoding="utf-8"))["points"]
    return f"{sum(abs(point['said'][series] / point['measured'] - 1) for point in points) / len(points):.4f}"


def test_the_file_says_what_the_tables_say():
    with (machine_files()["v100"].parent / "compared.csv").open(encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines)
    assert rows == rows_of_tables()
    assert len(comparisons()) == len(rows) >= 12


@pytest.mark.parametrize(
    ("machine", "program", "said"),
    [
        ("h100-pcie", "gemm", "Compared with hardware: gemm: mean error "),
        (
            "h100-pcie",
            "bfs",
            "Never compared with hardware: bfs on this machine; these kernels were: gemm: mean error ",
        ),
        (
            "h200",
            "gemm",
            "Never compared with hardware: this machine; others of its family were: stream on gh200: mean error ",
        ),
        (
            "rtx-4090",
            "gemm",
            "Never compared with hardware: this machine; others of family ga10x, which supplies many of its values, "
            "were: "
            "stream on a40: mean error ",
        ),
        (
            "rx6900xt",
            "stream",
            "Never compared with hardware: this machine; others of family amd, which supplies many of its values, "
            "were: "
            "stream on mi210: mean error ",
        ),
        ("cray-xmt", "gemm", "Never compared with hardware: this machine."),
    ],
)
def test_what_is_known_is_said(machine, program, said):
    assert compared_with_hardware(load_machine(machine), program).startswith(said)


def test_a_machine_made_of_others_is_told_how_far_off_these_would_have_been():
    """With an L of its own as the first column of docs/families.md, without one as the second."""
    of = {each.machine: each for each in comparisons()}
    made = "; built from other GPUs as this machine is, "
    said = compared_with_hardware(load_machine("mi100"), "stream")
    assert said.endswith(f"{made}with their own latency, stream was {100 * of['mi210'].known:.1f} % off.")
    said = compared_with_hardware(load_machine("mi250x"), "stream")
    assert said.endswith(f"{made}by a data sheet, stream was {100 * of['mi210'].by_sheet:.1f} % off.")


def test_another_kernel_of_a_measured_ones_name_was_not_compared(tmp_path):
    """A file gemm.cu of somebody's own, a folder gemm of somebody's own, and the shipped one as compiled."""
    said = "Never compared with hardware: this gemm on this machine; these kernels were: gemm: mean error "
    assert compared_with_hardware(load_machine("h100-pcie"), "gemm", may_be=False).startswith(said)
    shipped = load_kernel("gemm")
    assert may_be_measured(shipped, "written")
    assert may_be_measured(None, "written")
    assert not may_be_measured(shipped, "compiled")
    copied = tmp_path / "kernels" / "gemm"
    shutil.copytree(shipped.folder, copied)
    assert not may_be_measured(load_kernel(copied), "written")


def test_a_changed_machine_was_never_compared():
    changed = load_machine("h100-pcie").replace({"memory.latency": 700})
    assert compared_with_hardware(changed, "gemm") == "Never compared with hardware: the machine is changed."


def test_what_launches_leave_in_the_l2_is_no_change_of_the_machine():
    """A program's launches find what those before left there; profiles are compared with a warm L2."""
    machine = load_machine("h100-pcie")
    said = compared_with_hardware(machine, "launches.cu", may_be=False)
    assert said.startswith("Never compared with hardware: launches.cu on this machine; these kernels were: gemm:")
    assert compared_with_hardware(machine.replace({"memory.l2.start": "kept"}), "launches.cu", may_be=False) == said
    cold = compared_with_hardware(machine.replace({"memory.l2.start": "cold"}), "launches.cu", may_be=False)
    assert "these kernels were" not in cold


def test_many_comparisons_are_cut_short(monkeypatch):
    machine = load_machine("v100")
    many = tuple(Comparison("v100", machine.digest(), "", f"k{n}", "written", 3, 0.1) for n in range(7))
    monkeypatch.setattr("simtmm.analysis.compared_with_hardware.comparisons", lambda: many)
    said = compared_with_hardware(machine, "x")
    assert said.endswith("k3: mean error 10.0 % over 3 points; 3 more in docs/accuracy.md.")


def test_an_assumption_that_decides_is_named():
    """Every thread updates one word, which takes its partition, or its slice, for nearly all of the time."""
    for machine, said in (
        ("gtx480", r"memory.atomic_service = 6\.07 is an assumption \(as service\)"),
        ("v100", r"memory.atomic_service = 1 is unconfirmed \(family volta: NVIDIA's white paper on Kepler .*\)"),
    ):
        done = run(trace([[[(0, "atomic", 0, 4)] * 20 for _ in range(1024)]]), machine)
        assert len(done.assumptions) == 1
        whole = said + r" that decides this result: with half of it (\d+) % of the time"
        found = re.fullmatch(whole, done.assumptions[0])
        assert found
        assert 45 < int(found[1]) < 70
        assert done.to_dict()["assumptions"] == list(done.assumptions)


def test_of_what_takes_long_it_is_said_that_it_may(monkeypatch):
    monkeypatch.setattr("simtmm.analysis.run.MOST_AGAIN", 0)
    done = run(trace([[[(0, "atomic", 0, 4)] * 20 for _ in range(256)]]), "gtx480")
    assert done.assumptions[0].endswith("is an assumption (as service), and this result may depend on atomics")


def test_one_that_decides_nothing_is_not():
    storing = trace([[[store(0, 4 * lane)] for lane in range(256)]])
    assert run(storing, "v100").assumptions == ()


def test_without_counts_nothing_is_known_of_what_decides():
    result = run(trace([[[(0, "atomic", 0, 4)] * 20 for _ in range(32)]]), "v100").result
    assert assumptions(load_machine("v100"), result, None, lambda machine: result) == ()


def test_what_is_no_assumption_is_not_named():
    updating = trace([[[(0, "atomic", 0, 4)] * 20 for _ in range(1024)]])
    machine = load_machine("v100")
    done = run(updating, machine)
    assert done.assumptions
    own = machine.replace({"memory.atomic_service": 24})  # somebody says so
    assert run(updating, own).assumptions == ()

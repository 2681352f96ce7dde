"""Changes that are worth trying, as a whole: of kernels as they ship, and what becomes of each workload.

`python -m tests.analysis.source_changes.test_whole` writes them anew (tests/golden/outputs/source-changes.json), where
they are to differ. Nothing is simulated anew: what a change gains follows from the workload that it makes.
"""

import json

import numpy as np
import pytest

from simtmm import load_machine, lower, record, simulate
from simtmm.analysis.source_changes import counted_lines
from simtmm.analysis.source_changes.candidates import candidates_of
from simtmm.analysis.source_changes.excerpt import excerpt_of
from simtmm.analysis.source_changes.operations import Operations
from simtmm.engine.causes import longest_launch
from tests.whole import OUTPUTS

OUTPUT = OUTPUTS / "source-changes.json"
LITTLE = 1e-4  # seconds: a part of the run is looked at
CASES = {
    "transpose on a gtx480": ("transpose", {}, "gtx480", 1.0),
    "part of a transpose": ("transpose", {}, "h100-sxm", LITTLE),
    "strides": ("copy", {"pattern": "stride", "stride": 4}, "gtx280", 1.0),
    "reduce": ("reduce", {}, "h100-sxm", 1.0),
    "scan": ("scan", {}, "gtx480", 1.0),
    "histogram": ("histogram", {}, "v100", 1.0),
    "gemm": ("gemm", {}, "v100", 1.0),
    "mvt": ("mvt", {}, "mi100", 1.0),
    "rows": ("spmv-csr", {}, "a40", 1.0),
    "part of a graph": ("bfs", {}, "gtx480", LITTLE),
    "atomics": ("atomic-update", {}, "h100-sxm", 1.0),
    "merge": ("merge-sort", {}, "gtx280", 1.0),
    "fft": ("fft", {}, "rtx-3090", 1.0),
    "rows and columns": ("sequence-alignment", {}, "t4", 1.0),
    "small blocks": ("copy", {"threads": 32, "n": 16384}, "gtx480", 1.0),
    "blocks of half a warp": ("copy", {"threads": 16, "n": 4096}, "gtx480", 1.0),
    "blocks of 24 threads": ("copy", {"threads": 24, "n": 12288}, "gtx480", 1.0),
    "few large blocks": ("copy", {"threads": 1024, "n": 65536}, "gtx480", 1.0),
    "few registers": ("copy", {"threads": 192, "n": 49152}, {"resources": {"registers": 2400}}, 1.0),
    "chase": ("pointer-chase", {}, "v100", 1.0),
    "one warp": ("copy", {"threads": 16, "n": 16}, "v100", 1.0),
}  # fmt: skip


def described(kernel, parameters, machine, seconds):
    """The candidates of a run, each with what becomes of its workload."""
    machine = load_machine(machine) if isinstance(machine, str) else load_machine("gtx480").replace(machine)
    trace = record(kernel, parameters)
    workload = lower(trace, machine, places=True)
    result = simulate(machine, workload, "fast", stalls=True)
    lines = list(counted_lines(result.stalls))
    part = excerpt_of(machine, workload, result, seconds)
    launch = trace.info.launches[longest_launch(result)]
    of = Operations(part.workload)
    return [of_workload(part.workload), part.words] + [
        [
            each.change,
            each.words,
            list(each.at),
            f"{each.weight:.6g}",
            each.how,
            list(map(int, each.numbers)),
            of_workload(each.make(of, np.isin(part.workload.place, each.numbers))),
        ]
        for each in candidates_of(machine, result.stalls, lines, part, launch)
    ]


def of_workload(workload):
    """Counts and sums of a workload, which no change leaves all as they are."""
    places = np.arange(1, workload.operations + 1)
    return [
        workload.launches,
        workload.blocks,
        workload.warps,
        workload.operations,
        len(workload.chunks),
        np.bincount(workload.kind).tolist(),
        int(workload.amount.sum() % 2**53),
        int(workload.chunks.sum() % 2**53),
        int((workload.amount * places % 2**31).sum() % 2**53),
        workload.launch_limits.tolist(),
        int(workload.sectors.astype(np.int64).sum()),
    ]


@pytest.mark.parametrize("name", CASES)
def test_what_is_worth_trying_is_what_it_was(name):
    assert described(*CASES[name]) == json.loads(OUTPUT.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    document = {name: described(*case) for name, case in CASES.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(found)}".replace(', ["', ',\n["') for name, found in document.items())
    OUTPUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

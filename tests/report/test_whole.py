"""Pages and timelines, as a whole: the data in them, or of what is long a digest.

`python -m tests.report.test_whole` writes them anew (tests/golden/outputs), where they are meant to differ.
"""

import hashlib
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console

from simtmm import Machine, Workload, record, simulate
from simtmm.analysis.run import run
from simtmm.report.contention import describe_contention
from simtmm.report.explain.text import explained
from simtmm.report.explain_page import explanation
from simtmm.report.page import load_table, page
from simtmm.report.trace_events import write_timeline, write_timeline_of_run
from simtmm.report.trace_events.choice import ALL, Choice
from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.study.sweep import sweep
from simtmm.trace.contention import find_contention
from tests.report.test_explain_page import data_of
from tests.whole import OUTPUTS, ROOT, comparable

MACHINE = Machine.from_dict(
    {
        "name": "with everything",
        "clock_hz": 1e9,
        "ticks_per_cycle": 10,
        "cores": {"groups": 2, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 32},
        "scheduling": {"switch": "every-instruction", "scheduler": "oldest", "pipeline_depth": 4, "block_launch": 20},
        "memory": {
            "latency": 400, "chunk_words": 32, "partitions": 4, "service": 4, "atomic_service": 8, "port_interval": 2,
            "l1": {"sets": 4, "ways": 2, "latency": 30}, "l2": {"sets": 64, "ways": 4, "latency": 150, "service": 1},
        },
    }
)  # fmt: skip
WARP = [
    *[operation for turn in range(3) for operation in (["load", [turn, turn + 9]], ["compute", 5], ["shared", 4])],
    ["store", [50, 51]],
    ["atomic", [7, 7, 7]],
    ["barrier"],
]
WORKLOAD = Workload.from_dict({"blocks": [{"warps": [WARP, WARP[:5]]}] * 3})


def page_explained():
    """The data in the page of a run."""
    return data_of(explanation(run(WORKLOAD, MACHINE, timeline=True)))


CACHES = {
    "sets": 2, "ways": 2, "groups": 2, "latency": 60, "service": 1,
}, {"sets": 32, "ways": 2, "latency": 250}  # fmt: skip


def levels():
    """The levels of memory in the page, with those that few machines have, by sectors and by chunks."""
    found = {}
    shared, last = CACHES
    for name, changes in {
        "a shared L1": {"shared_l1": shared},
        "a shared L1 alone": {"shared_l1": shared, "l1": None},
        "a last level": {"last_level": last},
        "both, no L2": {"shared_l1": shared, "l2": None},
        "both": {"shared_l1": shared, "last_level": last},
    }.items():
        for sectors in (1, 4):
            machine = MACHINE.replace(
                {f"memory.{key}": value for key, value in changes.items()} | {"memory.sectors": sectors}
            )
            found[f"{name}, {sectors} sectors"] = data_of(explanation(run(WORKLOAD, machine)))["memory"]
    return found


def tables_of_lines():
    """What is printed of each line, operation or array, and of the code below it."""
    found = {}
    of_kernel = run("transpose", "h100-sxm", engine="fast")
    for name, done, words in (
        ("a workload", run(WORKLOAD, MACHINE), {}),
        ("a workload, two", run(WORKLOAD, MACHINE), {"top": 2}),
        ("a kernel", of_kernel, {}),
        ("a kernel, two", of_kernel, {"top": 2}),
        ("arrays", of_kernel, {"by": "array"}),
        ("lines and counts", of_kernel, {"counts": True}),
    ):
        found[name] = printed(explained(done, **words))
    return found


def printed(parts):
    """The lines that a terminal shows of a report's parts."""
    console = Console(file=io.StringIO(), width=200)
    for part in parts:
        console.print(part)
    return [line.rstrip().replace(str(ROOT), "ROOT") for line in console.file.getvalue().splitlines()]


def timeline():
    """A timeline's file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "timeline.json")
        write_timeline(path, simulate(MACHINE, WORKLOAD, timeline=True, stalls=True), MACHINE)
        return json.loads(path.read_text(encoding="utf-8"))


def study():
    """The data in a study's page."""
    given = {"program": "merge", "machines": ["gtx280", "gtx480"], "axes": {"n": [1000, 4000, 16000]}}
    with TemporaryDirectory() as folder:
        path = Path(folder, "s.sqlite")
        sweep(design_of(study_of(given)), path)
        return data_of(page(load_table(path)))


LONG = 200  # letters
MEETING = ["bfs", "histogram", "atomic-update", "scan", "list-ranking-wyllie", "reduce", "connected-components"]
RUNS = {"gemm": "h100-sxm", "transpose": "mi100", "histogram": "v100"}
TIMELINES = {
    "all": (None, ALL),
    "a sample": (707, ALL),
    "a small sample": (93, ALL),
    "a part": (None, Choice((0, 1), 500, 2500.5)),
    "of a group": (503, Choice((1,), 0, None)),
}


def of_runs():
    """Pages and timelines of runs."""
    with TemporaryDirectory() as folder:
        found = {}
        for kernel, machine in RUNS.items():
            done = run(kernel, machine, engine="fast", timeline=True)
            found[f"page of {kernel}"] = _in_short(data_of(explanation(done)))
            for name, (most, choice) in TIMELINES.items():
                path = Path(folder, "timeline.json")
                told = write_timeline_of_run(path, done, most, choice).what
                of_file = json.loads(path.read_text(encoding="utf-8"))
                found[f"timeline of {kernel}, {name}"] = [told, _in_short(of_file)]
    return found


def _in_short(document):
    """Each value of a document, of long ones a digest."""
    told = {}
    for key, value in comparable(document).items():
        text = json.dumps(value, sort_keys=True)
        is_long = len(text) > LONG
        told[key] = f"{len(text)} letters, {hashlib.sha256(text.encode()).hexdigest()[:12]}" if is_long else value
    return told


def of_traces():
    """Where threads of kernels meet, and which accesses of theirs are not in order."""
    found = {}
    for kernel in MEETING:
        trace = record(kernel)
        found[kernel] = printed(describe_contention(find_contention(trace)))
    return found


DOCUMENTS = {
    "pages-of-runs": of_runs,
    "contention": of_traces,
    "page-explained": page_explained,
    "page-levels": levels,
    "tables-of-lines": tables_of_lines,
    "timeline": timeline,
    "page-study": study,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_what_it_had(name):
    assert comparable(DOCUMENTS[name]()) == json.loads((OUTPUTS / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name, made in DOCUMENTS.items():
        (OUTPUTS / f"{name}.json").write_text(json.dumps(comparable(made()), indent=1) + "\n", encoding="utf-8")

"""Pages and timelines, as a whole: the data in them.

`python -m tests.report.test_whole` writes them anew (tests/golden/outputs), where they are meant to differ.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.analysis.run import run
from simtmm.report.explain_page import explanation
from simtmm.report.page import load_table, page
from simtmm.report.trace_events import write_timeline
from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.study.sweep import sweep
from tests.report.test_explain_page import data_of
from tests.whole import OUTPUTS, comparable

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


def explained():
    """The data in the page of a run."""
    return data_of(explanation(run(WORKLOAD, MACHINE, timeline=True)))


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


DOCUMENTS = {"page-explained": explained, "timeline": timeline, "page-study": study}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_what_it_had(name):
    assert comparable(DOCUMENTS[name]()) == json.loads((OUTPUTS / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name, made in DOCUMENTS.items():
        (OUTPUTS / f"{name}.json").write_text(json.dumps(comparable(made()), indent=1) + "\n", encoding="utf-8")

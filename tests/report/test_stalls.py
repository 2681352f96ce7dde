"""What warps do, in words: shares, the least that is shown, and chunks a request."""

import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console

from simtmm import Machine, Workload, simulate
from simtmm.report.stalls import WHAT_WARPS_DO, Line, by_line, by_reason, chunks_of, reason_of
from simtmm.stalls import COUNTS, REASONS, THREADS, Count, Place, Reason

PLACE = Place("load", "f.cu", 7, "x = a[i];")


def ticks_of(**own):
    """Ticks of each reason, 0 where none are named."""
    found = np.zeros(len(REASONS), np.int64)
    for name, ticks in own.items():
        found[Reason[name]] = ticks
    return found


def line(share=1.0, requests=0, chunks=0, **ticks):
    counts = np.zeros(len(COUNTS), np.int64)
    counts[Count.REQUESTS], counts[Count.CHUNKS] = requests, chunks
    return Line(PLACE, (), ticks_of(**ticks), counts, np.zeros(len(THREADS), np.int64), share)


def printed(part):
    stream = io.StringIO()
    Console(file=stream, width=200).print(part)
    return [row.rstrip() for row in stream.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("requests", "chunks", "text"), [(0, 0, ""), (4, 4, "1"), (4, 10, "2.5"), (3, 1, "0.333"), (2, 64, "32")]
)
def test_chunks_a_request_are_a_mean(requests, chunks, text):
    assert chunks_of(line(requests=requests, chunks=chunks)) == text


def test_the_reason_of_a_line_is_that_with_most_ticks_and_its_part_of_them():
    assert reason_of(ticks_of(ISSUING=20, BARRIER=50, L2_QUEUE=30)) == "barrier 50 %"
    assert reason_of(ticks_of(L1_LATENCY=7)) == "L1 latency 100 %"
    assert reason_of(ticks_of()) == ""


@pytest.mark.parametrize(("top", "names"), [(None, ["barrier", "issuing", "launch"]), (2, ["barrier", "issuing"])])
def test_reasons_come_longest_first_as_far_as_they_take_half_a_per_cent(top, names):
    on = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 10, "chunk_words": 8},
        }
    )
    stalls = simulate(
        on, Workload.from_dict({"blocks": [{"warps": [[["load", [0]]]]}]}), "reference", stalls=True
    ).stalls
    ticks = np.zeros_like(stalls.ticks)
    ticks[0] = ticks_of(ISSUING=300, BARRIER=691, LAUNCH=5, L2_QUEUE=4)
    rows = printed(by_reason(dataclasses.replace(stalls, ticks=ticks), top))[2:]
    assert [next(name for name in names if row.startswith(name)) for row in rows] == names
    assert len(rows) == len(names)
    assert [row.split("%")[0].split()[-1] for row in rows] == ["69", "30", "0.5"][: len(names)]
    assert rows[0].count("#") == round(24 * 0.691)


def test_lines_below_half_a_per_cent_are_not_shown():
    rows = printed(by_line([line(0.62, 2, 5, BARRIER=3), line(0.005, ISSUING=1), line(0.0049, ISSUING=1)], ""))[1:]
    assert [" ".join(row.split()) for row in rows] == [
        "f.cu:7 62 % barrier 100 % 2.5 x = a[i];",
        "f.cu:7 0.5 % issuing 100 % x = a[i];",
    ]


def test_every_reason_has_its_name():
    assert set(WHAT_WARPS_DO) == set(Reason)
    assert len({name for name, _, _ in WHAT_WARPS_DO.values()}) == len(Reason)

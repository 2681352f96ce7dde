"""The report of where threads meet: which places are listed, and what is told of the others."""

import io

import pytest
from rich.console import Console

from simtmm.report.contention import describe_contention
from simtmm.trace.contention import Contention, Meeting


def meeting(most, access="load", shared=False, source="y = x[i];"):
    return Meeting(
        site=3, file="k.cu", line=7, source=source, access=access, shared=shared, accesses=500, met=40,
        steps=10 + most, queue=100 + most, most=most, launch=0, block=2, kernel="k", array="x", index=5,
    )  # fmt: skip


def report(*meetings):
    out = io.StringIO()
    console = Console(file=out, width=150)
    for part in describe_contention(Contention(meetings)):
        console.print(part)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(("places", "more"), [(1, None), (9, None), (10, None), (11, 1), (1013, "1,003")])
def test_the_ten_places_that_come_first_are_listed_and_the_others_counted(places, more):
    lines = report(*(meeting(2000 - place) for place in range(places)))
    rows = [line.split()[0] for line in lines if "k.cu:7" in line]
    assert rows == [f"{2000 - place:,}" for place in range(min(places, 10))]
    assert [line for line in lines if "more places" in line] == (
        [] if more is None else [f"... and {more} more places"]
    )


def test_a_place_has_its_queues_steps_access_and_what_it_needs():
    lines = report(meeting(2), meeting(3, "atomic", shared=True), meeting(4, "store", source=""), meeting(1))
    sums = (sum(10 + most for most in (2, 3, 4, 1)), sum(100 + most for most in (2, 3, 4, 1)))
    assert lines[1] == f"Contention: CRCW; {sums[0]} steps, and queues of {sums[1]} (QRQW)"
    rows = {line.split()[0]: line for line in lines if "k.cu:7" in line}
    assert list(rows) == ["2", "3", "4"]  # where threads are alone they do not meet
    assert [row.split()[:3] for row in rows.values()] == [[str(n), str(100 + n), str(10 + n)] for n in (2, 3, 4)]
    for row, words in zip(rows.values(), ("load y = x[i];", "shared atomic y = x[i];", "store"), strict=True):
        assert f"  {words}  " in row
    assert ["CREW:" in rows["2"], "CRCW:" in rows["3"], "CRCW:" in rows["4"]] == [True] * 3
    assert "by atomic updates alone" in report(meeting(2), meeting(3, "atomic"))[1]


def test_where_all_are_alone_that_is_said():
    assert report(meeting(1))[1:] == [
        "Contention: EREW; 11 steps, and queues of 101 (QRQW)", "No two threads touch one word in one step."
    ]  # fmt: skip

"""Points: what they share is the same as if each had it for itself."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtmm import count, lower, predict, simulate
from simtmm.documents import DEEPEST
from simtmm.engine.causes import shares
from simtmm.errors import ModelError, StudyError, WorkloadError
from simtmm.machine import Machine
from simtmm.parallel.tasks import Serial
from simtmm.study.evaluation import steps
from simtmm.study.evaluation.steps import Outcome, checked, compute, counted, counting_key, fitted, lowered_once
from simtmm.study.evaluation.steps import lowering_key as key_of
from simtmm.study.sweep import sweep
from simtmm.testing import machines
from tests.study.programs import designed, trace, write

FIRST_COMPILES = settings(deadline=None)  # the first example compiles the loops
TRACE = trace(blocks=6, threads=20, shared_memory=200)


@st.composite
def wide_machines(draw):
    """Machines that differ in all that decides how a trace is lowered and counted."""
    machine = draw(machines())
    changes = {
        "cores.warp_width": draw(st.sampled_from([4, 16])),
        "memory.chunk_words": draw(st.sampled_from([16, 32])),
        "memory.word_bytes": draw(st.sampled_from([4, 8])),
        "memory.coalescing": draw(st.sampled_from(["chunk", "half-warp-segments"])),
        "banks.count": draw(st.sampled_from([8, 32])),
        "resources.shared_memory": draw(st.sampled_from([None, 150, 200, 500, 1000])),
        "resources.threads_per_block": draw(st.sampled_from([None, 16, 20])),
    }
    if changes["memory.coalescing"] == "half-warp-segments":
        changes |= {"memory.chunk_words": 32, "memory.sectors": 1, "memory.fetch_sectors": 1}
    if machine.memory.sectors == 2:
        changes["memory.word_bytes"] = 4  # a sector has at most 255 bytes
    if machine.memory.tlb:
        changes["memory.tlb.page"] = 256 * draw(st.integers(1, 5))  # whole chunks
    return machine.replace({key: value for key, value in changes.items() if value is not None})


def lowered(machine):
    """As `lower` gives it; None where the machine can't hold it."""
    try:
        return lower(TRACE, machine)
    except WorkloadError:
        return None


@FIRST_COMPILES
@given(wide_machines(), wide_machines())
def test_machines_of_one_lowering_key_share_a_workload(one, other):
    if key_of(one) == key_of(other):
        expected = lowered(other)
        shared = lowered_once(TRACE, one)
        if expected is None:
            with pytest.raises(WorkloadError):
                fitted(shared, TRACE, other)
        else:
            assert fitted(shared, TRACE, other) == expected
            assert fitted(shared, TRACE, other).origin == expected.origin


@FIRST_COMPILES
@given(wide_machines())
def test_the_counts_are_those_that_count_gives(machine):
    made = counted(TRACE, lowered_once(TRACE, machine), machine)
    if lowered(machine) is None:
        assert isinstance(made, Outcome)
        assert "does not fit" in made.skipped
    else:
        assert made == count(TRACE, machine)


@FIRST_COMPILES
@given(wide_machines(), st.sampled_from([10, 75.5]), st.sampled_from(["oldest", "fifo"]))
def test_machines_of_one_counting_key_share_counts(machine, latency, scheduler):
    machine = machine.replace({"memory.store_latency": None})  # L: whether a store is a wait does not depend on L
    other = machine.replace({"memory.latency": latency, "scheduling.scheduler": scheduler, "clock_hz": 2e9})
    assert counting_key(machine) == counting_key(other)
    if lowered(machine) is not None:
        assert count(TRACE, machine) == count(TRACE, other)


@pytest.mark.parametrize(
    "change",
    [
        {"cores.groups": 9}, {"cores.cores_per_group": 16}, {"limits.blocks_per_group": 1},
        {"resources.shared_memory": 256}, {"memory.stores": "posted"}, {"memory.chunk_words": 64},
    ],
)  # fmt: skip
def test_what_changes_the_counts_changes_the_key(change):
    base = Machine.from_dict(
        {
            "name": "base",
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
            "memory": {"latency": 9, "chunk_words": 8, "stores": "blocking"},
        }
    )
    assert counting_key(base) != counting_key(base.replace(change))


def test_a_point_is_what_the_library_calls_give_one_by_one():
    machine = Machine.from_dict(
        {
            "name": "m",
            "clock_hz": 1e9,
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 64},
            "memory": {"latency": 90, "chunk_words": 8},
        }
    )
    workload = lowered_once(TRACE, machine)
    made = compute(TRACE, workload, counted(TRACE, workload, machine), machine, ["simulated", "tmm", "pram"], "fast")
    result = simulate(machine, lower(TRACE, machine), stalls=True)
    assert made.results["simulated"] == {**result.to_dict(), "causes": shares(machine, result), "held_by": "the grid"}
    for model in ("tmm", "pram"):
        assert made.results[model] == predict(model, machine, count(TRACE, machine)).to_dict()
    assert (made.errors, made.skipped) == ({}, "")
    assert made.seconds > 0


def test_a_model_that_fails_leaves_the_others(monkeypatch):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 64},
            "memory": {"latency": 90, "chunk_words": 8},
        }
    )
    workload = lowered_once(TRACE, machine)

    def failing(model, machine, counts):
        if model == "pram":
            raise ModelError("not this one")
        return predict(model, machine, counts)

    monkeypatch.setattr(steps, "predict", failing)
    made = compute(TRACE, workload, counted(TRACE, workload, machine), machine, ["tmm", "pram"], "fast")
    assert set(made.results) == {"tmm"}
    assert made.errors == {"pram": "not this one"}


class Evil:
    """What a worker may give instead."""

    def __repr__(self):
        return "evil\x1b[2J" * 1000


def deep(levels):
    return {"a": deep(levels - 1)} if levels else 1.0


@pytest.mark.parametrize("within", [lambda each: {"a": each}, lambda each: [each], lambda each: (each,)])
def test_an_outcome_may_be_as_deep_as_a_document(within):
    value = {"a": 1.0}
    for _ in range(DEEPEST - 1):
        value = within(value)
    as_deep = Outcome(value)
    assert checked(as_deep) is as_deep
    assert isinstance(checked(Outcome(within(value))), StudyError)


@pytest.mark.parametrize(
    "given",
    [
        *(None, "a text", {"results": {}}, Evil(), Outcome(Evil()), Outcome({"simulated": Evil()}), Outcome(deep(200))),
        *(Outcome({"simulated": {"cycles": Evil()}}), Outcome(errors={"tmm": Evil()}), Outcome(skipped=Evil())),
        *(Outcome(seconds=math.nan), Outcome(seconds=-1.0), Outcome(seconds="soon"), Outcome({b"simulated": {}})),
    ],
)
def test_what_is_no_outcome_of_a_point_is_an_error_of_that_point(given):
    """As a worker of a cluster might give it."""
    found = checked(given)
    assert isinstance(found, StudyError)
    assert re.fullmatch(r"its computation returned no result: .{1,500}", str(found))
    assert str(found).isprintable()


def test_an_outcome_and_an_error_are_taken_as_they_are():
    for each in (Outcome({"simulated": {"cycles": 1, "time": {"a": 0.5}}}, {"tmm": "no"}), ModelError("no")):
        assert checked(each) is each


def test_a_study_goes_on_behind_what_is_no_outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(Serial, "run", lambda self, tasks: ((each, Evil()) for each in tasks if each.wanted))
    study = sweep(designed(write(tmp_path), axes={"memory.latency": [100, 200]}), workers=1)
    assert study.number("failed") == 2

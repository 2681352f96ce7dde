"""The verdict: one sentence on what bounds a run, and why simulation and model differ."""

import re
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.analysis.run import run
from simtmm.analysis.verdict import verdict
from simtmm.machine import Machine
from simtmm.model.latency_hiding import Hiding
from simtmm.result import Prediction, Result
from simtmm.testing import machines
from simtmm.trace.counts import Counts, LaunchCounts
from tests.examples import examples
from tests.trace.build import load, store, trace, work

EVENLY = {"issuing": 20, "memory": 20, "barrier": 20, "start": 20, "empty": 20}


def machine(**memory):
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 100, "chunk_words": 8, **memory},
        }
    )


def result(cycles, time=EVENLY, issued=100, transactions=100, l1_hits=0, l2_hits=0):
    return Result(cycles, issued, transactions, l1_hits, l2_hits, 0, time, (cycles,))


def prediction(model, cycles, bound, work=800):
    return Prediction(model, cycles, bound, {bound: cycles}, {"T1": work}, "")


def hiding(needed, in_use=2.0, limit=4.0):
    return Hiding(needed, needed, in_use, {"threads per core": limit, "parallelism": 0.5}, inf)


def counts(chunks=100, waits=0, stores=0, atomics=0):
    launch = LaunchCounts("f", 1, 1, chunks, 1, 1, 1, 1, 1, 1, 1.0, store_operations=stores, atomic_operations=atomics)
    return Counts.of_launch(launch, waits)


def sentence(run, *, bound="compute", tmm=1000, warps=1000, work=800, hidden=None, on=None, counted=None):
    said = verdict(
        on or machine(),
        run,
        prediction("tmm", tmm, bound, work),
        prediction("tmm-warps", warps, bound, work),
        hidden or hiding(1.0),
        counted or counts(run.transactions),
    )
    assert_one_sentence(said)
    return said


def assert_one_sentence(said):
    assert "\n" not in said
    assert said[0].isupper()
    assert said.endswith(".")
    assert ". " not in said


# What binds


def test_latency_is_not_hidden_by_threads_that_the_machine_can_not_hold():
    said = sentence(result(1000), bound="memory", hidden=hiding(6.5))
    assert said.startswith(
        "Latency is not hidden: by the TMM a core has 2 threads in use and needs 6.5, more than the 4 it can hold; "
    )


@pytest.mark.parametrize("needed", [3.0, 4.0])
def test_latency_is_not_hidden_though_the_machine_could_hold_the_threads(needed):
    said = sentence(result(1000), bound="memory", hidden=hiding(needed))
    assert said.startswith(
        f"Latency is not hidden: by the TMM a core has 2 threads in use and needs {needed:g}, "
        "within the 4 it can hold; "
    )


def test_latency_is_hidden_and_the_longest_path_binds():
    said = sentence(result(1000), bound="span", hidden=hiding(1.25))
    assert said.startswith(
        "Latency is hidden (of the 2 threads a core has in use 1.25 are enough), "
        "and by the TMM the longest path binds: more parallelism would help; "
    )


def test_latency_is_hidden_and_the_work_binds():
    said = sentence(result(1000), bound="compute", hidden=hiding(1.25))
    assert said.startswith(
        "Latency is hidden (of the 2 threads a core has in use 1.25 are enough), "
        "and by the TMM the work binds, as on a PRAM; "
    )


@pytest.mark.parametrize("bound", ["span", "compute"])
def test_without_memory_there_is_no_latency_to_hide(bound):
    assert sentence(result(1000), bound=bound, hidden=hiding(0.0)).startswith("Latency is hidden (no memory is used), ")


def test_large_numbers_of_threads_are_whole():
    said = sentence(result(1000), bound="memory", hidden=hiding(1234.5, in_use=0.123))
    assert "has 0.123 threads in use and needs 1,234, " in said


# How the simulation compares


def because(said):
    return said.rpartition("; ")[2]


@pytest.mark.parametrize(("cycles", "ratio"), [(800, "0.80"), (1000, "1.00"), (1250, "1.25")])
def test_within_a_quarter_the_simulation_agrees(cycles, ratio):
    assert because(sentence(result(cycles))) == f"the simulation agrees, at {ratio} times the TMM's time."


@pytest.mark.parametrize("tmm", [0, 5])
def test_nothing_is_simulated_where_nothing_is_there(tmm):
    assert sentence(result(0), tmm=tmm) == "There is nothing to simulate."


def test_a_program_without_work_has_nothing_to_be_compared_with():
    assert because(sentence(result(5), tmm=0)) == "the simulation has nothing to be compared with."


def test_faster_because_of_caches():
    said = sentence(result(500, l1_hits=30, l2_hits=21))
    assert because(said) == (
        "the simulation takes 0.5 times the TMM's time, "
        "because 51 % of the chunks come from a cache, which the TMM does not have."
    )


@pytest.mark.parametrize("run", [result(799, l1_hits=25, l2_hits=25), result(799, transactions=0)])
def test_faster_because_chunks_are_in_flight_together(run):
    assert because(sentence(run)) == (
        "the simulation takes 0.799 times the TMM's time, because the chunks of an instruction are in flight together, "
        "where the TMM takes them one after another."
    )


def test_faster_on_serial_transfers():
    said = sentence(result(500), on=machine(transfers="serial"))
    assert because(said).endswith(", because not every warp waits for every transfer.")


def test_slower_because_of_bandwidth():
    said = sentence(result(2000, transactions=210, l1_hits=10), on=machine(partitions=2, service=12))
    assert because(said) == (  # 200 chunks * 12 cycles / 2 partitions = 1200 cycles
        "the simulation takes 2 times the TMM's time, because bandwidth, which the TMM leaves out, takes 60 % of it."
    )


def test_slower_because_warps_wait_as_one():
    said = sentence(result(2000), bound="memory", warps=1700, hidden=hiding(3.0))
    assert because(said) == (
        "the simulation takes 2 times the TMM's time, because the threads of a warp wait for its transfers together."
    )


MOSTLY_ISSUING = {"issuing": 60, "memory": 10, "barrier": 20, "start": 5, "empty": 5}


def test_slower_because_lanes_are_idle():
    said = sentence(result(2000, MOSTLY_ISSUING, issued=200), work=800)  # 800 / (200 * 8)
    assert because(said) == (
        "the simulation takes 2 times the TMM's time, because lanes are idle: "
        "50 % of the lanes of an instruction do work."
    )


def test_lanes_of_full_warps_are_not_idle():
    said = sentence(result(2000, MOSTLY_ISSUING, issued=100), work=800)
    assert because(said).endswith(", because core groups were waiting at barriers 20 % of the time.")


WHERE = {
    "memory": "waiting for memory",
    "barrier": "waiting at barriers",
    "start": "starting warps, filling pipelines or pausing",
    "empty": None,
}


@pytest.mark.parametrize(("state", "words"), WHERE.items())
def test_slower_because_of_where_time_went(state, words):
    time = {**dict.fromkeys(EVENLY, 10), "issuing": 50, state: 20}
    said = sentence(result(2000, time), bound="memory", warps=9000, hidden=hiding(3.0))
    doing = f"were {words}" if words else "had no work"
    assert because(said) == (
        f"the simulation takes 2 times the TMM's time, because core groups {doing} 20 % of the time."
    )


# Without predictions


@pytest.mark.parametrize(("state", "words"), [("issuing", "issuing"), *WHERE.items()])
def test_without_predictions_the_verdict_is_where_time_went(state, words):
    said = verdict(machine(), result(100, {**dict.fromkeys(EVENLY, 5), state: 80}))
    assert_one_sentence(said)
    assert said == f"Core groups {f'were {words}' if words else 'had no work'} 80 % of the time."


@pytest.mark.parametrize("time", [None, dict.fromkeys(EVENLY, 0)], ids=["no breakdown", "no time"])
def test_the_verdict_claims_nothing_of_time_that_is_not_known(time):
    assert "0 %" not in verdict(machine(), result(0, time))


def test_slower_because_a_warp_waits_again_and_again():
    said = sentence(result(2000), counted=counts(waits=16))
    assert because(said).endswith(
        "because a warp waits for memory 16 times in a row, at L = 100 each, which the TMM's span leaves out "
        "and which takes 80 % of it."
    )


@pytest.mark.parametrize("run", [result(2000, l1_hits=1), result(3200)])
def test_waits_are_no_reason_where_caches_shorten_them_or_other_things_take_longer(run):
    assert "in a row" not in sentence(run, counted=counts(waits=16))


# Shares are shares


def share(said, words):
    assert words in said
    return int(re.search(r"(\d+) %", because(said))[1])


def test_the_bandwidth_that_atomics_take_is_that_of_their_own_service():
    on = machine(partitions=2, service=12, atomic_service=60)
    said = sentence(result(4000), on=on, counted=counts(100, atomics=90))
    assert share(said, "bandwidth") == 69  # (10 * 12 + 90 * 60) / 2 / 4000
    updates = machine(partitions=2, service=12, atomic_service=1)
    assert "bandwidth" not in sentence(result(2000), on=updates, counted=counts(300, atomics=290))


def test_stores_that_end_in_the_l2_take_no_bandwidth_of_global_memory():
    on = machine(service=12, l2={"sets": 4, "ways": 4, "latency": 10, "writes": "back"})
    assert share(sentence(result(3000), on=on, counted=counts(180, stores=10)), "bandwidth") == 68  # 170 * 12 / 3000
    assert "bandwidth" not in sentence(result(3000), on=on, counted=counts(180, stores=100))


def test_what_a_partition_takes_behind_the_end_is_no_time_of_the_run():
    on = machine(latency=1, service=1000)
    assert share(sentence(result(2002), on=on, tmm=100, counted=counts(3)), "bandwidth") == 100  # 2001 of 2002


def test_launch_overheads_are_no_time_that_core_groups_spend():
    slow = machine().replace({"scheduling.launch_overhead": 5})
    said = verdict(slow, result(100, {**dict.fromkeys(EVENLY, 5), "memory": 80}))
    assert said == "Core groups were waiting for memory 80 % of the time within launches."


@pytest.mark.parametrize(
    "thread",
    [
        [load(0, 0), store(1, 0), store(2, 0), store(3, 0)],  # stores that take less than L
        [(site, kind, 0, 4 * (kind == "async")) for site in range(4) for kind in ("async", "join")][:7],
        [event for site in range(4) for event in ((2 * site, "async", 0, 4), (2 * site + 1, "join", 1, 0))],
    ],
    ids=["stores", "joins of all", "joins of all but one"],
)
def test_a_warp_waits_no_longer_than_the_run_takes(thread):
    on = machine(latency=10.4, store_latency=1)  # in ticks L is 10
    done = run(trace([[[*thread, work(9, 1)]] * 8]), on)
    assert share(done.verdict, "in a row") <= 100
    assert done.counts.waits * 10 <= done.result.ticks


addresses = st.integers(0, 40).map(lambda chunk: 128 * chunk)
events = st.one_of(
    st.tuples(st.integers(0, 5), st.just("work"), st.integers(0, 12), st.just(0)),
    st.tuples(st.integers(0, 5), st.sampled_from(["load", "async", "store", "atomic"]), addresses, st.just(4)),
    st.tuples(st.integers(0, 5), st.just("join"), st.integers(0, 2), st.just(0)),
)
blocks = st.lists(st.lists(events, max_size=12), min_size=1, max_size=6)
launches = st.lists(st.lists(blocks, min_size=1, max_size=6), min_size=1, max_size=2)


@given(machine=machines(), launches=launches)
@examples(50)
def test_no_verdict_claims_more_than_all_of_the_time(machine, launches):
    said = run(trace(*launches), machine, engine="reference").verdict
    assert all(float(share) <= 100 for share in re.findall(r"([\d.,]+) %", said))

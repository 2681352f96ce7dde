"""Contention in traces written by hand, and in drawn ones against a count in plain Python."""

import dataclasses
import json
from collections import Counter, defaultdict

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simtmm
from simtmm.errors import TraceError
from simtmm.trace.contention import find_contention, finding
from simtmm.trace.io import Trace
from simtmm.trace.schema import Kind, TraceArray, TraceSite
from tests.cli.conftest import called as called
from tests.examples import examples
from tests.recorder.conftest import needs_compiler
from tests.trace.build import barrier, load, shared, store, trace

BASE = 512
KINDS = ("load", "store", "atomic", "async", "barrier", "shared_array", "shared_load", "shared_store", "shared_atomic")
LOAD, STORE, ATOMIC, ASYNC, BARRIER, ARRAY, SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC = range(len(KINDS))
SITES = tuple(TraceSite(site, kind, "kernel.cu", 10 + site, f"line of {kind};") for site, kind in enumerate(KINDS))
ARRAYS = (TraceArray("a", BASE, 400, "<i4", (100,)),)


def found(*launches):
    result = trace(*launches)
    return find_contention(Trace(dataclasses.replace(result.info, sites=SITES, arrays=ARRAYS), list(result.batches())))


def access(what, index=0, size=4):
    return what, KINDS[what], BASE + 4 * index, size


def in_shared(what, offset=0, size=4):
    return shared(what, offset, size, KINDS[what], ARRAY)


@pytest.mark.parametrize(("what", "model"), [(LOAD, "CREW"), (ASYNC, "CREW"), (STORE, "CRCW"), (ATOMIC, "CRCW")])
def test_threads_that_meet_decide_the_model(what, model):
    apart = found([[[access(what, 0)], [access(what, 1)]]])
    together = found([[[access(what, 0)], [access(what, 0)]]])
    assert (apart.model, apart.steps, apart.queue) == ("EREW", 1, 1)
    assert (together.model, together.steps, together.queue) == (model, 1, 2)
    assert together.by_atomics_alone == (what == ATOMIC)


@pytest.mark.parametrize(("what", "model"), [(SHARED_LOAD, "CREW"), (SHARED_STORE, "CRCW"), (SHARED_ATOMIC, "CRCW")])
def test_shared_memory_is_met_in_by_threads_of_a_block_alone(what, model):
    assert found([[[in_shared(what)], [in_shared(what)]]]).model == model
    assert found([[[in_shared(what)]], [[in_shared(what)]]]).model == "EREW"


def test_blocks_of_a_launch_meet_in_global_memory_and_those_of_two_launches_do_not():
    assert found([[[access(LOAD)]], [[access(LOAD)]]]).queue == 2
    assert found([[[access(LOAD)]]], [[[access(LOAD)]]]).queue == 2  # of two steps
    assert found([[[access(LOAD)]]], [[[access(LOAD)]]]).model == "EREW"


def test_the_first_visit_of_a_place_does_not_meet_the_second():
    loop = [access(LOAD, 0), access(LOAD, 1)]
    assert found([[loop, loop[::-1]]]).model == "EREW"
    assert found([[loop, loop]]).queue == 4


def test_visits_count_anew_behind_a_barrier():
    split = [access(LOAD, 0), barrier(BARRIER), access(LOAD, 1)]
    assert found([[split, [barrier(BARRIER), access(LOAD, 1)]]]).model == "CREW"
    assert found([[split, [access(LOAD, 1), barrier(BARRIER)]]]).model == "EREW"


def test_two_places_are_two_steps():
    assert found([[[access(LOAD)], [access(STORE)]]]).model == "EREW"


def test_wide_accesses_meet_in_each_of_their_words():
    meeting, *_ = found([[[access(LOAD, 0, 8)], [access(LOAD, 1, 8)]]]).meetings
    assert (meeting.most, meeting.met, meeting.at) == (2, 2, "a[1]")
    meeting, *_ = found([[[access(LOAD, 0, 8)], [access(LOAD, 0, 8)]]]).meetings
    assert (meeting.most, meeting.met, meeting.queue) == (2, 2, 2)  # all is 8 bytes wide, so that a word is
    meeting, *_ = found([[[access(LOAD, 0, 8), access(STORE, 9)], [access(LOAD, 0, 8)]]]).meetings
    assert (meeting.most, meeting.met, meeting.queue) == (2, 4, 2)


def test_a_place_tells_where_most_threads_met():
    launches = [[[access(LOAD, 3)]] * 2], [[[access(LOAD, 5)]] * 2, [[access(LOAD, 5)]] * 3]
    meeting, *_ = found(*launches).meetings
    assert (meeting.where, meeting.source, meeting.at) == ("kernel.cu:10", "line of load;", "a[5]")
    assert (meeting.most, meeting.launch, meeting.block, meeting.queue) == (5, 1, 1, 7)
    meeting, *_ = found([[[in_shared(SHARED_LOAD, 8)]] * 2]).meetings
    assert meeting.at == "byte 8 of line of shared_array"


EVENTS = st.one_of(
    st.builds(access, st.sampled_from([LOAD, STORE, ATOMIC]), st.integers(0, 3), st.sampled_from([4, 8])),
    st.builds(in_shared, st.sampled_from([SHARED_LOAD, SHARED_ATOMIC]), st.sampled_from([0, 4, 8])),
    st.just(barrier(BARRIER)),
)
LAUNCHES = st.lists(
    st.lists(st.lists(st.lists(EVENTS, max_size=6), min_size=1, max_size=4), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)


def counted(launches):
    """Of each site the most threads at a word in a step, the steps, and the sum of queues."""
    steps = defaultdict(Counter)
    for launch, blocks in enumerate(launches):
        for block, threads in enumerate(blocks):
            for events in threads:
                stretch, visits = 0, Counter()
                for site, kind, value, size in events:
                    if kind == "barrier":
                        stretch, visits = stretch + 1, Counter()
                        continue
                    for word in range(value // 4, (value + size) // 4):
                        own = block if kind.startswith("shared") else None
                        steps[launch, stretch, site, visits[site]][own, word] += 1
                    visits[site] += 1
    sites = defaultdict(list)
    for (_, _, site, _), words in steps.items():
        sites[site].append(max(words.values()))
    return {site: (max(queues), len(queues), sum(queues)) for site, queues in sites.items()}


@examples(200)
@given(LAUNCHES)
def test_it_is_what_a_count_in_plain_python_gives(launches):
    got = {meeting.site: (meeting.most, meeting.steps, meeting.queue) for meeting in found(*launches).meetings}
    assert got == counted(launches)


def test_tables_grow_as_they_fill(monkeypatch):
    events = [access(LOAD, index % 50) for index in range(100)]
    right = found([[events] * 4] * 5)
    monkeypatch.setattr(finding, "FEWEST_PLACES", 256)
    assert found([[events] * 4] * 5) == right
    monkeypatch.setattr(finding, "MOST_PLACES", 256)
    with pytest.raises(TraceError, match="launch 0 has more than"):
        found([[events] * 4] * 5)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "model"),
    [
        ("vector-add", {}, "EREW"),
        ("list-ranking-wyllie", {"n": 256}, "EREW"),  # as the papers say of pointer jumping along a list
        ("gemm", {}, "CREW"),
        ("bfs", {"n": 300}, "CRCW"),
        ("connected-components", {"n": 300}, "CRCW"),
    ],
)
def test_the_models_of_shipped_kernels(kernel, parameters, model):
    assert simtmm.record(kernel, parameters).contention().model == model


@needs_compiler
def test_a_star_has_the_queue_of_its_centre():
    trace = simtmm.record("pagerank", {"iterations": 1}, graph=nx.star_graph(40))
    passed = [meeting for meeting in trace.contention().meetings if "LD(passed, from)" in meeting.source]
    assert [meeting.most for meeting in passed] == [40]
    assert passed[0].model == "CREW"


@needs_compiler
def test_run_reports_it(called):
    status, out, _ = called("run", "histogram", "--contention", "--no-what-if")
    assert status == 0
    assert "Contention: CRCW by atomic updates alone" in out
    document = json.loads(called("run", "histogram", "--contention", "--no-what-if", "--json")[1])
    assert document["contention"]["model"] == "CRCW"
    assert "contention" not in json.loads(called("run", "histogram", "--no-what-if", "--json")[1])
    assert called("run", "histogram", "--contention", "--sample", "auto")[0] == 2


def test_a_workload_has_no_threads_to_look_at(called, tmp_path):
    simtmm.Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}]}).save(tmp_path / "w.json")
    status, _, err = called("run", tmp_path / "w.json", "--contention")
    assert (status, err.count("\n")) == (2, 1)


def test_every_access_of_the_schema_is_looked_at():
    private = {Kind.LOCAL_LOAD, Kind.LOCAL_STORE}
    others = {Kind.WORK, Kind.JOIN, Kind.BARRIER, Kind.MBARRIER, Kind.PRODUCT, Kind.SHARED_ARRAY}
    assert set(finding.ACCESS_KINDS) == set(Kind) - private - others


def test_an_imported_trace_needs_no_tables_of_sites_or_arrays():
    meeting, *_ = find_contention(trace([[[load(7, 2**40)], [load(7, 2**40)]], [[store(9, 2**41)]]])).meetings
    assert (meeting.where, meeting.at, meeting.most) == ("site 7", f"memory[{2**40}]", 2)

"""Races found while recording: what was stored is known, so stores of the same are told from others."""

import pytest

from simtmm import load_trace, record
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.trace.races import find_races
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("probe_flags")]  # races don't depend on optimisation


@pytest.fixture
def races(kernel_folder):
    """What a recording finds, as (scope, sites, count, benign)."""

    def make(device, **what):
        trace = record(kernel_folder(DEVICE + device, host(**what)), races=True)
        return [
            (race.scope, race.first.site, race.second.site, race.count, race.benign)
            for race in sorted(trace.races, key=lambda race: (race.scope, race.first.site))
        ]

    return make


def test_a_flag_that_all_threads_raise_is_a_benign_race(races):
    device = "__global__ void f(int* a) { ST(a, 0, 1); }"
    assert races(device, block="4") == [("block", 0, 0, 3, True)]
    assert races(device, grid="4") == [("launch", 0, 0, 3, True)]


def test_a_flag_that_is_looked_at_while_it_is_raised_is_not(races):
    device = "__global__ void f(int* a) { if (LD(a, 0) == 0) ST(a, 0, 1); }"
    assert races(device, block="4") == [("block", 0, 1, 3, False)]


def test_threads_that_store_their_number_are_not_benign(races):
    assert races("__global__ void f(int* a) { ST(a, 0, threadIdx.x); }", block="4") == [("block", 0, 0, 3, False)]


def test_zero_and_minus_zero_are_not_the_same(races):
    device = "__global__ void f(float* a) { ST(a, 0, threadIdx.x ? -0.0f : 0.0f); }"
    arrays = '{"a": np.zeros(1, np.float32)}'
    assert races(device, arrays=arrays, block="2") == [("block", 0, 0, 1, False)]


def test_shared_memory_without_a_barrier_is_a_race_and_with_one_is_none(races):
    device = """__global__ void f(int* a) {
        SHARED(int, s, 4);
        STS(s, threadIdx.x, 7 + threadIdx.x);
        %s
        ST(a, threadIdx.x, LDS(s, 3 - threadIdx.x));
    }"""
    what = {"block": "4", "local": 16, "arrays": '{"a": np.zeros(4, np.int32)}'}
    # Threads 2 and 3 load what 1 and 0 have stored; 0 and 1 load what 3 and 2 go on to store.
    assert races(device % "", **what) == [("block", 1, 3, 4, False)]
    assert races(device % "SYNC();", **what) == []


def test_looking_for_races_changes_nothing_in_the_trace(kernel_folder, tmp_path):
    device = "__global__ void f(int* a) { SHARED(int, s, 1); STS(s, 0, 1); SYNC(); ST(a, 0, LDS(s, 0)); }"
    folder = kernel_folder(DEVICE + device, host(block="8", grid="3", local=4))
    plain, looked = record(folder), record(folder, races=True, output=tmp_path / "t.parquet")
    assert looked.info.digest == plain.info.digest
    assert load_trace(tmp_path / "t.parquet").to_table().equals(plain.to_table())
    assert plain.races is None
    assert len(looked.races) == 3


def test_a_trace_alone_has_the_same_races_without_what_was_stored():
    trace = record("bfs", {"n": 500}, races=True)
    alone = find_races(trace)
    assert {(race.scope, race.first.site, race.second.site, race.count) for race in alone} == {
        (race.scope, race.first.site, race.second.site, race.count) for race in trace.races
    }
    assert {race.benign for race in alone} == {None}


def test_batches_change_no_finding(monkeypatch):
    parameters = {"n": 2000}
    whole = record("list-ranking-wyllie-variants", parameters, races=True).races
    monkeypatch.setattr("simtmm.recorder.cpu.launches.BATCH_EVENTS", 300)
    assert record("list-ranking-wyllie-variants", parameters, races=True).races == whole
    assert whole.harmful


# --- the kernels that come with simtmm --------------------------------------------------------------------------------

# All threads that raise a flag store the same.
BENIGN = {"bfs", "boruvka", "connected-components", "list-ranking-anderson-miller", "list-ranking-randomized"}


@pytest.mark.parametrize("name", kernel_folders())
def test_a_kernel_races_only_where_its_docstring_says_so(name):
    races = record(name, races=True).races
    racy = "\nRacy: " in load_kernel(name).host.__doc__
    assert bool(races.harmful) == racy, "\n".join(races.lines())
    assert (bool(races) and not races.harmful) == (name in BENIGN), "\n".join(races.lines())


@pytest.mark.parametrize(
    ("version", "racy"), [("packed-64", True), ("packed-32", True), ("restricted", True), ("stepwise", False)]
)
def test_the_versions_of_list_ranking_race_where_they_work_in_place(version, racy):
    races = record("list-ranking-wyllie-variants", {"n": 3000, "version": version}, races=True).races
    assert {race.scope for race in races.harmful} == ({"launch"} if racy else set())
    assert {race.array for race in races.harmful} == ({"nodes"} if racy else set())

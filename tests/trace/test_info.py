"""What stands in the metadata of a trace, and the two versions of its schema."""

import dataclasses

import numpy as np
import pytest

from simtmm import load_machine, load_trace, lower
from simtmm.trace.info import TraceInfo
from simtmm.trace.races import find_races
from simtmm.trace.schema import EVENT, KINDS, MOST_SITES, Batch, TraceSite
from tests.trace.build import store, trace, work
from tests.trace.test_compiled import SAXPY, constant, fetch, local, site
from tests.trace.test_lower import machine


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"work": (("fp31", 1),)},
            "site 3: work = {'fp31': 1}: must be numbers of instructions from 1 to 2^31 - 1, by class: fp32, fp64,",
        ),
        ({"work": (("fp32", 0),)}, "site 3: work = {'fp32': 0}: must be"),
        ({"work": (("fp32", 2**31),)}, "site 3: work = {'fp32': 2147483648}: must be"),
        ({"work": (("fp32", 1), ("fp32", 2))}, "site 3: work = {'fp32': 2}: must be"),
        ({"needs": (-1,)}, "site 3: needs = (-1,): must be whole numbers from 0 to 2^62 - 1"),
        ({"gives": (1.5,)}, "site 3: gives = (1.5,): must be whole numbers"),
        ({"stall": -1}, "site 3: stall = -1: must be a whole number from 0 to 2^31 - 1"),
        ({"stall": 2**31}, "site 3: stall = 2147483648: must be a whole number"),
        ({"stall": True}, "site 3: stall = True: must be a whole number"),
        ({"stall": 1.0}, "site 3: stall = 1.0: must be a whole number"),
    ],
)  # fmt: skip
def test_a_site_that_says_what_can_not_be_is_refused(fields, said):
    with pytest.raises(ValueError, match="site 3: ") as caught:
        TraceSite(3, "work", "k.cu", 1, "", **fields)
    assert str(caught.value).startswith(said)


def test_what_sites_say_of_work_values_and_stalls_is_in_the_digest_and_their_texts_are_not():
    thread = [fetch(0, 0), work(1, 1)]
    plain = site(0, gives=(0,))
    others = [
        site(0), site(0, gives=(1,)), site(0, gives=(0,), needs=(0,)), site(0, gives=(0,), work=[("fp32", 1)]),
        site(0, gives=(0,), work=[("fp64", 1)]), dataclasses.replace(plain, stall=1),
        dataclasses.replace(plain, stall=2), dataclasses.replace(site(0), stall=1),
        dataclasses.replace(plain, commits=(0,)), dataclasses.replace(plain, in_flight=0),
        dataclasses.replace(plain, in_flight=1), site(0, "barrier"), dataclasses.replace(site(0, "barrier"), sync=True),
    ]  # fmt: skip
    digests = {trace([[thread]], sites=[each]).info.digest for each in (plain, *others)}
    assert len(digests) == 13  # a barrier says nothing by its kind, as a site of nothing
    texts = dataclasses.replace(plain, instruction="ld.global.f32 %f1, [%rd4];", function="f", line=7)
    assert trace([[thread]], sites=[texts]).info.digest == trace([[thread]], sites=[plain]).info.digest


def test_a_compiled_trace_comes_back_from_a_file(tmp_path):
    sites = [
        dataclasses.replace(
            SAXPY[0], instruction="ld.global.f32 %f1, [%rd4];", function="f", inlined=(("k.cu", 3), ("h.cuh", 9))
        ),
        dataclasses.replace(SAXPY[1], stall=2**31 - 1, commits=(1, 1)),
        dataclasses.replace(SAXPY[2], in_flight=0),
        SAXPY[3],
        dataclasses.replace(site(4, "barrier"), sync=True),
        site(MOST_SITES - 1, "local_load"),
    ]
    thread = [fetch(0, 0), fetch(1, 32), store(2, 32), local(MOST_SITES - 1, 0), constant(70_000, 4)]
    program = trace([[thread] * 3] * 2, sites=sites, local=8, form="compiled", architecture="sm_80", warp_size=32)
    program.save(tmp_path / "t.parquet")
    back = load_trace(tmp_path / "t.parquet")
    assert back.info == program.info
    of_sites = back.info.to_dict()["sites"]
    assert [each.get("stall") for each in of_sites] == [None, 2**31 - 1, None, None, None, None]
    assert [each.get("commits") for each in of_sites] == [None, [1, 1], None, None, None, None]
    assert [each.get("in_flight") for each in of_sites] == [None, None, 0, None, None, None]
    assert [each.get("sync") for each in of_sites] == [None, None, None, None, True, None]
    assert back.to_table().equals(program.to_table())
    assert lower(back, machine()) == lower(program, machine())


PLACE = {"site": 0, "kind": "work", "file": "", "line": 0, "source": ""}
ARRAY = {"name": "a", "base": 0, "bytes": 1, "dtype": "|u1", "shape": [1]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"form": "woven"}, "form = 'woven': must be written or compiled or imported"),
        ({"warp_size": 0}, "warp_size = 0: must be a whole number from 1 to"),
        ({"sites": [{**PLACE, "site": 2**29}]}, "site = 536870912: must be a whole number from 0 to 536870911"),
        ({"sites": [{**PLACE, "work": {"a": 1}}]}, "work = {'a': 1}: must be"),
        ({"sites": [{**PLACE, "stall": "4"}]}, "stall = '4': must be a whole number from 0 to 2^31 - 1"),
        ({"arrays": [{**ARRAY, "space": "x"}]}, "space = 'x': must be global or constant"),
    ],
)
def test_metadata_that_can_not_be_is_refused(change, said):
    table = trace([[[work(0, 1)]]]).info.to_dict()
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # whose text is looked at below
        TraceInfo.from_dict({**table, **change})
    assert said in str(caught.value)


def test_a_launch_with_more_threads_than_a_trace_numbers_is_refused():
    table = trace([[[work(0, 1)]]]).info.to_dict()
    table["launches"][0]["block"] = [65_537, 1, 1]
    with pytest.raises(ValueError, match=r"block = \(65537, 1, 1\): must be at most 65,536 threads$"):
        TraceInfo.from_dict(table)


@pytest.mark.parametrize("grid", [[2**31, 1, 1], [2**16, 2**15, 1]])
def test_a_launch_with_more_blocks_than_a_trace_numbers_is_refused(grid):
    table = trace([[[work(0, 1)]]]).info.to_dict()
    table["launches"][0]["grid"] = grid
    with pytest.raises(ValueError, match=r"must be below 2\^31 blocks"):
        TraceInfo.from_dict(table)


@pytest.mark.parametrize(("warp_size", "width", "told"), [(32, 32, False), (32, 64, True), (None, 64, False)])
def test_a_machine_of_another_width_is_reported_of(warp_size, width, told):
    info = trace([[[work(0, 1)]]], warp_size=warp_size).info
    warning = "compiled for warps of 32; lowered for warps of 64 anyway; --warp 64 runs HIP programs in waves of 64"
    assert info.warnings_on(width) == ([warning] if told else [])


# Version 1


def shipped():
    return load_trace("list-ranking-wyllie")


def test_a_file_of_version_1_is_read_and_gives_the_same_workload_as_ever(tmp_path):
    old = shipped()
    assert (old.info.version, old.info.form, old.info.warp_size) == (1, "written", None)
    old.save(tmp_path / "t.parquet")
    new = load_trace(tmp_path / "t.parquet")
    assert new.info.version == 2
    assert new.info.digest != old.info.digest  # what it is of lies otherwise
    assert new.to_table().equals(old.to_table())
    gtx = load_machine("gtx480")
    assert lower(new, gtx) == lower(old, gtx)
    assert lower(old, gtx).digest() == "aecacdcc3044b560"  # as lowered when version 1 was all there was


def test_threads_and_sites_up_to_the_last_number_are_kept():
    events = np.array([(1, MOST_SITES - 1, 65_535, KINDS.index("work"), 0)], EVENT)
    program = trace([[[work(0, 1)]]])
    launch = dataclasses.replace(program.info.launches[0], block=(65_536, 1, 1))
    info = dataclasses.replace(program.info, launches=(launch,))
    whole = type(program)(info, [Batch(events, np.zeros(1, np.int32), np.zeros(1, np.int32), np.ones(1, np.int64))])
    warps = lower(whole, machine(width=32, **{"cores.max_threads_per_core": 65_536})).to_dict()["launches"][0]["blocks"]
    assert warps[0]["warps"] == [[]] * 2047 + [[["compute", 1]]]


# Races


def test_races_of_sites_beyond_16_bits_are_distinguished():
    numbers = (70_000, 70_000 + 65_536)  # equal in their lower 16 bits
    sites = [TraceSite(number, "store", "k.cu", number, f"line {number}") for number in numbers]
    program = trace([[[store(numbers[0], 512)], [store(numbers[1], 512)]]], sites=sites)
    program = type(program)(
        dataclasses.replace(program.info, arrays=shipped().info.arrays[:1]), list(program.batches())
    )
    (race,) = find_races(program)
    assert (race.first.site, race.second.site, race.count) == (*numbers, 1)

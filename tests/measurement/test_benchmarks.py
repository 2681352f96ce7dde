"""The benchmarks of a calibration and the tables of their times, number by number."""

from types import SimpleNamespace

import pytest

from simtmm.measurement.benchmarks import CHASE_KIB, LINE, STREAMS, benchmarks, latency_table, stream_table

SHARED = 100_000  # bytes that a block may claim
BY_NAME = {each.name: each for each in benchmarks(SHARED)}


def test_names_are_of_one_benchmark_each_and_those_of_a_family_grow():
    every = list(benchmarks(SHARED))
    assert len(BY_NAME) == len(every) == 2 + len(CHASE_KIB) + 7 * len(STREAMS) + 2 + 2
    assert [each.name for each in every if not each.cold] == [
        *(f"chase-{size:06d}kib" for size in CHASE_KIB), "shared-20000", "shared-40000", "atomic-262144",
        "atomic-524288",
    ]  # fmt: skip
    assert [(each.name, each.family, each.kernel, each.parameters) for each in (*every[:2], *every[-4:])] == [
        ("launch-one", "launch", "vector-add", {"n": 1}),
        ("launch-many", "launch", "list-ranking-wyllie", {"n": 64}),
        ("shared-20000", "shared", "shared-chase", {"steps": 20_000}),
        ("shared-40000", "shared", "shared-chase", {"steps": 40_000}),
        ("atomic-262144", "atomic", "atomic-update", {"n": 262_144}),
        ("atomic-524288", "atomic", "atomic-update", {"n": 524_288}),
    ]


@pytest.mark.parametrize(
    ("kib", "steps"), [(4, 20_000), (64, 20_000), (96, 24_576), (512, 131_072), (768, 20_000), (786_432, 20_000)]
)
def test_a_chase_goes_through_its_buffer_a_line_at_a_time_and_often_if_an_l1_may_hold_it(kib, steps):
    chase = BY_NAME[f"chase-{kib:06d}kib"]
    assert chase.family == f"chase {kib}"
    assert chase.parameters == {"n": kib * 1024 // LINE, "stride": 32, "steps": steps}


def test_buffers_are_powers_of_two_and_half_way_between():
    assert (CHASE_KIB[:5], CHASE_KIB[-2:], len(CHASE_KIB)) == ((4, 6, 8, 12, 16), (524_288, 786_432), 36)


@pytest.mark.parametrize(("threads", "blocks", "claimed"), [(32, 1, SHARED), (1024, 1, SHARED), (1024, 2, 48_976)])
def test_a_block_claims_so_much_shared_memory_that_no_more_fit(threads, blocks, claimed):
    stream = BY_NAME[f"stream-triad-{threads:04d}x{blocks}"]
    assert (stream.kernel, stream.cold, stream.family) == ("stream", True, f"stream triad {threads} {blocks}")
    assert stream.parameters == {"operation": "triad", "n": 1 << 24, "threads": threads, "shared_memory": claimed}


def measured(seconds, parameters, blocks=0, **device):
    launch = SimpleNamespace(blocks_per_core_group=blocks)
    return SimpleNamespace(seconds=seconds, parameters=parameters, device=device, launches=[launch])


def test_latencies_are_cycles_of_a_step_by_kib():
    chases = {
        "chase-000064kib": measured(1e-3, {"n": 512, "stride": 32, "steps": 20_000}, clock_hz=1.5e9),
        "chase-000006kib": measured(1e-4, {"n": 48, "stride": 32, "steps": 40_000}, clock_hz=2e9),
        "launch-one": measured(1.0, {}),
    }
    assert latency_table(chases, "g") == [
        "gpu,clock_mhz,buffer_kib,median_cycles", "g,2000.0,6,5.00", "g,1500.0,64,75.00",
    ]  # fmt: skip
    assert latency_table({"launch-one": measured(1.0, {})}, "g") == []


def streams(times, **device):
    """Of (operation, threads, blocks of a core group) the seconds; 1,000 elements each."""
    return {
        f"stream-{operation}-{threads:04d}x{blocks}": measured(
            seconds, {"operation": operation, "n": 1000, "threads": threads}, blocks, **device
        )
        for (operation, threads, blocks), seconds in times.items()
    }


TIMES = {
    ("read", 64, 1): 1e-6, ("triad", 64, 1): 1e-6, ("scale", 64, 1): 1e-6,
    ("read", 32, 4): 5e-7, ("triad", 32, 4): 4e-7,
    ("read", 512, 0): 1e-9, ("triad", 512, 0): 1e-9,
}  # fmt: skip


@pytest.mark.parametrize(
    ("most", "shares"), [(None, ("50.0", "100.0")), (0, ("50.0", "100.0")), (256, ("25.0", "50.0"))]
)
def test_bandwidths_are_of_kernels_measured_everywhere_by_the_share_of_the_threads_that_fit(most, shares):
    told = ["gpu,block_size,blocks_per_sm,occupancy_pct,read_GBs,triad_GBs",
            f"g,64,1,{shares[0]},8.0,32.0", f"g,32,4,{shares[1]},16.0,80.0"]  # fmt: skip
    assert stream_table(streams(TIMES, threads_per_core_group=most), "g") == told
    with_groups = stream_table(streams(TIMES, threads_per_core_group=most, core_groups=3), "g")
    assert with_groups[0] == told[0].replace("block_size,", "block_size,threads_column,")
    assert [line.split(",")[2] for line in with_groups[1:]] == ["192", "384"]


def test_without_a_kernel_that_is_measured_everywhere_there_is_no_table():
    assert stream_table(streams({("read", 64, 1): 1.0, ("triad", 32, 1): 1.0}), "g") == []
    assert stream_table(streams({("read", 64, 0): 1.0}), "g") == []

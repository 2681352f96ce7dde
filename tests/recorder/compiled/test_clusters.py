"""Clusters of blocks beside what an H100 took: loads from another block's shared memory, and barriers of the cluster.

The loops are those of traces/measured/h100-sxm/sources/probe: cycles a trip, by two numbers of trips.
"""

import csv
import math
from pathlib import Path

import pytest

from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.programs.program import cuda_program
from simtmm.recorder.compiled.cuda_file import cuda_program as cuda_program_of
from simtmm.recorder.compiled.record import record
from simtmm.recorder.compiled.run import in_clusters
from simtmm.trace.lower import lower
from simtmm.trace.schema import PEER_BIT, Kind

PROGRAM = Path(__file__).with_name("clusters.cu")
PROBE = Path(__file__).parents[3] / "traces" / "measured" / "h100-sxm" / "probe.csv"
CHASES = [("chase", 0), ("chase", 1), ("chase", 3)]
MEETINGS = [(what, threads) for what in ("meet", "relaxed") for threads in (32, 128, 256, 1024)]
TRIPS = (16, 48)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    words = [str(each) for what, first in (*CHASES, *MEETINGS) for trips in TRIPS for each in (what, first, trips)]
    output = tmp_path_factory.mktemp("clusters") / "trace.parquet"
    outcome = cuda_program([str(PROGRAM)], words=words).run(output=output)
    assert outcome.status == 0
    return outcome.trace


@pytest.fixture(scope="module")
def cycles(trace):
    """Simulated cycles a trip, by what is done."""
    h100 = load_machine("h100-sxm")
    ticks = simulate(h100, lower(trace, h100), "fast").launch_ticks
    pairs = zip((*CHASES, *MEETINGS), ticks[::2], ticks[1::2], strict=True)
    return {what: (more - less) / (TRIPS[1] - TRIPS[0]) / h100.ticks_per_cycle for what, less, more in pairs}


def measured(name, parameter):
    with PROBE.open(encoding="utf-8") as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return next(float(row[3]) for row in rows if row[1:3] == [name, parameter])


def test_what_a_warp_loads_from_another_block_is_there_later_and_from_its_own_it_is_not(cycles):
    own, others = cycles["chase", 0], [cycles["chase", rank] for rank in (1, 3)]
    # The value was fitted to ranks of clusters of four and eight, which differ by 1 %.
    assert others == pytest.approx([measured("dsmem_load_chase", f"c4_rank{rank}") for rank in (1, 3)], rel=0.01)
    assert own < others[0] / 7


@pytest.mark.parametrize("threads", [32, 128, 256, 1024])
@pytest.mark.parametrize(("what", "name"), [("meet", "cluster_barrier"), ("relaxed", "cluster_barrier_relaxed")])
def test_a_barrier_of_a_cluster_takes_what_it_took(cycles, what, name, threads):
    # A line through the fences of 4 to 32 warps is 8 % below that of one warp; relaxed barriers are a number beyond
    # bar.sync, and 11 % above with 32 warps, whose instructions issue one by one as well.
    assert cycles[what, threads] == pytest.approx(measured(name, f"c2_t{threads}"), rel=0.12)


def test_a_blocks_own_memory_is_its_own_however_it_is_addressed(trace):
    ranks = set()
    for batch in trace.batches():
        loads = batch.events[batch.events["kind"] == Kind.SHARED_LOAD]
        ranks |= set(((loads["value"] & 0xFFFFFFFF) >> PEER_BIT).tolist())
    assert ranks == {0, 2, 4}  # rank 0's own, and one more than ranks 1 and 3


def test_launches_say_how_many_blocks_in_a_row_are_a_cluster(trace):
    launches = {launch.kernel.partition("(")[0]: launch.cluster for launch in trace.info.launches}
    assert launches == {"chase": 4, "meet": 2}
    h100 = load_machine("h100-sxm")
    assert lower(trace, h100).clusters.tolist() == [launch.cluster for launch in trace.info.launches]


@pytest.mark.parametrize(
    ("grid", "cluster", "numbers"),
    [
        ((8, 1, 1), (2, 1, 1), None),
        ((4, 2, 1), (2, 2, 1), [0, 1, 4, 5, 2, 3, 6, 7]),
        ((2, 4, 1), (1, 2, 1), [0, 2, 1, 3, 4, 6, 5, 7]),
        ((2, 4, 1), (2, 2, 1), None),
        ((2, 2, 4), (2, 1, 2), [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]),
        ((1, 4, 1), (1, 2, 1), None),
    ],
)
def test_blocks_are_numbered_by_clusters_and_in_each_by_rank(grid, cluster, numbers):
    ranks, order = in_clusters(grid, cluster)
    assert ranks.tolist() == [number % math.prod(cluster) for number in range(math.prod(grid))]
    assert order is None if numbers is None else order.tolist() == numbers


def test_without_clusters_there_are_no_ranks():
    assert in_clusters((4, 2, 1), (1, 1, 1)) == (None, None)


SQUARES = """
extern "C" __global__ void __cluster_dims__(2, 2, 1) k(int* out)
{
    __shared__ int own;
    own = 0;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    out[32 * (blockIdx.x + gridDim.x * blockIdx.y) + threadIdx.x] = own;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
"""


@pytest.mark.parametrize("sample_blocks", [None, 4])
def test_clusters_of_several_rows_are_placed_as_a_whole(sample_blocks, tmp_path, monkeypatch):
    """Each block stores to 128 bytes of its own, which say where it lies in the grid of four by four."""
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SQUARES)
    program = cuda_program_of("k.cu", (4, 4, 1), 32, ("zeros:int32:512",))
    one = record(program, {"seed": 0}, architecture=90, sample_blocks=sample_blocks)
    (launch,) = one.info.launches
    assert (launch.grid, launch.cluster) == ((4, 4, 1), 4)
    stored = {}
    for batch in one.batches():
        begins = [0, *batch.ends.tolist()]
        for block, first, last in zip(batch.block.tolist(), begins, begins[1:], strict=False):
            events = batch.events[first:last]
            stored[block] = int(events["value"][events["kind"] == Kind.STORE].min()) - one.info.arrays[0].base >> 7
    expected = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
    assert list(stored) == sorted(stored)
    assert stored == {block: expected[block] for block in stored}
    assert len(stored) == (sample_blocks or 16)
    assert not any("placing" in each for each in one.info.warnings)
    assert lower(one, load_machine("h100-sxm")).cluster_of(0) == 4


SENDS = """
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int* out, int bytes)
{
    __shared__ __align__(128) char given[16384], taken[16384];
    __shared__ __align__(8) long long bar;
    unsigned rank, at, own = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(taken);
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own), "r"(bytes) : "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(to), "r"(WHERE));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(WHERE));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(to), "r"((unsigned)__cvta_generic_to_shared(given)), "r"(bytes), "r"(at) : "memory");
    }
    asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W;}" ::"r"(own) : "memory");
    out[blockIdx.x * 32 + threadIdx.x] = taken[threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
"""


def cycles_of_sending(count, where):
    """Cycles of a launch whose two blocks send so many bytes, to the block of a rank, by its own."""
    Path("k.cu").write_text(SENDS.replace("WHERE", where))
    program = cuda_program_of("k.cu", 2, 32, ("zeros:int32:64", str(count)))
    one = record(program, {"seed": 0}, architecture=90)
    assert not one.info.warnings
    h100 = load_machine("h100-sxm")
    found = {}
    for engine in ("fast", "reference"):
        found[engine] = simulate(h100, lower(one, h100), engine).ticks / h100.ticks_per_cycle
    assert found["fast"] == found["reference"]
    return found["fast"]


def test_a_copy_to_another_blocks_shared_memory_takes_the_way_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    less, more = (cycles_of_sending(count, "rank ^ 1") for count in (128, 16384))
    assert more - less == (16384 - 128) / 128 * load_machine("h100-sxm").banks.remote_interval


def test_a_copy_within_a_block_takes_no_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    less, more = (cycles_of_sending(count, "rank") for count in (128, 16384))
    assert more == less


def test_sites_say_which_barriers_are_of_clusters(trace):
    assert {site.cluster for site in trace.info.sites if site.kind == "barrier"} == {1, 2}


def test_launches_of_a_kernel_have_clusters_of_their_own_and_what_it_leaves_out_is_told_once(tmp_path):
    source = """
    __global__ void adds(int* out) {
        __shared__ __align__(16) int sums[4];
        if (out == nullptr)
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 16;"
                         :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(sums)) : "memory");
        out[blockIdx.x + 4 * blockIdx.y] = 1;
    }
    int main() {
        int* out;
        cudaMalloc(&out, 64);
        for (unsigned rows = 2; rows > 0; --rows) {
            cudaLaunchAttribute cluster;
            cluster.id = cudaLaunchAttributeClusterDimension;
            cluster.val.clusterDim.x = 2, cluster.val.clusterDim.y = rows, cluster.val.clusterDim.z = 1;
            cudaLaunchConfig_t config = {};
            config.gridDim = dim3(4, 2), config.blockDim = dim3(32), config.attrs = &cluster, config.numAttrs = 1;
            if (cudaLaunchKernelEx(&config, adds, out) != cudaSuccess) return 1;
        }
        return cudaDeviceSynchronize();
    }
    """
    (tmp_path / "adds.cu").write_text(source, encoding="utf-8")
    outcome = cuda_program([str(tmp_path / "adds.cu")]).run(load_machine("h100-sxm"), output=tmp_path / "t.parquet")
    assert outcome.status == 0
    (told,) = [line for line in outcome.trace.info.warnings if "leaves out" in line]
    assert "leaves out the additions of cp.reduce (timed as stores) (in adds)" in told
    assert [launch.cluster for launch in outcome.trace.info.launches] == [4, 2]

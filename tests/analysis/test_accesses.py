"""Accesses as they are and at best, of kernels whose numbers follow by hand."""

import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.analysis.accesses import accesses_of
from simtmm.analysis.run import run
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.cuda.compilers.conftest import needs_machine_code

KERNEL = """
__global__ void k(const float* by, const float* across, float* out, int n)
{
    __shared__ float tile[32][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = by[i];
    float b = across[i * 32];
    tile[threadIdx.x][0] = a + b;
    __syncthreads();
    out[i] = tile[31 - threadIdx.x][0];
}
"""
MACHINE = "h100-sxm"  # lines of 128 bytes, sectors of 32


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    path = tmp_path_factory.mktemp("accesses") / "k.cu"
    path.write_text(KERNEL)
    arguments = ["by=random:float32:4096", "across=random:float32:131072", "out=zeros:float32:4096", "4096"]
    return run(cuda_program(path, 128, 32, arguments), load_machine(MACHINE))


def access(done, array, kind):
    (found,) = (each for each in done.accesses if (each.array, each.kind) == (array, kind))
    return found


@needs_machine_code
def test_side_by_side_a_request_takes_a_line_and_all_of_it_is_used(done):
    found = access(done, "by", "load")
    assert (found.requests, found.chunks, found.ideal_chunks) == (128, 1, 1)
    assert (found.bytes_asked, found.bytes_moved, found.used, found.reuse) == (16384, 16384, 1.0, 1.0)
    assert found.saves == 0.0


@needs_machine_code
def test_a_stride_of_a_line_takes_a_line_for_each_thread_and_a_sector_from_below(done):
    found = access(done, "across", "load")
    assert (found.line, found.chunks, found.ideal_chunks) == (7, 32, 1)
    assert found.used == pytest.approx(1 / 32)
    assert found.bytes_below == 128 * 32 * 32
    assert found.reuse == pytest.approx(1 / 8)  # 4 bytes of a sector
    told = [each.gain for each in done.advice if (each.change, each.array) == ("coalesce", "across")]
    assert told == [pytest.approx(1 / (1 - found.saves))] if told else 0 <= found.saves < 0.03


@needs_machine_code
def test_a_column_of_a_tile_takes_a_pass_for_each_thread(done):
    found = access(done, "", "shared_store")
    assert (found.passes, found.ideal_passes, found.chunks) == (32, 1, None)
    assert found.used is None
    assert 0 <= found.saves < 1


UPDATES = """
__global__ void k(int* out, int apart)
{
    __shared__ int sums[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) sums[i] = 0;
    __syncthreads();
    atomicAdd(&sums[threadIdx.x * apart], out[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
}
"""


@needs_machine_code
@pytest.mark.parametrize(("apart", "passes"), [(32, 32), (1, 1), (4, 4)])
def test_updates_of_shared_memory_take_passes_and_no_chunks(tmp_path, apart, passes):
    path = tmp_path / "k.cu"
    path.write_text(UPDATES)
    ran = run(cuda_program(path, 1, 32, ["out=arange:int32:32", str(apart)]), load_machine(MACHINE), what_if=False)
    found = access(ran, "", "shared_atomic")
    assert (found.line, found.requests, found.ideal_passes) == (7, 1, 1)
    assert found.passes == passes
    assert (found.chunks, found.ideal_chunks, found.bytes_moved, found.bytes_below) == (None,) * 4
    assert found.bytes_asked == 128


@needs_machine_code
def test_the_document_has_each_access(done):
    rows = done.to_dict()["accesses"]
    assert [(row["file"], row["line"], row["array"], row["kind"]) for row in rows] == [
        (each.file, each.line, each.array, each.kind) for each in done.accesses
    ]
    assert {row["array"]: row["used"] for row in rows if row["kind"] == "load"} == {"by": 1.0, "across": 1 / 32}
    shares = [row["share"] for row in rows]
    assert shares == sorted(shares, reverse=True)


def test_of_a_workload_no_access_is_known():
    machine = load_machine("gtx280")
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [*range(32)]]]]}]})
    assert accesses_of(machine, simulate(machine, workload, stalls=True)) == ()

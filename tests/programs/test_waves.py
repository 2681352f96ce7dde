"""HIP programs in waves of 64 lanes (--warp 64), each of which is two warps of their code."""

from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.errors import CompilerError, KernelError
from simtmm.programs.building.flags import WAVES
from simtmm.programs.program import cuda_program
from simtmm.requests.cuda_program import warp_flags

OF_WAVES = warp_flags(64)
ONE = """#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void one(int *out) {
    int v = threadIdx.x;
    CODE
    out[threadIdx.x] = v;
}
int main() {
    int *out, host[1024];
    hipMalloc(&out, sizeof host);
    one<<<1, THREADS>>>(out);
    printf("%d", (int)hipDeviceSynchronize());
    if (hipMemcpy(host, out, 4 * THREADS, hipMemcpyDeviceToHost) == hipSuccess)
        for (int i : {0, 16, 31, THREADS - 1}) printf(" %d", host[i]);
    hipFree(out);
}
"""


@pytest.fixture
def one(tmp_path):
    def program(code, threads):
        (tmp_path / "one.hip").write_text(ONE.replace("CODE", code).replace("THREADS", str(threads)))
        return cuda_program([tmp_path / "one.hip"], [], OF_WAVES)

    return program


def test_exchanges_over_64_lanes_are_right_and_recorded_as_waves(capfd):
    machine = load_machine("mi210")
    outcome = cuda_program([Path(__file__).parent / "parts/waves.hip"], [], OF_WAVES).run(machine)
    assert (outcome.status, capfd.readouterr().out) == (0, "PASSED\n")
    assert outcome.trace.info.warp_size == machine.cores.warp_width == 64
    why = "has waves of 64 lanes, each of which is two warps of its code"
    assert [each.why for each in outcome.trace.info.schedules] == [why, why]
    assert not any("lowered for warps" in each for each in outcome.trace.info.warnings_on(64))


def test_code_has_warps_of_32_without_it_and_the_report_says_what_helps(capfd):
    outcome = cuda_program([Path(__file__).parent / "parts/waves.hip"]).run(load_machine("mi210"))
    assert outcome.status == 1  # it relies on 64 lanes
    assert "shuffles reach 32 lanes" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("code", "threads", "found"),
    [
        ("v += __shfl_down(v, 16);", 96, "0 16 48 78 95"),  # the last wave is a warp: a lane that is not there has 0
        ("v = __popcll(__ballot(v > 3)) + __shfl_xor(v + 1, 32);", 32, "0 28 28 28 28"),
        ("v = __popcll(__activemask()); if (threadIdx.x % 16) v = __popcll(__ballot(1));", 64, "0 64 64 60 60"),
        ("if (threadIdx.x % 2 == 0) v = __shfl(v + 1, 33);", 64, "0 0 0 31 63"),  # of a lane that does not take part
        ("v = __any(v == 40) + 2 * __all(v < 64) + 4 * __any_sync(~0ull, v == 70);", 64, "0 3 3 3 3"),
    ],
)
def test_lanes_that_are_not_there_take_no_part(one, capfd, code, threads, found):
    one(code, threads).run(load_machine("mi210"))
    assert capfd.readouterr().out == found


@pytest.mark.parametrize(
    ("code", "threads", "error", "why"),
    [
        ("v += __shfl_down(v, 16);", 1024, 710, "exchanges over 64 lanes: in blocks of up to 960 threads"),
        ("v += (int)__match_any(v);", 64, 710, "matching and reducing lanes: not supported over 64 lanes"),
        ("if (threadIdx.x < 32) v += __shfl_down(v, 16);", 64, 702, "// for the other half of the wave"),
    ],
)
def test_what_two_warps_can_not_do_ends_the_launch_with_its_reason(one, capfd, code, threads, error, why):
    one(code, threads).run(load_machine("mi210"))
    found = capfd.readouterr()
    assert found.out == str(error)
    assert why in found.err


def test_waves_are_for_hip_programs_on_machines_that_have_them(one, tmp_path):
    with pytest.raises(KernelError, match="--warp 64: H100 SXM has warps of 32 threads"):
        one("", 64).run(load_machine("h100-sxm"))
    (tmp_path / "p.cu").write_text("int main() {}")
    with pytest.raises(
        CompilerError, match=r"--warp 64: is for HIP programs, but .*p.cu includes no hip/hip_runtime.h"
    ):
        cuda_program([tmp_path / "p.cu"], [], OF_WAVES).run(load_machine("mi210"))
    with pytest.raises(KernelError, match="--warp 48: must be 32 or 64"):
        warp_flags(48)
    assert (warp_flags(32), warp_flags(None), OF_WAVES) == ([], [], [f"-D{WAVES}"])


BEHIND = """
#include <cstdio>
__global__ void meet(int *out) {
    __shared__ int of_warps[2];
    unsigned warp = threadIdx.x / 32;
    of_warps[warp] = 7 + warp;
    __syncwarp();
    if (threadIdx.x % 32 < 16) asm volatile("barrier.sync 1, 32;" ::: "memory");
    __syncwarp();
    out[threadIdx.x] = of_warps[warp ^ 1];
}
int main() {
    int *out, host[64];
    cudaMalloc(&out, sizeof host);
    meet<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d", host[0], host[63]);
    cudaFree(out);
}
"""


def test_lanes_at_a_barrier_have_not_come_to_the_syncwarp_behind_it(tmp_path, capfd):
    (tmp_path / "p.cu").write_text(BEHIND)
    assert cuda_program([tmp_path / "p.cu"]).run().status == 0
    assert capfd.readouterr().out == "8 7"

"""Launches that repeat one: not run, and memory is as if they had."""

import dataclasses

import pytest

from simtmm.cuda.device import DeviceLaunch
from simtmm.device.own_clock import OwnClock
from simtmm.programs import recording, repeats
from simtmm.programs.program import cuda_program
from simtmm.programs.repeats import MOST_MISSES, _Kind
from simtmm.recorder.selection import Selection
from tests.test_keys import keys_apart

PROGRAM = """
#include <cstdio>
#include <cstring>
__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void add(const int *x, int *y, int n) { if (place() < n) y[place()] = x[place()] + 1; }
__global__ void grow(int *x, int n) { if (place() < n) x[place()] = 3 * x[place()] + 1; }
__global__ void count(const int *x, int *bins, int n) { if (place() < n) atomicAdd(&bins[x[place()] & 7], 1); }
__global__ void say(const int *x) { if (!threadIdx.x) printf("x %d\\n", *x); }
__device__ int total;
__global__ void sum(const int *x) { atomicAdd(&total, x[threadIdx.x]); }
int main() {
    const int n = 1000, rounds = 40;
    int *x, *y, *bins, *shared, host[n], found[8], result = 0;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&x, sizeof host); cudaMalloc(&y, sizeof host); cudaMalloc(&bins, sizeof found);
    cudaMallocManaged(&shared, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    unsigned long long digest = 0;
    auto digested = [&](const int *of, int count) {
        for (int i = 0; i < count; i++) digest = digest * 31 + (unsigned)of[i];
    };
    for (int r = 0; r < rounds; r++) {
        add<<<4, 256>>>(x, y, n);                        // the same again
        cudaMemset(bins, 0, sizeof found);
        count<<<4, 256>>>(x, bins, n);                   // the same again on cleared memory
        cudaMemcpy(found, bins, sizeof found, cudaMemcpyDeviceToHost);
        digested(found, 8);
        if (r % 3 == 0) memcpy(shared, host, sizeof host);  // the host's own writing
        grow<<<4, 256>>>(shared, n);                     // another state each time, and sometimes one of before
        cudaDeviceSynchronize();
        digested(shared, n);
        sum<<<1, 32>>>(x);                               // never the same
        if (r == 20) { host[0] = 77; cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice); }
    }
    cudaMemcpyFromSymbol(&result, total, sizeof result);
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    digested(host, n);
    say<<<1, 1>>>(x); say<<<1, 1>>>(x); say<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    printf("%llu %d\\n", digest, result);
    cudaFree(x); cudaFree(y); cudaFree(bins); cudaFree(shared);
}
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "again.cu").write_text(PROGRAM)
    return cuda_program([tmp_path / "again.cu"], clock=OwnClock(has_host_time=False))


def test_a_program_prints_the_same_whether_launches_that_repeat_one_run_or_not(program, capfd):
    """The whole is recorded; of a part of the launches the others need not run."""
    whole = program.run()
    printed = capfd.readouterr().out
    assert printed.count("x 77") == 3
    assert (whole.launched, whole.recorded) == (163, 163)
    few = dataclasses.replace(program, selection=Selection("say")).run()
    assert capfd.readouterr().out == printed
    assert (few.launched, few.recorded) == (163, 3)
    assert whole.not_run == 0
    assert few.not_run > 2 * 30  # of `add`, of `count` on cleared memory, and of `grow` where it begins anew


MANY = """
#include <cstdio>
#include <chrono>
__global__ void add(const int *x, int *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i] + 1; }
int main() {
    int *x, *y, last;
    cudaMalloc(&x, 512); cudaMalloc(&y, 512); cudaMemset(x, 0, 512);
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 700; i++) add<<<2, 64>>>(x, y);
    cudaDeviceSynchronize();
    double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cudaMemcpy(&last, y + 127, 4, cudaMemcpyDeviceToHost);
    printf("%d %.1f us\\n", last, 1e6 * took / 700);
    cudaFree(x); cudaFree(y);
}
"""


def test_launches_behind_the_first_of_a_trace_are_not_run_again_and_count_on_the_clock(tmp_path, capfd):
    (tmp_path / "many.cu").write_text(MANY)
    program = cuda_program([tmp_path / "many.cu"], clock=OwnClock(has_host_time=False))
    outcome = program.run()
    assert capfd.readouterr().out == "1 4.5 us\n"
    assert (outcome.launched, outcome.recorded) == (700, recording.RECORDED_LAUNCHES)
    assert outcome.trace.info.warnings[0].startswith("500 launches repeated earlier ones")


def test_a_launch_is_the_same_as_another_by_all_that_decides_what_it_does():
    """But for what no kernel that is followed looks at: textures; and where errors begin, and who may run beside it."""
    parts = {
        "function": ("f", "g"), "grid": ((1, 2, 3), (1, 2, 4), (2, 1, 3)), "block": ((4, 5, 6), (4, 6, 5), (1, 5, 6)),
        "parameters": (b"\0", b"\1", b"\0\0", b""), "shared_bytes": (0, 64), "where": ("", "k.cu"),
        "textures": (b"", b"t"), "chosen": ((), (1,)), "concurrent": (False, True), "cluster": (None, (2, 1, 1)),
    }  # fmt: skip
    assert {*parts} == {"function", *(field.name for field in dataclasses.fields(DeviceLaunch))}
    functions = {name: object() for name in parts["function"]}

    def key(function, **launch):
        return repeats._key(functions[function], DeviceLaunch(**launch))

    keys_apart(key, parts, apart=("where", "textures", "chosen", "concurrent"))


def test_a_kind_that_never_repeats_is_looked_at_ever_more_seldom():
    def followed(misses, is_cheap=False):
        return [number for number in range(1, 33) if _Kind(launches=number, misses=misses).pays(is_cheap)]

    every = list(range(2, 33))
    assert followed(MOST_MISSES - 1) == every
    assert followed(MOST_MISSES) == list(range(2, 33, 2))
    assert followed(MOST_MISSES + 1) == list(range(4, 33, 4))
    assert followed(MOST_MISSES + 3) == [16, 32]
    assert followed(MOST_MISSES + 40) == []
    assert followed(MOST_MISSES + 40, is_cheap=True) == every

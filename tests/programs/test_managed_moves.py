"""Managed memory that kernels and the host use in turn: the time of each move, by the machine's link."""

from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.device.host import IN, OUT, host_of
from simtmm.device.own_clock import OwnClock
from simtmm.programs.program import cuda_program

MIB = 1 << 20
BLOCK = 65536  # bytes that the host's fault brings along (simtmm/programs/runtime/managed.cpp)
ROUND = 0.3e-6  # of what is printed, and the time that the clock's own reading takes


@pytest.fixture
def steps(capfd):
    def seconds(machine):
        program = cuda_program([Path(__file__).parent / "managed_moves.cu"], clock=OwnClock(has_host_time=False))
        assert program.run(machine).status == 0
        *lines, last = capfd.readouterr().out.splitlines()
        assert last == "PASSED"
        return {words[0]: float(words[1]) / 1e6 for words in map(str.split, lines) if len(words) == 2}

    return seconds


@pytest.mark.parametrize("name", ["h100-sxm", "t4"])
def test_managed_memory_that_the_host_uses_comes_back_and_goes_to_the_device_again(steps, name):
    machine = load_machine(name)
    host, found = host_of(machine), steps(machine)
    alone = found["other_kernel"]  # one that is given no managed memory
    fetched, returned = 16 * MIB * host.touched, 16 * MIB * host.returned

    def near(step, seconds):
        assert found[step] == pytest.approx(seconds, abs=ROUND), step

    for step in ("comes", "comes_again", "new_comes"):
        near(step, alone + fetched)
    for step in ("stays", "stays_again", "sent_stays", "read_mostly", "small_stays"):
        near(step, alone)
    for step in ("read", "new_read"):
        near(step, returned)
    for step in ("again", "read_there", "own_copy", "on_host"):
        near(step, 0.0)
    near("one_page", BLOCK * host.returned)
    near("page_comes", alone + BLOCK * host.touched)
    near("system_call", MIB * host.returned)
    near("small_comes", alone + BLOCK * host.touched)
    near("small_read", BLOCK * host.returned)
    assert found["sent"] == pytest.approx(16 * MIB * host.prefetched, rel=0.05)
    assert found["sent_back"] == pytest.approx(15 * MIB * host.prefetched_back, rel=0.05)  # but what the host has
    assert found["across"] == found["across_again"] == pytest.approx(alone + host.engine(IN, 16 * MIB), abs=ROUND)


def test_a_host_that_uses_the_devices_memory_where_it_is_takes_nothing_back(steps):
    found = steps(load_machine("gh200"))
    assert [found[step] for step in ("read", "one_page", "system_call", "small_read")] == [0.0] * 4
    assert found["comes_again"] == found["stays"]


def test_two_runs_without_the_time_of_its_own_code_are_equal(steps):
    machine = load_machine("h100-sxm")
    assert steps(machine) == steps(machine)


def test_moves_of_managed_memory_take_the_links_time(capfd):
    fast, slow = (host_of(load_machine(name)) for name in ("h100-sxm", "t4"))
    for way, rates in ((IN, ("touched", "prefetched")), (OUT, ("returned", "prefetched_back"))):
        longer = (slow.engine(way, 64 * MIB) - fast.engine(way, 64 * MIB) - slow.engine(way, 16 * MIB)
                  + fast.engine(way, 16 * MIB)) / (48 * MIB)  # fmt: skip
        for rate in rates:
            assert getattr(slow, rate) - getattr(fast, rate) == pytest.approx(longer)
            assert getattr(slow, rate) > (slow.engine(way, 64 * MIB) - slow.engine(way, 16 * MIB)) / (48 * MIB)


MANY = """
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>
__global__ void one(int *x) { x[0] += 1; }
int main() {
    const int COUNT = 600, BYTES = 131072;
    std::vector<int *> all(COUNT);
    for (auto &each : all) {
        if (cudaMallocManaged(&each, BYTES)) return 1;
        memset(each, 0, BYTES);
    }
    for (int k = 0; k < COUNT; k += 3) cudaFree(all[k]);
    for (int k = 0; k < COUNT; k += 3) cudaMallocManaged(&all[k], BYTES - k), memset(all[k], 0, BYTES - k);
    int *last = all[COUNT - 2];
    for (int round = 0; round < 3; round++) {
        auto begin = std::chrono::steady_clock::now();
        one<<<1, 1>>>(last);
        cudaDeviceSynchronize();
        auto end = std::chrono::steady_clock::now();
        int found = last[0];
        auto read = std::chrono::steady_clock::now();
        printf("%d %.1f %.1f\\n", found, std::chrono::duration<double, std::micro>(end - begin).count(),
               std::chrono::duration<double, std::micro>(read - end).count());
    }
    for (auto each : all) cudaFree(each);
}
"""


def test_managed_memory_in_many_pieces_moves_no_more_than_what_is_used(tmp_path, capfd):
    (tmp_path / "many.cu").write_text(MANY)
    machine = load_machine("h100-sxm")
    host = host_of(machine)
    assert cuda_program([tmp_path / "many.cu"], clock=OwnClock(has_host_time=False)).run(machine).status == 0
    rows = [[float(word) for word in line.split()] for line in capfd.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == [1, 2, 3]
    assert [row[2] for row in rows] == pytest.approx([1e6 * BLOCK * host.returned] * 3, abs=0.3)
    first, *others = (row[1] for row in rows)
    assert others == pytest.approx([first - 1e6 * BLOCK * host.touched] * 2, abs=0.3)

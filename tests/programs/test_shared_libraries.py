"""Libraries that a program loads: their clocks, waits and ends are the program's."""

import pytest

from simtmm.children.start import run as run_child
from simtmm.cuda.compilers.wheels import find_host_compiler
from simtmm.device.own_clock import OwnClock
from simtmm.programs.program import cuda_program

LINKED = """#include <chrono>
#include <cstdlib>
#include <thread>
extern "C" long long linked() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
extern "C" void rest() { std::this_thread::sleep_for(std::chrono::hours(1)); }
extern "C" void leave() { exit(3); }
"""
LOADED = """#include <time.h>
static int (*kept)(clockid_t, struct timespec *) = clock_gettime;
static struct timespec t;
long long loaded() { clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }
long long by_pointer() { kept(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }
"""
PROGRAM = """#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
extern "C" long long linked();
extern "C" void rest();
extern "C" void leave();
__global__ void one(int *x) { *x = 1; }
static long long here() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }
int main(int count, char **words) {
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    auto loaded = (long long (*)())dlsym(library, "loaded"), by_pointer = (long long (*)())dlsym(library, "by_pointer");
    int *x;
    cudaMalloc(&x, sizeof(int));
    for (auto clock : {linked, loaded, by_pointer}) {
        long long before = here(), found = clock(), after = here();
        if (found < before || found > after) printf("%lld is not between %lld and %lld\\n", found, before, after);
    }
    long long before = here();
    one<<<1, 1>>>(x);
    rest();
    printf("%lld s\\n", (here() - before) / 1000000000);
    cudaFree(x);
    leave();
}
"""


@pytest.fixture
def folder(tmp_path):
    for name, text in (("linked.cpp", LINKED), ("loaded.c", LOADED), ("program.cu", PROGRAM)):
        (tmp_path / name).write_text(text)
    host = find_host_compiler()
    for source, library, words in (("linked.cpp", "liblinked.so", []),
                                   ("loaded.c", "loaded.so", ["-x", "c", "-Wl,-z,relro,-z,now"])):  # fmt: skip
        words = [host, "-shared", "-fPIC", "-O2", *words, str(tmp_path / source), "-o", str(tmp_path / library)]
        assert run_child(words).status == 0
    return tmp_path


@pytest.mark.parametrize("has_host_time", [False, True])
def test_shared_libraries_read_the_programs_clock_and_end_it_as_it_would(folder, capfd, has_host_time):
    clock = OwnClock(has_host_time=has_host_time)
    options = ["-L", str(folder), "-llinked"]
    outcome = cuda_program([folder / "program.cu"], [str(folder / "loaded.so")], options, clock=clock).run()
    assert capfd.readouterr().out == "3600 s\n"
    assert (outcome.status, outcome.launched, outcome.recorded) == (3, 1, 1)


def test_a_library_that_is_not_there_any_more_is_named(folder):
    program = cuda_program([folder / "program.cu"], ["x"], ["-L", str(folder), "-llinked"])
    program.build(90)
    (folder / "liblinked.so").unlink()
    outcome = program.run()
    assert outcome.status == 2
    assert "program.cu: liblinked.so: cannot open shared object file" in outcome.why_none

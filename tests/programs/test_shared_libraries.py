"""Libraries that a program loads: their clocks, waits and ends are the program's."""

import os
import platform

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
CYCLES = """#include <immintrin.h>
#include <x86intrin.h>
long long plain() { return __rdtsc(); }
long long serial() {
    unsigned processor = 7;
    long long found = __rdtscp(&processor);
    return processor == 0 ? found : -1;
}
// Their bytes in a constant, and below the stack's end, in registers and flags what a read must leave there.
unsigned constant() { unsigned x; asm volatile("movl $0xf9010f31, %0" : "=r"(x)); return x - 0xf9010f31 + 5; }
unsigned hidden() { unsigned found; asm volatile("movl $0x310f, %0" : "=r"(found)); return found; }
double kept(double x) {
    double a[8], sum = 0;
    for (int i = 0; i < 8; i++) a[i] = x * i;
    unsigned low, high; int equal;
    asm volatile("cmpl $5, %[five]\\n\\trdtsc\\n\\tsete %b[equal]"
                 : [equal] "=&q"(equal), "=&a"(low), "=&d"(high) : [five] "r"(5) : "cc");
    for (int i = 0; i < 8; i++) sum += a[i];
    return (equal & 255) == 1 ? sum : -1;
}
"""
READS = """#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <unistd.h>
__global__ void one(int *x) { *x = 1; }
static long long here() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }
int main(int count, char **words) {
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    int *x;
    cudaMalloc(&x, sizeof(int));
    for (auto name : {"plain", "serial"}) {
        auto clock = (long long (*)())dlsym(library, name);
        for (int round = 0; round < 3; round++) {
            long long before = here(), found = clock(), after = here();
            if (found < before || found > after) printf("%s: %lld not in %lld to %lld\\n", name, found, before, after);
            if (round == 0) one<<<1, 1>>>(x), sleep(3600);
        }
    }
    printf("%x %x %g\\n", ((unsigned (*)())dlsym(library, "constant"))(), ((unsigned (*)())dlsym(library, "hidden"))(),
           ((double (*)(double))dlsym(library, "kept"))(2));
    cudaFree(x);
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


@pytest.fixture
def cycles(tmp_path):
    (tmp_path / "cycles.c").write_text(CYCLES)
    (tmp_path / "reads.cu").write_text(READS)
    words = ["-shared", "-fPIC", "-O2", "-w", "-x", "c", str(tmp_path / "cycles.c"), "-o", str(tmp_path / "cycles.so")]
    assert run_child([find_host_compiler(), *words]).status == 0
    return tmp_path


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="rdtsc is x86's")
@pytest.mark.parametrize("has_host_time", [False, True])
def test_the_processors_cycles_are_the_programs_clock_in_shared_libraries_too(cycles, capfd, has_host_time):
    clock = OwnClock(has_host_time=has_host_time)
    outcome = cuda_program([cycles / "reads.cu"], [str(cycles / "cycles.so")], clock=clock).run()
    found = capfd.readouterr()
    assert (found.out, outcome.status) == ("5 310f 56\n", 0)
    assert "processor's cycles" not in found.err


def test_a_library_whose_code_can_not_be_read_keeps_this_computers_cycles_and_is_named(cycles, capfd, monkeypatch):
    tools = cycles / "tools"
    tools.mkdir()
    (tools / "objdump").write_text("#!/bin/sh\nexit 1\n")
    (tools / "objdump").chmod(0o755)
    program = cuda_program([cycles / "reads.cu"], [str(cycles / "cycles.so")])
    program.build(90)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    program.run()
    found = capfd.readouterr()
    assert "plain: " in found.out
    assert f"simtmm: note: {cycles / 'cycles.so'} may read the processor's cycles" in found.err


def test_a_library_that_is_not_there_any_more_is_named(folder):
    program = cuda_program([folder / "program.cu"], ["x"], ["-L", str(folder), "-llinked"])
    program.build(90)
    (folder / "liblinked.so").unlink()
    outcome = program.run()
    assert outcome.status == 2
    assert "program.cu: liblinked.so: cannot open shared object file" in outcome.why_none

"""Whole CUDA C++ programs as people write them, each with its own check."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.device.host import host_of
from simtmm.device.own_clock import OwnClock
from simtmm.engine import simulate
from simtmm.programs.program import cuda_program
from simtmm.trace.io import load_trace
from simtmm.trace.lower import lower
from simtmm.watch import watched
from simtmm.workload import GRID_BARRIER
from tests.examples import daily

HERE = Path(__file__).parent
RIGHT = sorted(path.name for path in HERE.glob("*.cu") if not path.name.startswith("wrong_"))
LOOP = """#include <chrono>
#include <cstdio>
__global__ void one(int *x) { *x = 1; }
int main() {
    int *x;
    cudaMalloc(&x, sizeof(int));
    auto begin = std::chrono::steady_clock::now();
    one<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    volatile double sum = 0;
    for (int i = 0; i < 10000000; i++) sum += i;
    printf("%.9f s\\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    cudaFree(x);
}
"""
FLAGS = {"lambdas.cu": ["--extended-lambda", "-std=c++17"], "linked.cu": ["-rdc=true"]}
FILES = {"linked.cu": ["linked.cu", "parts/linked_part.cu"]}


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(HERE)


@pytest.mark.parametrize("name", RIGHT)
def test_program_passes_its_own_check(name, tmp_path, capfd):
    output = tmp_path / "trace.parquet"
    outcome = cuda_program(FILES.get(name, [name]), options=FLAGS.get(name, [])).run(output=output)
    assert capfd.readouterr().out.splitlines()[-1] == "PASSED"
    assert (outcome.status, outcome.recorded) == (0, outcome.launched)
    assert outcome.trace.info.events > 0
    assert {site.file for site in outcome.trace.info.sites} & {name, "check.h"} or name.startswith(("thrust", "cub"))


@pytest.mark.parametrize(("name", "reserved"), [("a40", 1024), ("t4", 0), ("a40-printed", 0)])
def test_a_program_is_told_the_blocks_that_the_machine_holds(name, reserved, capfd):
    machine = load_machine(name.removesuffix("-printed"))
    if name.endswith("-printed"):
        machine = machine.replace({f"resources.{key}": None for key in ("register_unit", "shared_memory_reserved")})
    cuda_program(["occupancy.cu"]).run(machine)
    first, *rows, last = capfd.readouterr().out.splitlines()
    registers, told = (int(text.split()[-1]) for text in first.split(", "))
    assert (told, last) == (reserved, "PASSED")
    for threads, shared, blocks in (map(int, row.split()) for row in rows):
        assert blocks == machine.active_blocks(threads, registers, shared), (threads, shared)
    assert len(rows) == 35


def test_two_recordings_by_one_command_are_equal_byte_for_byte_and_name_it(tmp_path):
    words = ("record", "bitonic.cu", "--kernel", "across", "--count", "2", "-o", str(tmp_path / "trace.parquet"))
    contents = []
    for _ in range(2):
        command(*words, check=0)
        contents.append((tmp_path / "trace.parquet").read_bytes())
    assert contents[0] == contents[1]
    provenance = load_trace(tmp_path / "trace.parquet").info.provenance
    assert provenance["command"] == " ".join(["python -m simtmm", *words])


def test_the_blocks_of_a_cooperative_launch_wait_for_one_another(tmp_path):
    output = tmp_path / "trace.parquet"
    cuda_program(["grid_sync.cu"]).run(output=output)
    trace, machine = load_trace(output), load_machine("h100-sxm")
    workload = lower(trace, machine)
    assert (workload.kind == GRID_BARRIER).sum() == trace.info.launches[0].blocks
    later = machine.replace({"scheduling.grid_barrier": machine.scheduling.grid_barrier + 1000})
    ticks = [simulate(each, lower(trace, each), breakdown=False).ticks for each in (machine, later)]
    assert ticks[1] - ticks[0] == 1000 * machine.ticks_per_cycle
    alone = machine.replace({"scheduling.grid_barrier": None})
    assert not (lower(trace, alone).kind == GRID_BARRIER).any()


def test_kernels_of_a_graph_take_one_call_and_the_overhead_of_a_node(capfd):
    machine = load_machine("h100-sxm")
    repeating = OwnClock(has_host_time=False)
    cuda_program(["graph_times.cu"], clock=repeating).run(machine)
    first, last = capfd.readouterr().out.splitlines()
    launched, of_graph, again, behind = (float(milliseconds) / 1e3 for milliseconds in first.split()[:4])
    host = host_of(machine)
    assert last == "PASSED"
    assert (again, behind) == (of_graph, launched)  # what a graph has launched ends with it
    assert of_graph == pytest.approx(host.call("launch") + host.call("record"), rel=1e-5)  # three short kernels
    assert launched == pytest.approx(3 * host.call("launch") + host.call("record"), rel=1e-5)
    slow = machine.replace({"scheduling.launch_overhead": 40_000, "scheduling.graph_launch_overhead": 30_000})
    cuda_program(["graph_times.cu"], clock=repeating).run(slow)
    launched, of_graph = (float(each) / 1e3 for each in capfd.readouterr().out.split()[:2])
    assert launched - of_graph == pytest.approx(2 * 10_000 / machine.clock_hz, rel=1e-4)


@pytest.mark.parametrize("has_host_time", [False, True])
def test_all_clocks_of_a_program_tell_the_machines_time(has_host_time, capfd):
    words = [] if has_host_time else ["exactly"]
    outcome = cuda_program(["own_clocks.cu"], words, clock=OwnClock(has_host_time=has_host_time)).run()
    assert (outcome.status, capfd.readouterr().out) == (0, "PASSED\n")


def test_a_program_without_the_time_of_its_own_code_prints_the_same_each_time(tmp_path, capfd):
    (tmp_path / "loop.cu").write_text(LOOP)
    printed = []
    for has_host_time in (False, False, True):
        cuda_program([tmp_path / "loop.cu"], clock=OwnClock(has_host_time=has_host_time)).run()
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1]
    without, counted = (float(text.split()[0]) for text in printed[1:])
    assert without < 1e-3 < counted  # 10^7 rounds of a loop


def test_own_times_are_of_all_blocks_whatever_is_recorded(capfd):
    program = cuda_program(["streams_events.cu"], clock=OwnClock(has_host_time=False))
    program.run()
    of_all = capfd.readouterr().out
    trace = dataclasses.replace(program, sample_blocks=2).run().trace
    assert trace.info.sampling.recorded == (2, 2)
    assert capfd.readouterr().out == of_all


def test_a_stream_prints_what_memory_gives_though_few_of_its_blocks_are_timed(capfd):
    """50 MB beside an L2 of 6: no launch finds the arrays there. Read from there they would come at 1.6 TB/s."""
    machine = load_machine("v100")
    outcome = cuda_program(["streams.cu"], ["22"], clock=OwnClock(has_host_time=False)).run(machine)
    assert outcome.trace is not None, outcome.why_none
    assert "first blocks, in proportion" in " ".join(outcome.trace.info.warnings)
    rates = [float(line.split()[0]) for line in capfd.readouterr().out.splitlines() if line.endswith("GB/s")]
    assert len(rates) == 3
    assert all(0.6 <= 1e9 * rate / machine.peak_bandwidth <= 1.0 for rate in rates)


def command(*words, check=None):
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", *words], capture_output=True, text=True, check=False, timeout=600
    )
    if check is not None:
        assert done.returncode == check, done.stderr
    return done


def test_program_runs_and_has_a_verdict():
    done = command("run", "gemm.cu", "--machine", "h100-sxm", "--no-what-if", "--", "33", check=0)
    assert done.stdout.startswith("PASSED\n1 of 1 launches of gemm.cu are recorded\n")
    assert "Where in the program" in done.stdout
    assert "gemm.cu:" in done.stdout


def test_launches_are_selected_and_the_others_run(tmp_path):
    trace = tmp_path / "t.parquet"
    done = command("record", "bitonic.cu", "--kernel", "across", "--count", "2", "-o", str(trace), check=0)
    assert "PASSED" in done.stdout
    assert "2 of 20 launches of bitonic.cu are recorded" in done.stdout
    assert trace.is_file()


def test_access_out_of_bounds_names_line_and_array():
    done = command("run", "wrong_bounds.cu", check=1)
    assert "wrong_bounds.cu:5: `numbers[i] = i;`" in done.stderr
    assert "index 100 of d_numbers, which has 100 elements (int32): out of bounds" in done.stderr
    assert "an illegal memory access was encountered" in done.stderr


FREED = """
__global__ void fill(int* p) { p[threadIdx.x] = 1; }

int main() {
    int *first, *second;
    cudaMalloc(&first, 256);
    cudaFree(first);
    cudaMalloc(&second, 256);
    fill<<<1, 64>>>(first + 2);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress;
}
"""


def test_access_to_memory_that_no_launch_has_seen_before_it_was_freed_is_told_so(tmp_path):
    (tmp_path / "freed.cu").write_text(FREED)
    done = command("run", str(tmp_path / "freed.cu"), check=1)
    assert "byte 8 of first" in done.stderr or "index 8 of first" in done.stderr
    assert f"(freed at {tmp_path}/freed.cu:7)" in done.stderr or "(freed at freed.cu:7)" in done.stderr
    assert "used after it was freed" in done.stderr
    assert "out of bounds" not in done.stderr


def test_wrong_sizes_unset_memory_and_leaks_are_reported():
    done = command("run", "wrong_copy.cu", check=0)
    assert "wrong_copy.cu:7: cudaMemcpy: 256 bytes are not in d_small, which has 128 bytes" in done.stderr
    assert "wrong_copy.cu:8: cudaMemcpy reads d_unset, to which nothing has been written" in done.stderr
    assert "the program never asked for its last error: invalid argument" in done.stderr
    assert "never freed: 384 bytes: d_small (wrong_copy.cu:5), d_unset (wrong_copy.cu:6)" in done.stderr
    assert done.stderr.splitlines()[-1] == "simtmm: wrong_copy.cu: launched no kernel"


def test_host_code_that_reads_memory_of_the_device_is_reported():
    done = command("run", "wrong_copy.cu", "--", "read", check=128 + 11)
    assert "host code accesses device memory: byte 0 of d_small (wrong_copy.cu:5)" in done.stderr


def test_calls_of_libraries_end_in_one_line(tmp_path):
    source = tmp_path / "blas.cu"
    source.write_text("#include <cublas_v2.h>\nint main() { cublasHandle_t h; return cublasCreate(&h); }\n")
    done = command("run", str(source), check=2)
    assert "calls cublasCreate, of cuBLAS: library calls are not supported" in done.stderr.splitlines()[-1]


def test_calls_that_nobody_defines_end_in_one_line(tmp_path):
    source = tmp_path / "gone.cu"
    source.write_text("#include <cuda.h>\nint main() { return cuLinkDestroy(nullptr); }\n")
    done = command("run", str(source), check=2)
    assert "calls cuLinkDestroy, a function of the driver API" in done.stderr.splitlines()[-1]


def test_launches_from_the_device_end_in_one_line(tmp_path):
    source = tmp_path / "nested.cu"
    source.write_text(
        "__global__ void child(int* x) { x[threadIdx.x] = 1; }\n"
        "__global__ void parent(int* x) { child<<<1, 32>>>(x); }\n"
        "int main() { int* x; cudaMalloc(&x, 128); parent<<<1, 1>>>(x); return cudaDeviceSynchronize(); }\n"
    )
    done = command("run", str(source), "--build", "-rdc=true", check=2)
    assert done.stderr.splitlines()[-1].endswith("from the device (dynamic parallelism), which is not supported")


def test_input_output_and_exit_status_are_the_programs(tmp_path):
    source = tmp_path / "echo.cu"
    source.write_text(
        "#include <cstdio>\n#include <cstdlib>\n__global__ void nothing(int *x) { *x = 1; }\n"
        'int main(int argc, char **argv) { int n = 0; scanf("%d", &n); int *x; cudaMalloc(&x, 4);\n'
        'nothing<<<1, 1>>>(x); printf("%s %d\\n", argv[argc - 1], n); cudaFree(x); exit(7); }\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", "record", str(source), "-o", str(tmp_path / "t.parquet"), "--", "last word"],
        capture_output=True, text=True, check=False, input="42\n",
    )  # fmt: skip
    assert done.returncode == 7
    assert done.stdout.startswith("last word 42\n")


LONG = """
__global__ void spin(volatile float* x, int turns) {
    x += blockIdx.x * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < turns; turn++) *x = *x + 1;
}
int main() {
    float* x;
    cudaMalloc(&x, 512 * 256 * sizeof(float));
    spin<<<512, 256>>>(x, 200);
    return cudaDeviceSynchronize() || cudaFree(x);
}
"""


def test_all_blocks_of_a_long_launch_are_recorded_and_how_far_it_is_shows(tmp_path):
    source = tmp_path / "spin.cu"
    source.write_text(LONG)
    told = []
    with watched(lambda stage, done, total: told.append((stage, done, total))):
        outcome = cuda_program([source]).run(output=tmp_path / "t.parquet")
    assert outcome.trace.info.sampling is None
    assert outcome.trace.info.events > 2 * 200 * 512 * 256  # 52 million loads and stores, and what lies between
    launch = [(done, total) for stage, done, total in told if stage == "recording launch 1"]
    assert launch == sorted(launch)
    assert {total for _, total in launch} == {512}
    assert any(0 < done < 512 for done, _ in launch)


def test_of_a_sample_what_is_left_out_is_told(tmp_path):
    outcome = cuda_program(["histogram.cu"], sample_blocks=2).run(output=tmp_path / "t.parquet")
    sampling = outcome.trace.info.sampling
    assert sampling is not None
    assert set(sampling.recorded) == {2}
    assert sum(sampling.left_out) > 0


@pytest.mark.parametrize("name", daily(["a100-80", "h100-sxm", "v100"]))
def test_device_clocks_are_within_ten_per_cent_of_the_machines_latencies(name, capfd):
    machine = load_machine(name)
    outcome = cuda_program(["device_clocks.cu"], clock=OwnClock(has_host_time=False)).run(machine)
    assert outcome.status == 0
    kernels = "chase, shared_chase, spin, timer, wait_for_the_slowest"
    assert outcome.trace.info.warnings[-1] == f"device clocks are estimated, as {kernels} read them"
    found = {word: int(number) for word, number in map(str.split, capfd.readouterr().out.splitlines()[:-1])}
    memory = machine.memory
    assert found["l1"] == pytest.approx(memory.l1.latency, rel=0.1, abs=12)  # and the instructions of the loop
    assert found["l2"] == pytest.approx(memory.l2.latency, rel=0.1)
    assert found["memory"] == pytest.approx(memory.latency, rel=0.1)
    assert found["shared"] == pytest.approx(machine.banks.latency, rel=0.1, abs=12)
    assert found["spin"] == pytest.approx(1_000_000, rel=1e-3)
    for timed in ("event", "timer"):  # in ns, of 10^6 cycles
        assert found[timed] == pytest.approx(1e6 * 1e9 / machine.clock_hz, rel=0.02)
    assert 20_000 <= found["barrier"] < 20_500


@pytest.mark.parametrize("name", daily(["v100", "a100-80", "h100-sxm"]))
def test_chains_of_loads_take_as_long_by_the_devices_clock_as_by_events(name, capfd):
    machine = load_machine(name)
    cuda_program(["parts/latencies.cu"], clock=OwnClock(has_host_time=False)).run(machine)
    rows = [line.replace(";", " ;").split() for line in capfd.readouterr().out.splitlines()]
    found = {row[0]: (float(row[row.index("clock64") + 1]), float(row[row.index("events") + 1])) for row in rows}
    last = {row[0]: float(row[5]) for row in rows if "2112" in row}
    memory = machine.memory
    latency = {
        "L1": memory.l1.latency,
        "L2": memory.l2.latency,
        "DRAM": memory.latency,
        "shared": machine.banks.latency,
    }
    assert found.keys() == latency.keys()
    for level, (of_64, by_events) in found.items():
        assert last.get(level, of_64) == pytest.approx(by_events, rel=0.1)
        assert latency[level] < by_events < 1.45 * latency[level]  # that level, and an address
        if level in ("L1", "L2", "shared"):
            assert of_64 == pytest.approx(by_events, rel=0.1)


def test_a_program_with_a_graph_is_not_advised_to_have_one(tmp_path):
    output = tmp_path / "trace.parquet"
    cuda_program(["graph_times.cu"]).run(output=output)
    info = load_trace(output).info
    assert info.in_graph == 4  # of 3 in each of two graphs, two
    cost = {"scheduling.launch_overhead": 3000, "scheduling.graph_launch_overhead": 1000}
    on = load_machine("h100-sxm").replace(cost)
    done = run(output, on)
    told = {each.change for each in done.advice}
    as_dear = run(output, on.replace({"scheduling.graph_launch_overhead": 3000}), what_if=False)
    assert as_dear.result.ticks - done.result.ticks == 4 * 2000 * on.ticks_per_cycle
    assert "graph" not in told
    assert "fuse" in told

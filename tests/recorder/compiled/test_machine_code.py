"""Machine code beside PTX: what makes a kernel be recorded as PTX, and what is said then."""

import numpy as np
import pytest

import simtmm
from simtmm import load_trace
from simtmm.analysis.run import run
from simtmm.cuda.compilers.binaries import disassembly
from simtmm.cuda.compilers.release import assembler_release
from simtmm.cuda.disagreement import comparison, memory
from simtmm.cuda.ptx.syntax import Address, Immediate
from simtmm.cuda.sass import families
from simtmm.errors import CompilerError
from simtmm.report.run import describe

SAXPY = """
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
ARGUMENTS = ("n=40", "a=2f", "x=ones:float32:40", "y=ones:float32:40")


def lines_of(report):
    return [str(part) for part in describe(report)]


@pytest.fixture
def misread(monkeypatch):
    """Have an opcode be lifted by another handler."""

    def make(opcode, handler):
        monkeypatch.setitem(families.HANDLERS, opcode, handler)

    return make


def test_a_kernel_that_gives_other_values_than_its_ptx_is_recorded_as_ptx_with_the_place(ran, misread):
    def wrong(lifting, instruction):
        to, a, _, c = instruction.operands
        lifting.write(to, lifting.value("add.rn.f32", "b32", lifting.real(a), lifting.real(c)))

    misread("FFMA", wrong)
    trace = ran(SAXPY, 2, 32, ARGUMENTS)
    (schedule,) = trace.info.schedules
    assert schedule.instructions == "ptx"
    assert schedule.why.startswith("launch 0 differs from its PTX: y, element 0: 3.0 as PTX, 2.0 as machine code")
    assert "they first differ at k.cu:6: PTX line" in schedule.why
    assert "`fma.rn.f32 " in schedule.why
    assert any(site.instruction.startswith("ld.global.f32") for site in trace.info.sites)
    assert not any(site.instruction.startswith("LDG") for site in trace.info.sites)
    report = run(trace, "h100-sxm", engine="reference")
    assert any(line.startswith("Warning: saxpy: PTX's instructions") for line in lines_of(report))
    assert report.to_dict()["schedules"][0]["why"] == schedule.why


def test_a_kernel_whose_machine_code_leaves_an_array_is_recorded_as_ptx(ran, misread):
    def wrong(lifting, instruction):
        lifting.access("ld.global.b32", lifting.temporary("b32"), Address(Immediate(0)))

    misread("LDG", wrong)
    trace = ran(SAXPY, 2, 32, ARGUMENTS)
    assert trace.info.schedules[0].instructions == "ptx"
    assert "the null pointer" in trace.info.schedules[0].why


TURNS = """
__global__ void turns(int* out)
{
    __shared__ volatile int lock, held;
    if (!threadIdx.x) lock = held = 0;
    __syncthreads();
    while (atomicCAS((int*)&lock, 0, 1)) ;
    held = held + threadIdx.x;
    __threadfence_block();
    lock = 0;
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += held;
}
"""


def test_a_kernel_whose_machine_code_cannot_go_on_is_recorded_as_ptx(ran, monkeypatch):
    # ptxas releases this lock behind a WARPSYNC at which the lanes that want it are waited for.
    monkeypatch.setattr(comparison, "SECONDS", 600.0)  # the proof comes long before, on any computer
    trace = ran(TURNS, arguments=("out=zeros:int32:32",), architecture=75)
    (schedule,) = trace.info.schedules
    assert schedule.instructions == "ptx"
    assert schedule.why.startswith("launch 0 differs from its PTX: kernel k: launch 0 of turns: livelock in block ")
    assert "(WARPSYNC " in schedule.why


SEARCH = """
__global__ void search(unsigned* out)
{
    unsigned x = out[threadIdx.x];
    while (__popc(x) != 5) x++;
    out[threadIdx.x] = x;
}
"""


def test_a_kernel_whose_machine_code_never_ends_is_recorded_as_ptx(ran, misread, monkeypatch):
    # Each turn has another value, so that nothing proves that there is no end: time is all that tells.
    misread("POPC", lambda lifting, instruction: lifting.write(instruction.operands[0], Immediate(0)))
    monkeypatch.setattr(comparison, "SECONDS", 0.5)
    monkeypatch.setattr(comparison, "SLOWER", 1)
    trace = ran(SEARCH, arguments=("out=zeros:uint32:32",), architecture=75)
    (schedule,) = trace.info.schedules
    assert schedule.instructions == "ptx"
    assert schedule.why.startswith("launch 0 differs from its PTX: it did not end within ")


def test_an_instruction_that_is_not_known_is_named(ran, monkeypatch):
    monkeypatch.delitem(families.HANDLERS, "FFMA")
    trace = ran(SAXPY, 2, 32, ARGUMENTS)
    (schedule,) = trace.info.schedules
    assert schedule.instructions == "ptx"
    assert schedule.why.startswith("`FFMA ")
    assert schedule.why.endswith("is not supported")
    assert any("is not supported" in warning for warning in trace.info.warnings)


def test_without_a_disassembler_kernels_are_recorded_as_ptx(ran, monkeypatch):
    def missing(name):
        raise CompilerError("compiling CUDA needs nvdisasm which was not found: pip install '.[compile]'")

    monkeypatch.setattr(disassembly, "find_tool", missing)
    trace = ran(SAXPY, 2, 32, ARGUMENTS)
    assert trace.info.schedules[0].instructions == "ptx"
    assert "nvdisasm" in trace.info.schedules[0].why


def test_a_kernel_that_reads_a_clock_is_not_compared(ran):
    trace = ran("__global__ void f(long long* x) { x[threadIdx.x] = clock64(); }", 1, 32, ("x=zeros:int64:32",))
    (schedule,) = trace.info.schedules
    assert (schedule.instructions, schedule.compared_blocks, schedule.why) == ("machine code", 0, "")
    assert "not compared" in schedule.summary


def test_what_changed_of_a_large_memory_is_compared_by_pieces(monkeypatch):
    monkeypatch.setattr(memory, "PIECE", 4)
    before = np.arange(10, dtype=np.uint8)
    after = before.copy()
    after[[1, 9]] = 77
    changes = memory.changes(after, before)
    assert list(changes) == [0, 8]
    assert memory.applied(before, changes).tolist() == after.tolist()
    assert memory.are_equal(before, changes, {4: before[4:8], **changes})
    assert not memory.are_equal(before, changes, {})


def test_the_summary_names_the_release_that_compiled(ran):
    (schedule,) = ran(SAXPY, 2, 32, ARGUMENTS).info.schedules
    assert schedule.compiler == f"CUDA {assembler_release()}"
    assert schedule.summary.endswith(f"compiled by {schedule.compiler}")


def test_arrays_are_as_one_run_leaves_them():
    counter = np.zeros(4, np.int32)
    add = simtmm.RawKernel('extern "C" __global__ void add(int* x) { atomicAdd(x + blockIdx.x, threadIdx.x); }', "add")
    with simtmm.recording() as recording:
        for _ in range(4):
            add((4,), (32,), (counter,))
    assert counter.tolist() == [4 * 496] * 4
    (schedule,) = recording.trace.info.schedules
    assert schedule.compared_blocks == 12, "the first, second and fourth launch"


def test_what_the_instructions_are_stands_in_the_file_and_in_the_report(ran, tmp_path):
    ran(SAXPY, 2, 32, ARGUMENTS, output=tmp_path / "t.parquet")
    trace = load_trace(tmp_path / "t.parquet")
    (schedule,) = trace.info.schedules
    message = next(line for line in lines_of(run(trace, "h100-sxm", engine="reference")) if "Instructions of" in line)
    assert message == f"Instructions of saxpy: {schedule.summary}."
    assert "sm_90: instructions, order, stall cycles" in message
    assert "are available at once; results equal PTX's on 2 blocks" in message


def test_shared_memory_is_reported_without_what_the_driver_keeps(ran):
    source = """__global__ void f(float* x) { __shared__ float s[32]; extern __shared__ float more[];
        s[threadIdx.x] = x[threadIdx.x]; more[threadIdx.x] = s[threadIdx.x]; __syncthreads();
        x[threadIdx.x] = s[31 - threadIdx.x] + more[threadIdx.x ^ 1]; }"""
    for form in ("compiled", "ptx"):
        trace = ran(source, 1, 32, ("x=arange:float32:32",), shared=128, form=form)
        assert trace.info.launches[0].shared_memory_bytes == 256, form
    assert not [
        each.why for each in ran(source, 1, 32, ("x=arange:float32:32",), shared=128).info.schedules if each.why
    ]

"""PTX and machine code that disagree: what neither order nor rounding explains is a fault of simtmm, with its place."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import simtmm
from simtmm import own_faults
from simtmm.cuda.disagreement import comparison
from simtmm.cuda.disagreement.memory import KeptMemory
from simtmm.cuda.disagreement.variants import Variant
from simtmm.cuda.execution.launches.run import SlowError
from simtmm.cuda.machine_function import MachineFunction
from simtmm.cuda.sass import families
from simtmm.report.run import describe
from simtmm.trace.info import TraceInfo
from tests.cli.conftest import called, nothing_kept  # noqa: F401 - fixtures

KERNEL = """
__global__ void k(const int* x, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int j = 0; j < 3; ++j) sum += x[i] ^ (j * 77);
    y[i] = sum;
}
"""
ARGUMENTS = ("x=arange:int32:64", "y=zeros:int32:64")


def _without_a_bit(lifting, instruction):
    """LOP3 that loses the sixteens' bit."""
    right = families.bits.HANDLERS["LOP3"]
    right(lifting, instruction)
    to = next(each for each in instruction.operands if not each.is_predicate)
    lifting.write(
        to, lifting.value("and.b32", "b32", lifting.register(to.name), families.bits.Immediate(~16 & 0xFFFFFFFF))
    )


@pytest.fixture
def misread(monkeypatch):
    """Have LOP3 be lifted wrongly."""
    monkeypatch.setitem(families.HANDLERS, "LOP3", _without_a_bit)
    own_faults.noted()


def test_a_whole_number_that_nothing_explains_is_a_fault_with_values_array_element_and_instruction(ran, misread):
    (schedule,) = ran(KERNEL, 2, 32, ARGUMENTS).info.schedules
    assert schedule.instructions == "ptx"
    # threads 0 to 15: x ^ 77 ^ ... keeps no sixteens' bit but in j * 77 = 154
    assert "y, element 0: 231 as PTX, 215 as machine code" in schedule.fault
    assert "written by thread (0, 0, 0) of block (0, 0, 0)" in schedule.fault
    assert "they first differ at k.cu:6: PTX line" in schedule.fault
    assert "`xor.b32 " in schedule.fault
    assert "which gives 0x9a as PTX, 0x8a as machine code" in schedule.fault
    assert "a fault of simtmm, not of your kernel; please send " in schedule.fault
    assert own_faults.noted() == (schedule.fault,)


def test_a_trace_keeps_the_fault_and_its_report_says_so_above_the_verdict(ran, misread, tmp_path):
    trace = ran(KERNEL, 2, 32, ARGUMENTS, output=tmp_path / "t.parquet")
    assert TraceInfo.from_dict(trace.info.to_dict()).faults == trace.info.faults
    report = simtmm.run(simtmm.load_trace(tmp_path / "t.parquet"), "h100-sxm")
    lines = [str(part) for part in describe(report)]
    verdict = next(number for number, line in enumerate(lines) if line.startswith("Verdict: "))
    (place,) = (number for number, line in enumerate(lines) if line.startswith("Fault of simtmm: k: launch 0 differs"))
    assert place < verdict
    assert report.to_dict()["faults"] == list(trace.info.faults)


def test_a_command_that_met_a_fault_ends_with_status_3(misread, called, nothing_kept, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    words = (
        "run",
        "k.cu",
        "--machine",
        "h100-sxm",
        "--grid",
        2,
        "--block",
        32,
        "--arg",
        ARGUMENTS[0],
        "--arg",
        ARGUMENTS[1],
    )
    status, text, told = called(*words)
    assert status == 3
    assert told.splitlines()[-1].startswith("simtmm: error: k: launch 0 differs from its PTX: y, element 0")
    assert "Fault of simtmm: k: launch 0 differs from its PTX: y, element 0" in text
    status, text, _ = called(*words, "--json")
    assert status == 3
    assert '"faults": [' in text
    (tmp_path / "s.py").write_text(
        f"import numpy as np, simtmm\nk = simtmm.RawKernel({KERNEL!r}, 'k')\n"
        "k((2,), (32,), (np.arange(64, dtype=np.int32), np.zeros(64, np.int32)))\n"
    )
    assert called("run", "s.py", "--machine", "h100-sxm")[0] == 3


def test_a_recording_tells_of_a_fault(misread, caplog):
    kernel = simtmm.RawKernel(KERNEL, "k")
    with simtmm.recording("h100-sxm") as recording:
        kernel((2,), (32,), (np.arange(64, dtype=np.int32), np.zeros(64, np.int32)))
    assert recording.trace.info.faults
    assert any("a fault of simtmm, not of your kernel" in record.message for record in caplog.records)
    assert {record.levelname for record in caplog.records if "a fault of simtmm" in record.message} == {"ERROR"}


TICKETS = """
__global__ void k(int* next, int* y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1) ^ 90;
}
"""


def test_what_depends_on_the_order_of_threads_is_no_fault(ran, misread):
    (schedule,) = ran(TICKETS, 2, 64, ("next=zeros:int32:1", "y=zeros:int32:128")).info.schedules
    assert schedule.instructions == "ptx"
    assert schedule.why.endswith("which depends on the order of its threads")
    assert schedule.fault == ""


ROUNDED = """
__global__ void k(const float* x, int* y)
{
    float a = x[threadIdx.x] * 1.1f, b;
    asm("mul.f32 %0, %1, %1;" : "=f"(b) : "f"(a));
    y[threadIdx.x] = __float_as_int(b);
}
"""


def test_a_whole_number_of_a_rounded_one_is_no_fault(ran, monkeypatch):
    def wrong(lifting, instruction):
        to, *sources = instruction.operands
        found = lifting.value("mul.rz.f32", "b32", *map(lifting.real, sources))
        lifting.write(to, found)

    monkeypatch.setitem(families.HANDLERS, "FMUL", wrong)
    (schedule,) = ran(ROUNDED, 1, 32, ("x=random:float32:32", "y=zeros:int32:32")).info.schedules
    assert schedule.instructions == "ptx"
    assert schedule.why.endswith("which depends on how real numbers are rounded")
    assert schedule.fault == ""


BEYOND = """
__global__ void k(const float* x, int* y)
{
    float a = x[threadIdx.x] + 1.5f;
    y[threadIdx.x + (a > 1e9f ? 1 << 20 : 0)] = int(a);
}
"""


def test_an_error_that_no_other_way_ends_with_is_a_fault_also_if_one_takes_too_long(ran, monkeypatch):
    def wrong(lifting, instruction):
        to, *_ = instruction.operands
        lifting.write(to, lifting.value("mov.b32", "b32", families.bits.Immediate(0x4F800000)))

    after = KeptMemory.after

    def slow(self, function, *given):
        if isinstance(function, Variant):
            raise SlowError
        return after(self, function, *given)

    monkeypatch.setitem(families.HANDLERS, "FADD", wrong)
    monkeypatch.setattr(KeptMemory, "after", slow)
    (schedule,) = ran(BEYOND, 1, 32, ("x=random:float32:32", "y=zeros:int32:32")).info.schedules
    assert schedule.instructions == "ptx"
    assert "which depends on" not in schedule.why
    assert "a fault of simtmm, not of your kernel" in schedule.fault


def test_machine_code_may_take_five_seconds_beyond_twenty_times_what_ptx_has_taken(ran, monkeypatch):
    """By a clock on which half of a second goes by at each look: three of them while PTX runs."""
    after, allowed, clock = KeptMemory.after, [], itertools.count(0, 0.5)

    def noted(self, function, launch, blocks, seconds):
        allowed.append((type(function).__name__, seconds))
        if isinstance(function, MachineFunction):
            raise SlowError
        return after(self, function, launch, blocks, seconds)

    monkeypatch.setattr(KeptMemory, "after", noted)
    monkeypatch.setattr(comparison, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    (schedule,) = ran(KERNEL, 2, 32, ARGUMENTS).info.schedules
    assert allowed == [("KernelFunction", 10.0), ("MachineFunction", 5.0 + 20 * 1.0)]
    assert schedule.instructions == "ptx"
    assert "it did not end within 25 s" in schedule.why


REPLACES = """
__global__ void k(char* map, int* y)
{
    asm volatile("tensormap.replace.tile.rank.global.b1024.b32 [%0], 1;" :: "l"(map) : "memory");
    y[threadIdx.x] = threadIdx.x;
}
"""


def test_fields_of_tensor_maps_are_replaced_as_ptx(ran):
    (schedule,) = ran(REPLACES, 1, 1, ("map=zeros:uint8:128", "y=zeros:int32:32")).info.schedules
    assert (schedule.instructions, schedule.fault) == ("ptx", "")
    assert schedule.why == "machine code of tensormap.replace writes NVIDIA's own format of tensor maps, not simtmm's"


NO_NUMBER = """
__global__ void k(const float* x, int* y) { y[threadIdx.x] = __float_as_int(sqrtf(x[threadIdx.x] - 2)); }
"""


def test_the_bits_of_what_is_no_number_are_no_fault(ran):
    (schedule,) = ran(NO_NUMBER, 1, 32, ("x=random:float32:32", "y=zeros:int32:32")).info.schedules
    assert (schedule.instructions, schedule.fault) == ("machine code", "")


RACE = """
__global__ void k(const int* x, int* y)
{
    __shared__ int held;
    if (threadIdx.x == 40) held = x[40];
    y[threadIdx.x] = held ^ 90;
}
"""


def test_what_threads_race_for_is_no_fault(ran, misread):
    (schedule,) = ran(RACE, 1, 64, ARGUMENTS).info.schedules
    assert "which the checks may explain: initcheck: Uninitialized __shared__ memory" in schedule.why
    assert schedule.fault == ""


def test_a_mistake_of_the_lifter_costs_its_machine_code_and_is_told_as_ours(ran, monkeypatch):
    def mistyped(lifting, instruction):
        lifting.valeu("and.b32")

    monkeypatch.setitem(families.HANDLERS, "LOP3", mistyped)
    (schedule,) = ran(KERNEL, 2, 32, ARGUMENTS).info.schedules
    assert schedule.instructions == "ptx"
    assert "was not lifted, by a fault of simtmm, not of your kernel: AttributeError" in schedule.fault
    assert own_faults.noted() == (schedule.fault,)

"""Registers that warps give back and others wait for (setmaxnreg), as machine code and as PTX."""

from pathlib import Path

import pytest

from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.programs.program import cuda_program
from simtmm.recorder.compiled.cuda_file import cuda_program as cuda_program_of
from simtmm.recorder.compiled.record import record
from simtmm.stalls import Reason
from simtmm.trace.lower import lower
from simtmm.trace.schema import REGISTERS, Kind

PROGRAM = Path(__file__).parent / "registers.cu"


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    outcome = cuda_program([str(PROGRAM)]).run(output=tmp_path_factory.mktemp("registers") / "trace.parquet")
    assert outcome.status == 0
    return outcome.trace


def set_in(trace):
    """What is set in each launch."""
    found = [[] for _ in trace.info.launches]
    for batch in trace.batches():
        ends = batch.ends.tolist()
        for launch, first, last in zip(batch.launch.tolist(), [0, *ends], ends, strict=False):
            events = batch.events[first:last]
            found[launch] += events["value"][events["kind"] == Kind.PRODUCT].tolist()
    return [sorted(each) for each in found]


def test_a_trace_has_what_each_thread_sets_where_ptxas_knows_how_many_there_are(trace) -> None:
    assert set_in(trace) == [[REGISTERS + 40] * 128 + [REGISTERS + 232] * 256, []]
    assert not any("as PTX" in each for each in trace.info.warnings)


@pytest.mark.parametrize(
    ("bounds", "is_settled"),
    [("__launch_bounds__(128, 1)", True), ("__launch_bounds__(128)", False), ("__maxnreg__(64)", True), ("", False)],
)
@pytest.mark.parametrize("machine_code", [False, True])
def test_as_ptx_and_as_machine_code_it_says_the_same(bounds, is_settled, machine_code, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(
        f'extern "C" __global__ void {bounds} k() {{ asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }}'
    )
    trace = record(cuda_program_of("k.cu", 1, 128, ()), {"seed": 0}, architecture=90, machine_code=machine_code)
    assert set_in(trace) == [[REGISTERS + 40] * 128 if is_settled else []]


def test_warps_wait_for_registers_until_others_give_them_back(trace) -> None:
    h100 = load_machine("h100-sxm")
    results = [simulate(h100, lower(trace, h100, places=True), engine, stalls=True) for engine in ("fast", "reference")]
    assert results[0] == results[1]
    (row,) = [row for row in results[0].stalls.ticks if row[Reason.REGISTERS]]
    assert row[Reason.REGISTERS] > 0.9 * row.sum()  # of the line with setmaxnreg.inc
    waits = results[0].stalls.ticks.sum(axis=0)[Reason.REGISTERS] / 8  # of a warp: as long as the others work before
    assert 0.3 * results[0].launch_ticks[0] < waits < results[0].launch_ticks[0]
    assert results[0].launch_ticks[0] > results[0].launch_ticks[1]

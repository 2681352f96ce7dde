"""The roofline of a compiled kernel: roofs of classes with pipes of their own, and a point for each hot line."""

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.report.explain_page.roofline import roofline
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code

MIX = """__global__ void mix(int n, const float* A, const float* B, double* C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double more = 0;
    for (int k = 0; k < n; ++k)
        more = more * 1.25 + A[i + k * 128];
    C[i] = more + B[i];
}
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    path = tmp_path_factory.mktemp("mix") / "mix.cu"
    path.write_text(MIX)
    arguments = ["n=32", "A=random:float32:8192", "B=random:float32:4096", "C=zeros:float64:4096"]
    return run(cuda_program(path, 16, 256, arguments), load_machine("rtx-3090"), what_if=False)


def test_a_class_with_pipes_of_its_own_has_its_own_roof(done):
    (roof,) = roofline(done, done.units)["roofs"]
    machine = done.machine
    a_cycle = machine.cores.groups * machine.pipes.fp64.count * 32 / machine.pipes.fp64.interval
    assert roof == {"name": "fp64", "rate": pytest.approx(a_cycle * machine.clock_hz)}


def test_each_line_that_computes_has_its_part_of_the_rate_and_the_intensity_of_its_own_bytes(done):
    told = roofline(done, done.units)
    lines = {line["line"]: line for line in told["lines"]}
    rows = {row["line"]: row for row in done.result.lines}
    assert lines.keys() == {number for number, row in rows.items() if row["floating_point_instructions"] and number}
    assert any(line["intensity"] is not None for line in lines.values())
    for number, line in lines.items():
        row = rows[number]
        computed = row["floating_point_instructions"]
        assert line["rate"] == pytest.approx(computed / done.result.seconds)
        assert line["where"].endswith(f"mix.cu:{number}")
        at = {"memory": "memory_bytes", "L2": "l2_bytes", "memory ports": "l1_bytes"}.get(line["level"])
        assert line["intensity"] == (None if at is None else computed / row[at])
        assert (at is None) == (row["l1_bytes"] == 0)
    assert sum(line["rate"] for line in lines.values()) <= told["rate"] * (1 + 1e-9)

"""A product whose rows are on threadIdx.x is slow by A on all machines: threads of a warp read different rows."""

from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code
SOURCE = Path(__file__).parent / "sgemm.cu"
SIDE = 64  # of the matrices: 16 blocks, which reach the caches' ports as those of a large product do
NO_LIMIT = {"classroom", "gtx480", "gtx580", "gtx680", "ideal"}
"""Machines of papers whose ports, and whose L2, take no longer for a request of 16 lines than for one of two."""


def done(name):
    size = SIDE * SIDE
    arguments = [str(SIDE), f"random:float32:{size}", f"random:float32:{size}", f"zeros:float32:{size}"]
    return run(cuda_program(SOURCE, (SIDE // 16, SIDE // 16), (16, 16), arguments), load_machine(name), what_if=False)


MACHINES = sorted(path.stem for path in (Path(__file__).parents[3] / "machines").glob("*.toml"))
WARPS = [name for name in MACHINES if load_machine(name).cores.warp_width > 1]  # of others no request is of several


@pytest.mark.parametrize("name", WARPS)
def test_a_product_by_rows_is_slow_by_the_matrix_whose_rows_its_threads_read(name):
    where = done(name).verdict.where
    assert "A[row * n + k]" in SOURCE.read_text().splitlines()[where.line - 1]
    assert (where.array == "A") == (name not in NO_LIMIT), where

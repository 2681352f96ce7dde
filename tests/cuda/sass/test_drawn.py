"""Threads that part and meet in any way end with what each alone would have, in machine code as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.cuda.machine_function import MachineFunction
from tests.cuda.execution.both import execute, interpret
from tests.cuda.execution.drawn import kernels
from tests.examples import examples

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

BLOCKS = 2


@examples(3)
@given(
    text=kernels(for_machine_code=True),
    threads=st.sampled_from([32, 40, 70]),
    architecture=st.sampled_from([75, 80, 90, 120]),
)
def test_drawn_kernels_end_as_the_interpreter_says(text, threads, architecture):
    arrays = np.zeros((BLOCKS * threads, 4), np.uint32), np.zeros(BLOCKS, np.uint32)
    text = text.replace(".target sm_90", ".target sm_75")  # which all of these can run
    left, addresses = execute(text, BLOCKS, threads, arrays, architecture, lambda plain: MachineFunction(plain).quick)
    for ours, expected in zip(left, interpret(text, BLOCKS, threads, arrays, addresses), strict=True):
        np.testing.assert_array_equal(ours, expected)

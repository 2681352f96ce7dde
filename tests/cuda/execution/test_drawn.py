"""Threads that part and meet in any way end with what each alone would have."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.cuda.execution.both import both
from tests.cuda.execution.drawn import kernels
from tests.examples import examples

BLOCKS = 2


@examples(20)
@given(text=kernels(), threads=st.sampled_from([32, 40, 64, 70]), quick=st.booleans())
def test_drawn_kernels_end_as_the_interpreter_says(text, threads, quick):
    out, totals = np.zeros((BLOCKS * threads, 4), np.uint32), np.zeros(BLOCKS, np.uint32)
    for executed, interpreted in both(text, BLOCKS, threads, out, totals, quick=quick):
        np.testing.assert_array_equal(executed, interpreted)

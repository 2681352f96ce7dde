"""Sources with a word more: what changes, what stays, and that lines stay where they are."""

import pytest

from simtmm.analysis.compiled_variants.source_edits import bounded, loop_before, restricted, unbounded, unrolled

KERNEL = """template <typename T>
__global__ void scale(int n, const T* x, T *y)
{
    for (int i = 0; i < n; ++i)
        y[i] = *x * 2;
}
__device__ int* other(int* p) { return p; }
"""


def test_pointers_of_kernels_alone_become_restricted():
    changed = restricted(KERNEL)
    assert "scale(int n, const T* __restrict__ x, T * __restrict__ y)" in changed
    assert "int* other(int* p)" in changed
    assert restricted(changed) == changed
    assert changed.count("\n") == KERNEL.count("\n")


def test_bounds_are_given_to_the_kernel_of_a_name_and_taken_away_again():
    changed = bounded(KERNEL, "scale", 128, 4)
    assert "__global__ void  __launch_bounds__(128, 4) scale(int n" in changed
    assert bounded(KERNEL, "other", 128, 4) == KERNEL
    assert bounded(changed, "scale", 256, 2) == changed
    assert "__launch_bounds__" not in unbounded(changed)
    assert "x, T *y)" in restricted(changed).replace("* __restrict__ ", "*").replace("const T*x", "const T* x")


@pytest.mark.parametrize(("line", "loop"), [(5, 4), (4, 4), (3, None), (2, None), (99, 4)])
def test_the_loop_of_a_line_is_the_nearest_one_above_it_in_its_kernel(line, loop):
    assert loop_before(KERNEL, line) == loop


def test_a_loop_is_unrolled_in_its_line_unless_its_source_says_how_often():
    changed = unrolled(KERNEL, 4, 8)
    assert changed.splitlines()[3] == '    _Pragma("unroll 8") for (int i = 0; i < n; ++i)'
    told = KERNEL.replace("    for", "#pragma unroll 2\n    for")
    assert unrolled(told, 5, 8) == told

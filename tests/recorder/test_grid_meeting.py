"""Kernels whose blocks wait for one another are known before a GPU is given them."""

from types import SimpleNamespace

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.recorder.gpu.ptx_module import meets_as_grid

PTX = """.version 8.0
.target sm_80
.address_size 64
.func meet() {{ .reg .b32 %r<3>; {0} ret; }}
.visible .entry k() {{ .reg .b32 %r<3>; {1} ret; }}
.visible .entry other() {{ .reg .b32 %r<3>; {2} ret; }}
"""
MEETS, ALONE = "mov.u32 %r1, %envreg2;", "mov.u32 %r1, %tid.x;"


@pytest.mark.parametrize(
    ("function", "kernel", "other", "meets"),
    [
        (ALONE, ALONE, ALONE, False), (ALONE, MEETS, ALONE, True), (MEETS, ALONE, ALONE, True),
        (ALONE, ALONE, MEETS, False),  # of another kernel it says nothing
    ],
)  # fmt: skip
def test_a_kernel_meets_where_it_or_a_function_does(function, kernel, other, meets):
    linked = SimpleNamespace(module=parse_module(PTX.format(function, kernel, other)))
    assert meets_as_grid(linked, "k") == meets

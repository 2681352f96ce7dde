"""Names of kernels as people write them."""

import pytest

from simtmm.cuda.compilers import bare_name, demangled


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        *(("saxpy", "saxpy"), ("_Z5saxpyifPfS_", "saxpy"), ("_Z1kIfLi3EEvPT_", "k"), ("_ZN2ns5inner1kEv", "k")),
        *(("_start", "_start"), ("_Zx", "_Zx"), ("_ZL5plainPi", "plain")),
        ("_Z" + "9" * 5000, "9" * 4991),  # a length of which Python makes no number
    ],
)
def test_the_bare_name(name, bare):
    assert bare_name(name) == bare


@pytest.mark.parametrize(
    ("name", "whole"),
    [("saxpy", {"saxpy"}), ("_Z5saxpyifPf", {"saxpy(int, float, float*)", "saxpy"}), ("_Zx", {"_Zx"})],
)
def test_the_name_with_its_parameters_or_bare_without_a_library_to_ask(name, whole):
    assert demangled(name) in whole

"""Names of kernels as people write them."""

import resource
import time

import pytest

from simtmm.cuda.compilers import bare_name, demangled
from simtmm.cuda.compilers.names import cxx_library, demangling, template_kernels


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


def test_templates_among_kernels_are_found_with_their_bounds_and_comments():
    source = """template <typename T> __device__ T twice(T a) { return a + a; }
template <typename T, int N>
__global__ /* of ; all */ void __launch_bounds__(256) scale(T* x) { x[0] = N; }
template <int N> __global__ void other(int* x);
__global__ void plain(int* x) { x[0] = 1; } // template <int N> __global__ void none()
"""
    assert template_kernels(source) == ["scale", "other"]


def test_templates_without_a_kernel_are_looked_through_once():
    """Each was tried with each end and each kernel behind it."""
    assert template_kernels("template<>" * 100_000 + "/*" * 100_000) == []


def _doubled(levels):
    """f<A<int, int>, A<A<int, int>, A<int, int> >, ...>: each argument twice in the next one."""
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "_Z1fI1AIiiE" + "".join(f"S0_I{f'S{letters[level + 1]}_' * 2}E" for level in range(levels)) + "Evv"


def test_a_name_that_grows_without_bound_is_bare_and_takes_little_time_and_memory():
    before, used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of other tests' children in this process
    assert demangled(_doubled(30)) == "f"  # 36 GB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (64 << 10)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert time.process_time() - used < 5
    assert children.ru_maxrss < max(2 << 20, largest + 1, before + (64 << 10))  # a child begins with its parent's


def test_a_long_name_is_as_readable_in_a_process_of_its_own(monkeypatch):
    name = _doubled(5)
    expected = cxx_library.readable(name.encode()).decode()
    assert expected.startswith("void f<A<int, int>, A<A<int, int>, A<int, int> >, ") or expected == ""
    monkeypatch.setattr(demangling, "SURELY", 100)
    demangled.cache_clear()
    assert demangled(name) == (expected or "f")


@pytest.mark.parametrize("levels", range(1, 9))
def test_no_name_is_longer_than_was_reckoned(levels):
    assert len(cxx_library.readable(_doubled(levels).encode())) <= demangling._longest(_doubled(levels))

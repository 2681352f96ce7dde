"""Planted faults of the async proxy are found at their two lines, and nothing in the right kernels beside them."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simtmm.cuda.checks.checker import Checker
from simtmm.cuda.checks.names import checks_of
from simtmm.cuda.compilers import compile_files
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule

SOURCE = Path(__file__).with_name("proxy_faults.cu")
BLOCKS, THREADS = 2, 128

RAW, WAR, WAW = "Potential RAW hazard", "Potential WAR hazard", "Potential WAW hazard"
PROXIES, UNDER_WAY, BLOCK = "the generic and the async proxy", "has not waited for it", "between threads of a block"
FENCE, BYTES, READ, PRODUCTS = "put fence.proxy.async", "wait for the mbarrier", "wait_group.read", "wgmma.wait_group"
BARRIER = "put __syncthreads()"

# Of each fault: the hazard, between whom, and words of the hint.
FAULTS = {
    "store_without_a_fence": (RAW, PROXIES, FENCE),
    "fence_before_the_write": (RAW, PROXIES, FENCE),
    "fence_of_one_thread": (RAW, PROXIES, FENCE),
    "fence_of_memory_alone": (RAW, PROXIES, FENCE),
    "store_of_what_another_warp_writes": (RAW, BLOCK, BARRIER),
    "overwritten_while_it_is_read": (WAR, UNDER_WAY, READ),
    "one_group_too_many_is_left": (WAR, UNDER_WAY, READ),
    "waits_for_the_store_behind_the_barrier": (WAR, UNDER_WAY, READ),
    "stored_without_a_group": (WAR, UNDER_WAY, READ),
    "load_with_a_barrier_in_place_of_the_wait": (RAW, UNDER_WAY, BYTES),
    "load_read_by_its_own_thread": (RAW, UNDER_WAY, BYTES),
    "waits_for_the_other_stage": (RAW, UNDER_WAY, BYTES),
    "refilled_before_all_have_read": (WAR, BLOCK, BARRIER),
    "loaded_over_what_threads_wrote": (WAW, PROXIES, FENCE),
    "product_without_a_fence": (RAW, PROXIES, FENCE),
    "product_of_what_another_warp_writes": (RAW, BLOCK, BARRIER),
    "factor_overwritten_before_the_wait": (WAR, UNDER_WAY, PRODUCTS),
    "product_of_copies_without_a_fence": (RAW, PROXIES, FENCE),
    "stage_given_back_before_it_is_read": (WAR, BLOCK, BARRIER),
    "stage_given_back_before_the_products_are_done": (WAR, UNDER_WAY, PRODUCTS),
    "store_without_a_fence_in_a_cluster": (RAW, PROXIES, FENCE),
}
UNWRITTEN = {
    "stores_what_nobody_wrote": "shared",
    "multiplies_what_nobody_wrote": "shared",
    "loads_what_nobody_wrote": "global",
}


@cache
def module():
    return LinkedModule(compile_files(SOURCE, architecture=90), SOURCE.parent)


@cache
def found(kernel, checks="all"):
    """What the checks find in a kernel."""
    device, checker = Device(), Checker(checks_of(checks))
    out, given = np.zeros(4096, np.int32), np.arange(4096, dtype=np.int32)
    places = [device.memory.place("out", out), device.memory.place("in", given)]
    checker.allocated(out)
    function = KernelFunction(module(), kernel)
    function.is_quick = True
    launch = DeviceLaunch((BLOCKS, 1, 1), (THREADS, 1, 1), np.array(places, np.uint64).tobytes())
    checker.launch(device, function, launch)
    return checker.found


def lines_of(kernel):
    """The marked lines of a kernel, by their marks."""
    marked, inside = {}, False
    for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1):
        inside = f" {kernel}(" in line if "__global__" in line else inside
        if inside and line.endswith(("// first", "// second")):
            marked[line.rpartition(" ")[2]] = number
    return marked


@pytest.mark.parametrize("kernel", FAULTS)
def test_a_planted_fault_is_found_at_its_lines(kernel):
    hazard, who, hint = FAULTS[kernel]
    marked = lines_of(kernel)
    lines = (marked["first"], marked["second"])
    alike = [each for each in found(kernel).harmful if tuple(side.line for side in each.sides) == lines]
    assert any(hazard in each.what and who in each.what and hint in each.hint for each in alike), "\n".join(
        found(kernel).lines()
    )


@pytest.mark.parametrize("kernel", FAULTS)
def test_nothing_else_is_found_beside_a_planted_fault(kernel):
    marked = set(lines_of(kernel).values())
    others = [each for each in found(kernel).harmful if not {side.line for side in each.sides} <= marked]
    assert not others, "\n".join(found(kernel).lines())


@pytest.mark.parametrize("kernel", UNWRITTEN)
def test_what_nobody_wrote_is_found_where_the_async_proxy_reads_it(kernel):
    (finding,) = found(kernel).harmful
    assert f"Uninitialized __{UNWRITTEN[kernel]}__ memory read" in finding.what
    assert finding.sides[0].line == lines_of(kernel)["first"]


def test_nothing_is_found_in_right_kernels():
    right = [name for name in module().entries if name.startswith("right_")]
    wrong = {name: found(name).lines() for name in right if found(name).harmful}
    assert wrong == {}
    assert len(right) >= 13


def test_every_kernel_is_one_or_the_other():
    right = {name for name in module().entries if name.startswith("right_")}
    assert {*FAULTS, *UNWRITTEN, *right} == set(module().entries)

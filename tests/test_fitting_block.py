"""A kernel's default block is made to fit a core group of the machine; what the user gives is left as it is."""

import pytest

from simtmm import load_kernel, load_machine
from simtmm.catalogue import known_kernels
from simtmm.errors import SimtmmError
from simtmm.program import fitting_block, open_program
from tests.recorder.conftest import needs_compiler

XMT = load_machine("cray-xmt")


def test_a_default_that_does_not_fit_becomes_the_largest_power_of_two_that_does():
    parameters, notes = fitting_block(load_kernel("list-ranking-helman-jaja"), {"n": 100}, XMT)
    assert parameters == {"n": 100, "threads": 128}
    assert notes == ("threads = 128, not 512: a core group of Cray XMT holds 128 threads",)


def test_of_choices_the_largest_that_fits_is_taken():
    machine = XMT.replace({"cores.max_threads_per_core": 100})
    assert fitting_block(load_kernel("scan"), {}, machine)[0] == {"threads": 64}


@pytest.mark.parametrize(
    ("kernel", "given", "machine"),
    [("list-ranking-helman-jaja", {"threads": 512}, "cray-xmt"), ("list-ranking-helman-jaja", {}, "gtx280"),
     ("bfs", {}, "cray-xmt")],
)  # fmt: skip
def test_what_fits_and_what_was_given_stay(kernel, given, machine):
    assert fitting_block(load_kernel(kernel), given, load_machine(machine)) == (given, ())


def test_without_a_machine_nothing_changes():
    assert fitting_block(load_kernel("list-ranking-helman-jaja"), {}, None) == ({}, ())


@pytest.mark.parametrize("name", known_kernels())
def test_the_default_block_of_every_kernel_fits_a_cray_xmt(name):
    kernel = load_kernel(name)
    if "threads" not in kernel.parameters:
        pytest.skip("its block has one size")
    assert kernel.resolve(fitting_block(kernel, {}, XMT)[0])["threads"] <= 128


@needs_compiler
def test_a_kernel_runs_on_a_cray_xmt_as_it_is():
    program = open_program("list-ranking-helman-jaja", {"n": 300}, machine=XMT)
    assert {launch.block[0] for launch in program.trace.info.launches} == {128, 1}  # one thread ranks the last list
    assert program.on(XMT).workload.warps > 0
    assert program.notes == ("threads = 128, not 512: a core group of Cray XMT holds 128 threads",)


@needs_compiler
def test_a_given_block_that_does_not_fit_is_refused():
    with pytest.raises(SimtmmError, match="a block that needs 512 threads does not fit"):
        open_program("list-ranking-helman-jaja", {"n": 300, "threads": 512}, machine=XMT).on(XMT)

"""Kernels on an H100 SXM: an empty one is meant to be empty."""

import logging

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.validation.cases import h100_sxm
from simtmm.validation.compiled.programs import program
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler


@pytest.fixture
def empty():
    return next(time for time in h100_sxm.measured_times() if time.kernel == "empty")


def test_an_empty_kernel_is_not_warned_of(empty, caplog):
    with caplog.at_level(logging.WARNING, "simtmm"):
        point = h100_sxm.launched(empty, load_machine("h100-sxm"))
    assert point.group == "empty"
    assert not caplog.messages


def test_elsewhere_a_kernel_that_accesses_nothing_is_warned_of_as_before(empty, caplog):
    h100_sxm.launched(empty, load_machine("h100-sxm"))
    with caplog.at_level(logging.WARNING, "simtmm"):
        run(program("empty", empty.parameters), load_machine("h100-sxm"), form="compiled", what_if=False)
    assert [h100_sxm.NO_ACCESS in message for message in caplog.messages] == [True]

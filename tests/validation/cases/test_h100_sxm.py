"""Kernels on an H100 SXM: an empty one is meant to be empty."""

import logging
from collections import Counter

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.validation.cases import h100_sxm
from simtmm.validation.compiled.programs import program
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler


def test_the_points_that_are_simulated_and_those_of_a_sample_are_these(monkeypatch):
    monkeypatch.setattr(h100_sxm, "_kernels", lambda times, watch: (Counter(time.kernel for time in times),))
    monkeypatch.setattr(h100_sxm, "_streams", lambda step, watch: step)
    assert h100_sxm.reproduce() == (
        {
            "add": 3, "add_by_columns": 3, "copy": 4, "empty": 36, "ffma": 30, "gemm": 24, "histogram": 1,
            "histogram_of_blocks": 1, "mvt": 28, "product": 2, "product_in_tiles": 2, "scalar-product": 10,
            "scan-short": 14, "sum_last_warp": 1, "sum_while_loading": 1, "syrk": 24, "transpose": 4, "vector-add": 9,
        },
        1,
    )  # fmt: skip
    assert h100_sxm.sample() == (
        {
            "add": 1, "copy": 1, "empty": 12, "ffma": 12, "gemm": 3, "histogram": 1, "mvt": 9, "product_in_tiles": 1,
            "scalar-product": 4, "scan-short": 2, "syrk": 3, "transpose": 1, "vector-add": 4,
        },
        h100_sxm.SAMPLE,
    )  # fmt: skip


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

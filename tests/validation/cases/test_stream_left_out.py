"""Bandwidth over occupancy on GPUs as if they had never been calibrated."""

import pytest

from simtmm.calibration.donors import BY_RULES, DONATED
from simtmm.machine import load_machine
from simtmm.measurement.stream_operations import OPERATIONS
from simtmm.model.series import SIMULATED
from simtmm.validation.cases import stream_left_out
from simtmm.validation.cases.stream_left_out import ALONE, EACH, SAMPLE, SHEET
from simtmm.validation.cases.stream_occupancy import GPUS


@pytest.fixture(scope="module")
def sample(sampled):
    return {table.machine: table for table in sampled("stream-left-out")}


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.column)
def test_a_table_has_all_kernels_and_says_whose_values_they_are(sample, gpu):
    table = sample[gpu.machine]
    assert table.groups == tuple(OPERATIONS)
    assert set(table.series) == {SIMULATED, SHEET, ALONE, *stream_left_out.COMPARED_MODELS}
    donors = table.calibrated.split(": ")[1].split(" (")[0].split(", ")
    assert load_machine(gpu.machine).name not in donors
    assert set(donors) <= {load_machine(other.machine).name for other in GPUS}


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.column)
def test_a_family_is_worth_much(sample, gpu):
    table = sample[gpu.machine]
    assert 3 * table.errors(SIMULATED).mean < table.errors(ALONE).mean
    assert table.errors(SIMULATED).mean < 0.25


def test_the_points_of_a_sample_are_among_all_points():
    assert SAMPLE % EACH == 0


def test_what_a_calibration_finds_is_what_is_left_out():
    # What a calibrated profile has of its own streams, `stores` and `interleave` apart, which are words
    calibrated = {
        key
        for key, source in load_machine("gh200").sources.items()
        if source.note.startswith("by simtmm machines calibrate")
    }
    assert calibrated <= {*DONATED, *BY_RULES}

"""Bandwidth over occupancy: the measured points, and what is promised of them."""

import pytest

from simtmm import load_machine
from simtmm.calibration.streams.fit import READ_WEIGHT, StreamFit
from simtmm.calibration.streams.part import READ
from simtmm.measurement.stream_operations import OPERATIONS
from simtmm.model.series import SIMULATED
from simtmm.validation.cases import stream_occupancy


@pytest.mark.parametrize("gpu", stream_occupancy.GPUS, ids=lambda gpu: gpu.column)
def test_every_measured_point_is_there(gpu):
    points = stream_occupancy.measured_points(gpu.column)
    assert len({(point.block_size, point.blocks_per_group) for point in points}) == (31 if gpu.column == "a40" else 39)
    assert all(set(point.measured) == set(OPERATIONS) for point in points)
    assert points[-1].occupancy == 1


@pytest.mark.parametrize("gpu", stream_occupancy.GPUS, ids=lambda gpu: gpu.column)
def test_a_fit_takes_every_kernel_at_a_third_of_the_points_and_fewer(gpu):
    fit = StreamFit(load_machine(gpu.machine), stream_occupancy.measured_points(gpu.column), "", None)
    assert {READ, *fit.storing} == OPERATIONS.keys()
    assert (len(fit.points), len(fit.few_points), READ_WEIGHT) == (10, 6, 2)


@pytest.fixture(scope="module")
def sample(sampled):
    return {table.machine: table for table in sampled("stream-occupancy")}


@pytest.mark.parametrize("gpu", stream_occupancy.GPUS, ids=lambda gpu: gpu.column)
def test_three_points_are_within_what_is_promised_of_all(sample, gpu):
    table = sample[gpu.machine]
    assert table.groups == tuple(OPERATIONS)
    errors = table.errors(SIMULATED)
    assert errors.points == 3 * len(OPERATIONS)
    # Three points of 39 may lie where the curve is met worse: half as much again is allowed.
    assert errors.mean <= 1.5 * gpu.promised
    # The read kernel is what most was fitted on: 2.5 % over all points, half as much again for three.
    assert table.errors(SIMULATED, "read").mean <= 1.5 * 0.025


@pytest.mark.parametrize("gpu", stream_occupancy.GPUS, ids=lambda gpu: gpu.column)
def test_the_simulation_is_nearer_than_any_model(sample, gpu):
    table = sample[gpu.machine]
    assert set(table.series) == {SIMULATED, *stream_occupancy.COMPARED_MODELS}
    models = [table.errors(name).mean for name in stream_occupancy.COMPARED_MODELS]
    assert table.errors(SIMULATED).mean < min(models)


def test_a_curve_rises_and_does_not_fall(sample):
    for table in sample.values():
        first, middle, last = (point.said[SIMULATED] for point in table.points if point.group == "triad")
        assert 2 * first < middle < 1.05 * last  # 5 %: waves of blocks end evenly at some occupancies

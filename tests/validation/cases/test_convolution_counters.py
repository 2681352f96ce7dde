"""Counters of the convolution: what the kept tables say is what the project asks of its machine code."""

from pathlib import Path

import pytest

from simtmm.validation.cases.convolution_counters import (
    COUNTED,
    EVERY,
    GROUPS,
    LABELS,
    LARGE_LABEL,
    SAMPLE,
    measured,
)
from simtmm.validation.snapshot import read

DOCS = Path(__file__).parents[3] / "docs"
TABLES = {kept.accuracy.name: kept.accuracy for kept in read(DOCS / "accuracy")}
AGREEING, OTHERWISE = TABLES["rtx2080ti-convolution"], TABLES["rtx2080ti-convolution-otherwise"]


def points(table, counter):
    return [point for point in table.points if point.group == LABELS[counter]]


def test_every_measured_configuration_is_there():
    rows = measured()
    assert len({row.configuration for row in rows}) == len(rows) == 250
    for row in rows:
        across, down, _ = row.configuration.grid
        assert (row.counters["grid_x"], row.counters["grid_y"]) == (across, down)
        wide, high = (size + row.configuration.filter - 1 for size in row.configuration.tile)
        assert row.counters["shared_bytes"] == 4 * wide * high


def test_every_fifth_is_counted_and_samples_are_of_these():
    cases = {point.case for table in (AGREEING, OTHERWISE) for point in table.points}
    assert cases == {str(row.configuration) for row in measured()[::EVERY]}
    assert all(row % EVERY == 0 for row in SAMPLE)


def test_registers_agree_in_two_thirds_and_shared_memory_in_all():
    agreeing, others = (len(points(table, "registers_per_thread")) for table in (AGREEING, OTHERWISE))
    assert agreeing >= 2 / 3 * (agreeing + others)
    for table in (AGREEING, OTHERWISE):
        assert all(point.said[COUNTED] == point.measured for point in points(table, "shared_bytes"))


@pytest.mark.parametrize(
    ("counter", "most"),
    [
        ("warp_instructions", 0.03),
        ("fp32_thread_instructions", 0.0),
        ("memory_thread_instructions", 0.0),
        ("control_thread_instructions", 0.0),
        ("integer_thread_instructions", 0.13),  # addresses, which the older compiler computed otherwise
        ("global_load_requests", 0.0),
        ("shared_load_wavefronts", 0.02),
        ("shared_store_wavefronts", 0.025),  # the GPU took more than its banks ask for
        ("l2_write_sectors", 0.001),
        ("l2_read_sectors", 0.1),
    ],
)
def test_where_registers_agree_so_do_counters_in_the_median(counter, most):
    assert AGREEING.errors(COUNTED, LABELS[counter]).median <= most


@pytest.mark.parametrize(
    ("counter", "least"),
    [
        ("fp32_thread_instructions", 1.0),
        ("global_load_requests", 1.0),
        ("memory_thread_instructions", 0.9),  # large tiles: today's compiler loads less
        ("control_thread_instructions", 0.9),
    ],
)
def test_what_the_source_decides_is_equal_to_the_last_where_registers_agree(counter, least):
    own = points(AGREEING, counter)
    assert sum(point.said[COUNTED] == point.measured for point in own) >= least * len(own)


def test_large_code_is_distinguished():
    assert LARGE_LABEL in GROUPS
    reads = [point for point in AGREEING.points if point.group in (LABELS["l2_read_sectors"], LARGE_LABEL)]
    assert len(reads) == len(points(AGREEING, "registers_per_thread"))
    large = AGREEING.errors(COUNTED, LARGE_LABEL)
    assert large.bias < AGREEING.errors(COUNTED, LABELS["l2_read_sectors"]).bias < 0.02

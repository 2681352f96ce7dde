"""Barrel processors: throughput is linear in the streams until pipeline or references bind."""

import pytest

from simtmm import load_machine
from simtmm.model.series import SIMULATED
from simtmm.validation.cases import barrel
from tests.recorder.conftest import needs_compiler

XMT, MTA_2 = load_machine("cray-xmt"), load_machine("mta-2")
FEW = (1, 8, 16, 20, 22, 32, 64, 128)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(barrel, "STREAMS", FEW)


def per_stream(machine, references):
    """Elements a cycle of each stream, over those of a stream by itself."""
    found = {int(point.at): point.said[SIMULATED] / point.at for point in barrel.curve(machine, references)}
    return {streams: value / found[1] for streams, value in found.items()}


def test_streams_that_fill_a_pipeline_are_21_or_what_the_latency_asks_for():
    assert barrel.streams_that_fill(MTA_2, 8) == 21  # its latency over 8 is less than two turns of the pipeline
    assert barrel.streams_that_fill(XMT, 8) == (364 + 1 + 21) / 8 / 2
    assert barrel.streams_that_fill(XMT, 1) == 8 * barrel.streams_that_fill(XMT, 8)


@needs_compiler
def test_throughput_is_linear_until_21_streams_where_the_pipeline_binds(few):
    found = per_stream(MTA_2, 8)
    assert min(found[streams] for streams in (8, 16, 20)) > 0.99  # a stream issues in turns, whoever else does
    for streams in (22, 32, 64, 128):
        assert found[streams] == pytest.approx(21 / streams, rel=0.02)  # the pipeline is full; begin and end are not


@needs_compiler
def test_throughput_is_linear_to_the_end_where_a_stream_waits_for_each_reference(few):
    found = per_stream(XMT, 1)
    assert min(found.values()) > 0.98  # two streams of a partition meet now and then


@needs_compiler
def test_a_stream_has_no_more_references_in_flight_than_the_machine_lets_it(few):
    limited = per_stream(XMT.replace({"memory.outstanding": 2}), 8)
    assert limited[32] > 0.97
    assert limited[64] > 0.95  # eight of them would have filled the pipeline with 24 streams


@needs_compiler
def test_the_knees_are_where_the_closed_form_has_them(sampled):
    """Within 3 %: the curve of the XMT is rounded there, as streams' waits differ."""
    throughput, knees = sampled("barrel")
    assert [point.measured for point in knees.points] == [24.125, 21]
    assert all(abs(point.said[SIMULATED] / point.measured - 1) < 0.03 for point in knees.points)
    assert throughput.errors(SIMULATED).mean < 0.03

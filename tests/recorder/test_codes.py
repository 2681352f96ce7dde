"""The codes that Python and C++ exchange are the same on both sides."""

import re

import pytest

from simtmm.recorder.arguments import ArgumentKind
from simtmm.recorder.compiler import HERE
from simtmm.recorder.faults import FaultCode
from simtmm.trace.schema import Kind


def names_of(header, enum):
    """The names of an enum of a header, in order."""
    text = (HERE / header).read_text(encoding="utf-8")
    (body,) = re.findall(rf"enum {enum} {{(.*?)}};", text, re.DOTALL)
    return re.findall(r"\w+", body)


def test_kinds_of_events():
    names = [name.removeprefix("KIND_") for name in names_of("device.cuh", "Kind")]
    assert names == [kind.name for kind in Kind if kind <= Kind.BARRIER]
    assert [Kind[name] for name in names] == list(range(len(names)))


@pytest.mark.parametrize(("header", "last"), [("device_cpu.cuh", "GOES_ROUND"), ("device_gpu.cuh", "TOO_MUCH")])
def test_faults(header, last):
    names = names_of(header, "FaultCode")
    assert names[-1] == last
    assert [FaultCode[name] for name in names] == list(range(len(names)))


@pytest.mark.parametrize(("header", "letters"), [("signature.cuh", "bfipsu"), ("process_cpu.cuh", "bfipsu")])
def test_kinds_of_arguments(header, letters):
    text = (HERE / header).read_text(encoding="utf-8")
    assert "".join(sorted(set(re.findall(r"'([a-z])'", text)) & set(ArgumentKind))) == letters
    assert "".join(sorted(ArgumentKind)) == letters

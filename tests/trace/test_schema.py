"""Codes that stand in files: of events, operations, waits and states. A number that changes makes old files lie."""

from enum import IntEnum

import numpy as np
import pytest

from simtmm.stalls import Count, Reason
from simtmm.timeline import WarpState
from simtmm.trace.schema import EVENT, KINDS, WORK_CLASSES, Kind


@pytest.mark.parametrize(
    ("codes", "names"),
    [
        (
            Kind,
            "work load async store atomic shared_load shared_store shared_atomic join barrier shared_array local_load "
            "local_store constant_load copy mbarrier product",
        ),
        (WarpState, "start ready issuing pipeline memory barrier pause"),
        (
            Count,
            "instructions requests chunks l1_hits l2_hits l1_stores conflicts l2_sectors memory_sectors "
            "last_level_hits last_level_sectors shared_l1_hits shared_l1_sectors",
        ),
    ],
)
def test_codes_are_numbered_in_this_order(codes: type[IntEnum], names: str) -> None:
    assert {name.lower(): each.value for name, each in codes.__members__.items()} == {
        name: number for number, name in enumerate(names.split())
    }


def test_no_reason_stands_for_another():
    assert [reason.value for reason in Reason] == list(range(len(Reason.__members__)))


def test_names_of_kinds_and_classes_are_those_of_traces():
    assert tuple(kind.name.lower() for kind in Kind) == KINDS
    assert WORK_CLASSES == (
        "fp32", "fp64", "fp16", "integer", "multiply", "special", "tensor", "shared", "local", "control",
    )  # fmt: skip


def test_an_event_takes_sixteen_bytes():
    assert EVENT.itemsize == 16
    assert {name: (EVENT.fields[name][0], EVENT.fields[name][1]) for name in EVENT.names} == {
        "value": (np.dtype("<u8"), 0), "site": (np.dtype("<u4"), 8), "thread": (np.dtype("<u2"), 12),
        "kind": (np.dtype("u1"), 14), "bytes": (np.dtype("u1"), 15),
    }  # fmt: skip

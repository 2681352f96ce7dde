"""Latencies of instructions by class of work, from those of single instructions."""

from collections.abc import Sequence

import numpy as np

from simtmm.calibration.micro_rows import SHARED, InstructionLatency
from simtmm.calibration.values import Value

RESOLUTION = 0.5  # cycles: counters tell whole ones
DETERMINED = 0.25  # error of a value over the value, at most, to be called determined


def latencies_by_class(rows: Sequence[InstructionLatency], called: str) -> list[Value]:
    """A value for each class: the median of its instructions, and half of their range for its error.

    A load from shared memory gives `banks.latency`, which begins a cycle later. called: the measurement.
    """
    values = []
    for work in dict.fromkeys(row.work for row in rows):
        own = [row for row in rows if row.work == work]
        cycles = np.array([row.cycles for row in own])
        names = ", ".join(dict.fromkeys(row.opcode for row in own))
        key, value = f"instructions.{work}", float(np.median(cycles))
        if work == SHARED:
            key, value = "banks.latency", max(0.0, value - 1)
        error = max(RESOLUTION, float(np.ptp(cycles)) / 2)
        note = f"median of {names}: {cycles.min():g} to {cycles.max():g} cycles"
        values.append(Value(key, value, "cycles", called, note, error <= DETERMINED * value, error))
    return values

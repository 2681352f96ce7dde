"""Where the blocks of a sample come from."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from simtmm.sampling.sample import Integers
from simtmm.trace.io import Trace
from simtmm.trace.schema import TraceLaunch


class DependsError(Exception):
    """Blocks can't be run apart: why, in words."""


class Source(Protocol):
    """A program that supplies blocks on demand.

    name: of the program. launches: of it, in order. alike: of each launch what tells it from others; those that have
    it in common are taken for alike. notes: what a reader of a result must know, in words.
    """

    name: str
    launches: tuple[TraceLaunch, ...]
    alike: tuple[object, ...]
    notes: tuple[str, ...]

    def trace_of(self, chosen: Mapping[int, Integers]) -> Trace:
        """A trace of the program's launches that holds these blocks at least, by launch."""
        ...


class TraceSource:
    """A trace of which all blocks are there."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.name, self.launches = trace.info.kernel, trace.info.launches
        self.notes: tuple[str, ...] = ()
        events = np.zeros(len(self.launches), np.int64)
        for runs in trace.runs():
            events[runs.launch] += runs.events.sum()
        # Launches of about as many events: within a factor of the eighth root of 2.
        octaves = np.rint(8 * np.log2(events + 1)).astype(int).tolist()
        self.alike: tuple[object, ...] = tuple(
            (shape(launch), octave) for launch, octave in zip(self.launches, octaves, strict=True)
        )

    def trace_of(self, chosen: Mapping[int, Integers]) -> Trace:
        """The trace itself."""
        return self._trace


def shape(launch: TraceLaunch) -> tuple[object, ...]:
    """What is known of a launch before it runs."""
    return launch.kernel, launch.grid, launch.block, launch.registers_per_thread, launch.shared_memory_bytes

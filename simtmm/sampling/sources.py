"""Where the blocks of a sample come from."""

from collections.abc import Mapping
from typing import Protocol

from simtmm.sampling.sample import Integers
from simtmm.trace.io import Trace
from simtmm.trace.schema import TraceLaunch


class DependsError(Exception):
    """Blocks can't be run apart: why, in words."""


class Source(Protocol):
    """A program that supplies blocks on demand.

    name: of the program. launches: of it, in order. same: of each launch what it shares with those that do the very
    same. is_whole: whether all blocks are there, so that looking at them all runs none. notes: what a reader of a
    result must know, in words.
    """

    name: str
    launches: tuple[TraceLaunch, ...]
    same: tuple[object, ...]
    is_whole: bool
    notes: tuple[str, ...]

    def trace_of(self, chosen: Mapping[int, Integers]) -> Trace:
        """A trace of the program's launches that holds these blocks at least, by launch."""
        ...


class TraceSource:
    """A trace with all its blocks."""

    is_whole = True

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.name, self.launches = trace.info.kernel, trace.info.launches
        self.notes: tuple[str, ...] = ()
        self.same: tuple[object, ...] = tuple(range(len(self.launches)))

    def trace_of(self, chosen: Mapping[int, Integers]) -> Trace:
        """The trace itself."""
        return self._trace

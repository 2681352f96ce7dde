"""Bandwidth over occupancy, and a pointer chase, as sets of a joint fit."""

from collections.abc import Mapping, Sequence

import numpy as np

from simtmm.calibration.hierarchy.fits import LATENCY, MEMORY_SERVICE, TURNAROUND, WRITE_SHARE
from simtmm.calibration.latency_levels import LatencyCurve
from simtmm.calibration.least_squares import Numbers
from simtmm.calibration.streams.fit import FIT_POINTS, PART_BYTES, spread_points
from simtmm.calibration.streams.occupancy_curve import Known, OccupancyCurve, StreamPoint, bandwidths, occupancy_curve
from simtmm.calibration.streams.part import HOLDABLE, INTERLEAVE, READ, MachinePart
from simtmm.machine import Machine
from simtmm.watch import Watch

UNSURE = 0.25  # of what a part differs by from another: by so much may the whole ones differ otherwise
LEAST_WORSE = 0.0005  # of a mean error: what rounding makes
UNFELT = (
    "scheduling.launch_overhead",
    "scheduling.graph_launch_overhead",
)  # of a run, whose start is left out


class StreamSet:
    """Streams at some points, on a machine of fewer groups; corrected by what the whole machine has there."""

    kind = "streams"

    def __init__(
        self, machine: Machine, stream: Sequence[StreamPoint], called: str, hold: Sequence[str], watch: Watch | None
    ) -> None:
        """machine: a whole one, whose values that are not fitted all machines have. stream: the measured points.

        called: what sources call the measurement. hold: keys that are not fitted. watch: called as things go on.
        """
        self.part = MachinePart(machine, stream, hold)
        self.stream, self.called, self._watch = tuple(stream), called, watch
        self.names = [READ, *self.part.storing]
        self.points = spread_points(stream, FIT_POINTS)
        self.differs: Numbers = np.zeros(len(self.names) * len(self.points))
        self._unfelt = {key: machine.values().get(key) for key in UNFELT}
        self._on_part: Known = {}
        self._on_whole: Known = {}
        self._measured = np.log([point.measured[name] for name in self.names for point in self.points])

    @property
    def rows(self) -> int:
        """How many residuals there are."""
        return len(self._measured)

    @property
    def others(self) -> Mapping[str, int]:
        """How many measured bandwidths are not fitted, by reason."""
        left = len(self.names) * len(self.stream) - self.rows
        return {"others of the curve, compared in the end": left} if left else {}

    @property
    def structure(self) -> dict[str, str]:
        """What a machine has that begins where streams lead by themselves."""
        return {
            INTERLEAVE: self.part.machine.memory.interleave,
            **({"memory.stores": "at-end"} if self.part.storing else {}),
        }

    def keys(self) -> set[str]:
        """Keys of a machine that a fit to these kernels finds."""
        shown = {each.name for each in self.part.parameters(1.0, bool(self.part.storing))}
        return {LATENCY, *(KEYS[name] for name in shown), *([WRITE_SHARE] if self.part.tells_stores else [])}

    def least_services(self, machine: Machine) -> tuple[float, float]:
        """The least that a chunk may take a partition of a machine, read and written: with less all partitions would
        move more than they may [cycles].
        """
        cycles = machine.memory.partitions * machine.chunk_bytes * self.part.clock / self.part.scale
        return cycles / self.part.most_bandwidth, cycles / self.part.most_written

    def residuals(self, machine: Machine) -> Numbers:
        """float64[kernels and points]: log(simulated / measured), of times."""
        return self._measured - self._part_of(machine, self.points) - self.differs

    def correct(self, machine: Machine) -> None:
        """Take the whole machine's bandwidths for those of its part, here and for machines that differ little."""
        self.differs = self._whole(machine) - self._part_of(machine, self.points)

    def exact(self, machine: Machine) -> Numbers:
        """Residuals on the whole machine."""
        return self._measured - self._whole(machine)

    def compared(self, given: Machine, found: Machine) -> tuple[bool, OccupancyCurve, float, float]:
        """Whether a machine is as near to all points as another; its curve; the mean error of both.

        given, found: the other one, and the one. The whole of the given one runs only where its part leaves it open.
        """
        curve = self.curve(found)
        off = curve.mean_error()
        measured = np.log([point.measured[name] for name in self.names for point in self.stream])
        whole = np.log([each.bandwidth[name] for name in self.names for each in curve.points])
        part, of_given = self._part_of(found, self.stream), self._part_of(given, self.stream)
        own = float(np.abs(np.expm1(of_given + (whole - part) - measured)).mean())
        sure = UNSURE * float(np.abs(part - of_given).mean())
        if abs(own + LEAST_WORSE - off) < sure:
            own = self.curve(given).mean_error()
        return off <= own + LEAST_WORSE, curve, off, own

    def curve(self, machine: Machine) -> OccupancyCurve:
        """All points on the whole machine."""
        return occupancy_curve(machine, self.stream, watch=self._watch, known=self._on_whole)

    def _whole(self, machine: Machine) -> Numbers:
        """Logarithms of the whole machine's bandwidths."""
        runs = [(machine, name, point) for name in self.names for point in self.points]
        return np.log(bandwidths(runs, known=self._on_whole))

    def _part_of(self, machine: Machine, points: Sequence[StreamPoint]) -> Numbers:
        """Logarithms of a part's bandwidths, times as many parts as there are."""
        part = self._part(machine)
        runs = [(part, name, point) for name in self.names for point in points]
        found = np.array(bandwidths(runs, bytes_a_group=PART_BYTES, known=self._on_part))
        return np.log(found * self.part.scale)

    def _part(self, machine: Machine) -> Machine:
        """A machine of fewer groups and partitions, which move as many bytes for a group."""
        memory, scale = machine.memory, self.part.scale
        partitions = max(1, round(memory.partitions / scale))
        share = partitions * scale / memory.partitions
        return machine.replace(
            {
                **self._unfelt,
                "cores.groups": self.part.machine.cores.groups,
                "memory.partitions": partitions,
                MEMORY_SERVICE: memory.service * share,
                TURNAROUND: memory.turnaround * share,
            }
        )


class ChaseSet:
    """Buffers of a pointer chase beyond the caches, each of which says what L is."""

    kind = "chase"

    def __init__(self, curve: LatencyCurve, called: str, farthest: float) -> None:
        """curve: the chase. called: what sources call it. farthest: the least of the buffers that count [bytes]."""
        self.called = called
        self._measured = curve.latencies[curve.sizes >= farthest]
        self._left = int((curve.sizes < farthest).sum())

    @property
    def rows(self) -> int:
        """How many residuals there are."""
        return len(self._measured)

    @property
    def others(self) -> Mapping[str, int]:
        """How many buffers say nothing of L."""
        return {"a buffer that a cache may hold, or too small a one": self._left} if self._left else {}

    def residuals(self, machine: Machine) -> Numbers:
        """float64[buffers]: log(L / measured)."""
        return np.log(machine.memory.latency / self._measured)


KEYS: Mapping[str, str] = {
    "chunk": MEMORY_SERVICE, "turnaround": TURNAROUND, **{name: key for key, name in HOLDABLE.items()}
}  # fmt: skip
"""Keys of a machine by what a fit of streams calls them."""

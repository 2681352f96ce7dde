"""The fit of a machine to bandwidth over occupancy: one value each, the same at all points and for all kernels.

What shows them: `service` the read kernel's saturated end, `block_launch` its end of low occupancy, less L,
`partitions` how softly bandwidth saturates; `store_latency` what a store adds at low occupancy, `turnaround` what
mixing reads and writes costs at the saturated end, `store_buffer` how sharply stores alone come to theirs. The others
are what a warp adds to a round of blocks: `warp_launch` and `store_interval` one that only stores,
`fetch_interval` one that loads, `return_delay` and `return_interval` one that stores what it has loaded, once and
for each chunk, `port_interval` one that loads the same lines again.

How they are found: rounds of blocks at low occupancy and the largest bandwidths, by arithmetic, give values to begin
with. A fit to the read kernel alone betters those that it shows, for some numbers of partitions. With the best number
of these all values are fitted at once, to the read kernel and those that store together: on few points from two
beginnings, then from the better end on more points, and again with neighbouring numbers of partitions, until the best
lies between two that are worse. Where no kernel that stores was measured, the fit to the read
kernel is all there is.

A machine of a fraction of the groups and partitions behaves alike, and is quicker: the fit runs on such a one, and is
corrected in the end by what the whole machine has there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simtmm.calibration.least_squares import Fitted, Numbers, Parameter, least_squares
from simtmm.calibration.streams.first_guess import first_guess
from simtmm.calibration.streams.found_values import FoundValues
from simtmm.calibration.streams.kernels import BYTES_A_GROUP
from simtmm.calibration.streams.occupancy_curve import StreamPoint, bandwidths
from simtmm.calibration.streams.part import READ, MachinePart
from simtmm.calibration.streams.uncertainty import uncertainty
from simtmm.calibration.values import Value
from simtmm.machine import Machine
from simtmm.watch import Watch

PART_BYTES = 1 << 17  # of each array that a group of that part goes through, half of the whole machine's
FIT_POINTS, FEW_POINTS = 10, 6  # of a curve, and those on which a fit to all kernels begins
PARTITIONS = (4, 8, 16, 32, 64)  # of a part of the machine
READ_STEPS = 4  # of a fit to the read kernel alone, at most
FEW_STEPS, STEPS = 4, 6  # of a fit to all kernels, at most: on few points and then on the others
BESIDE_STEPS = 3  # of a fit with a neighbouring number of partitions, which begins near its end, with its slopes
READ_WEIGHT = 2.0  # of the read kernel's errors: it is the one that nothing but latency and bandwidth decides


def _beside(partitions: int) -> tuple[int, ...]:
    """The next smaller and the next larger number of partitions that are tried."""
    at = PARTITIONS.index(partitions)
    return PARTITIONS[max(0, at - 1) : at + 2]


def spread_points(stream: Sequence[StreamPoint], number: int) -> list[StreamPoint]:
    """So many points of a curve, from the first to the last; all, if it has fewer."""
    return [stream[index] for index in sorted({round(at) for at in np.linspace(0, len(stream) - 1, number)})]


class StreamFit:
    """Fits a part of the machine: its groups and partitions are fewer, and their shares of the bandwidth the same."""

    def __init__(
        self,
        machine: Machine,
        stream: Sequence[StreamPoint],
        called: str,
        watch: Watch | None,
        hold: Sequence[str] = (),
    ) -> None:
        self.part = MachinePart(machine, stream, hold)
        self.called, self.watch, self.simulated = called, watch, 0
        self.storing = self.part.storing
        self.differs: Numbers | float = 0.0  # the whole machine from its part: see `_correct`
        self.points, self.few_points = (spread_points(stream, number) for number in (FIT_POINTS, FEW_POINTS))
        self.fits: dict[int, tuple[Sequence[Parameter], Fitted]] = {}  # the last, by number of partitions
        self.partitions = 0
        self.values = first_guess(self.part, stream) | self.part.held

    def run(self) -> tuple[list[Value], list[str]]:
        """The values found, and notes on them."""
        tried = self._try_partitions()
        count = min(tried, key=lambda count: tried[count][0])
        if self.storing:
            self._fit_all_kernels(count, tried[count][1])
        self._correct()
        return self._sure()

    def beginning(self) -> dict[str, Any]:
        """Keys of the whole machine as they are after the fits to few points: where a joint fit may begin."""
        tried = self._try_partitions()
        count = min(tried, key=lambda count: tried[count][0])
        self._take(count, tried[count][1])
        if self.storing:
            self._begin_all_kernels(count, tried[count][1])
        return self.part.keys(self.values, round(count * self.part.scale), self.part.scale)

    def _begin_all_kernels(self, count: int, values: Mapping[str, float]) -> None:
        """Fit all kernels to few points. count, values: as below."""
        found = []
        for begin in self._beginnings():
            self._take(count, {**values, **begin})
            found.append((self._fit_all(self.few_points, FEW_STEPS), dict(self.values)))
        self._take(count, min(found, key=lambda entry: entry[0])[1])

    def _fit_all_kernels(self, count: int, values: Mapping[str, float]) -> None:
        """Fit all kernels. count, values: the number of partitions that is best for the read kernel, and its values."""
        self._begin_all_kernels(count, values)
        self.fits = {}
        self._fit_all(self.points, STEPS)
        while beside := [each for each in _beside(self._best()) if each not in self.fits]:
            nearest = self.fits[self._best()][1]
            self._take(beside[0], self.values | nearest.values)
            self._fit_all(self.points, BESIDE_STEPS, nearest.slopes)

    def _correct(self) -> None:
        """Take the whole machine's bandwidths for those of its part, and fit once more the number that was best.

        More partitions are less often in step: kernels that load and store are some per cent slower on the whole; and
        runs of the part are shorter, so that its full groups are still a little faster or slower than they will be. By
        how much changes little with the values, so it is added to what is simulated on the part. How sure they are is
        asked of the fits before, which compare with one another.
        """
        fits = dict(self.fits)
        best = fits[self._best()][1]
        self._take(self._best(), self.values | best.values)
        runs = [(name, point) for name in (READ, *self.storing) for point in self.points]
        partitions = round(self.partitions * self.part.scale)
        part = self.part.machine.replace(self.part.keys(self.values, self.partitions, 1.0))
        whole = self.part.whole.replace(self.part.keys(self.values, partitions, self.part.scale))
        on_part, on_whole = (
            self._simulated([(machine, *run) for run in runs], length)
            for machine, length in ((part, PART_BYTES), (whole, BYTES_A_GROUP))
        )
        self.differs = np.log(on_whole / (self.part.scale * on_part))
        self._fit_all(self.points, STEPS)
        self.fits = fits

    def _beginnings(self) -> list[dict[str, float]]:
        """What a warp that loads, and one that stores what it has loaded, may add to a round of blocks.

        Chunks take their time on their way to the group, and a store waits for them once, or for each; or warps take
        theirs to begin, which looks alike where memory is nearly full. A fit that begins with one stays near it.
        """
        if not self.part.tells_stores:
            return [{}]
        begins, waits = self.values["fetch_interval"] * self.part.chunks, self.values["return_delay"]
        for_each = {"return_delay": 0.0, "return_interval": waits / self.part.chunks}
        beginnings = [{}, for_each, for_each | {"warp_launch": begins, "fetch_interval": 0.0}]
        return [begin | self.part.held for begin in beginnings]

    def _best(self) -> int:
        """The number of partitions that was fitted best."""
        return min(self.fits, key=lambda count: self.fits[count][1].cost)

    def _sure(self) -> tuple[list[Value], list[str]]:
        """What was found, and how sure it is over all that was chosen."""
        spread = uncertainty(self.fits, self.partitions, 1 + len(self.storing), len(self.points))
        return FoundValues(self.part, self.called, self.fits, self.partitions, self.values, spread).all()

    def _simulated(self, runs: Sequence[tuple[Machine, str, StreamPoint]], bytes_a_group: int) -> Numbers:
        """The bandwidths of runs of that length [bytes / s], which count among all that were simulated."""
        found = np.array(bandwidths(runs, watch=self._tell, bytes_a_group=bytes_a_group))
        self.simulated += len(runs)
        return found

    def _tell(self, done: int) -> None:
        if self.watch is not None:
            self.watch("fitting", self.simulated + done, None)  # how many more it takes nobody knows

    def _take(self, partitions: int, values: Mapping[str, float]) -> None:
        self.partitions, self.values = partitions, dict(values)

    def _try_partitions(self) -> dict[int, tuple[float, dict[str, float]]]:
        """The read kernel's cost and values for some numbers of partitions, downhill from the middle of all."""
        tried: dict[int, tuple[float, dict[str, float]]] = {}
        at = len(PARTITIONS) // 2
        while unknown := [count for count in PARTITIONS[max(0, at - 1) : at + 2] if count not in tried]:
            self.partitions = unknown[0]
            tried[self.partitions] = self._fit_read(), dict(self.values)
            at = PARTITIONS.index(min(tried, key=lambda count: tried[count][0]))
        return tried

    def _fit_read(self) -> float:
        return self._fit(self.part.parameters(self.values["chunk"], False), [READ], self.points, READ_STEPS)

    def _fit_all(self, points: Sequence[StreamPoint], steps: int, slopes: Numbers | None = None) -> float:
        """All values on all kernels at once: a port that takes time changes what the read kernel tells, too."""
        return self._fit(
            self.part.parameters(self.values["chunk"], bool(self.storing)), [READ, *self.storing], points, steps, slopes
        )

    def _fit(
        self,
        parameters: Sequence[Parameter],
        names: Sequence[str],
        points: Sequence[StreamPoint],
        steps: int,
        slopes: Numbers | None = None,
    ) -> float:
        """Fit these on those kernels and points and keep them; the mean cost of a point. slopes: as least_squares."""
        keys = [each.name for each in parameters]

        def residuals(sets: Sequence[Numbers]) -> list[Numbers]:
            """For each set of values, the log of simulated over measured for each kernel and point, weighted."""
            changed = [self.values | dict(zip(keys, each.tolist(), strict=True)) for each in sets]
            machines = [self.part.machine.replace(self.part.keys(each, self.partitions, 1.0)) for each in changed]
            runs = [(machine, name, point) for machine in machines for name in names for point in points]
            simulated = self._simulated(runs, PART_BYTES)
            measured = np.array([point.measured[name] for _, name, point in runs])
            weights = np.array([READ_WEIGHT if name == READ else 1.0 for _, name, _ in runs])
            off = np.log(self.part.scale * simulated / measured).reshape(len(machines), -1)
            return list(weights.reshape(off.shape) * (off + (self.differs if points is self.points else 0.0)))

        found = least_squares(
            parameters, [self.values[key] for key in keys], residuals, steps, slopes, 0 if slopes is not None else 1
        )
        self.values |= found.values
        self.fits[self.partitions] = parameters, found
        return found.cost

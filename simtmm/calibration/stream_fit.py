"""The fit of a machine to bandwidth over occupancy: one value each, the same at all points and for all kernels.

What shows them: `service` the read kernel's saturated end, `block_launch` its end of low occupancy, less L,
`warp_launch` how the time of a round of blocks grows with its warps, `partitions` how softly bandwidth saturates;
`store_latency` what a store adds at low occupancy, `turnaround` what mixing reads and writes costs at the saturated
end, `port_interval` what further loads of the same lines cost, `return_interval` what a warp that stores what it has
loaded adds to a round of blocks, and how that grows with its loads, `store_interval` what one adds that only stores.

How they are found: a fit to the read kernel alone gives values of the first three to begin with, for some numbers of
partitions. Then all but the partitions are fitted at once, to the read kernel and those that store together, on few
points, for the numbers of partitions that suit the read kernel about as well; the best of these is kept, and goes on.
Where no kernel that stores was measured, the fit to the read kernel is all there is.

A machine of a fraction of the groups and partitions behaves alike, and is quicker: the fit runs on such a one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simtmm.calibration.least_squares import Fitted, Numbers, Parameter, least_squares
from simtmm.calibration.occupancy_curve import StreamPoint, bandwidths
from simtmm.calibration.uncertainty import uncertainty
from simtmm.calibration.values import Value
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS
from simtmm.watch import Watch

PART = 4  # of the groups and partitions, for the fit
LEAST_GROUPS = 16  # of that part: with fewer, chance decides how full the partitions are
FIT_POINTS, FEW_POINTS = 13, 7  # of a curve, for the read kernel alone and for all kernels at once
PARTITIONS = (8, 16, 32, 64, 128, 256)  # of a part of the machine
STEPS, FEW_STEPS = 5, 3  # of a fit at most, and before the partitions are chosen; it mostly converges in three
BESIDE_STEPS = 2  # of a fit with a neighbouring number of partitions, which begins near its end
READ_WEIGHT = 2.0  # of the read kernel's errors: it is the one that nothing but latency and bandwidth decides
PORT, RETURN, STORE = 2.5, 9.0, 7.0  # cycles of a chunk at a group's port, returned and stored, where a fit begins
CANDIDATES = 2  # numbers of partitions that are tried with all kernels at once
AS_GOOD = 1.05  # costs that differ by no more than this factor do not tell partitions apart
WORTH_IT = 1.3  # and up to this one, partitions are worth trying with all kernels at once
MOST_BANDWIDTH = 1.25  # of the memory, over what the quickest kernel moved: more would be no memory that was seen
DETERMINED = 0.25  # standard error of a value over the value, at most, to be called determined
READ = "read"
ATOMICS = "memory.atomic_service"


def _beside(partitions: int) -> tuple[int, ...]:
    """The next smaller and the next larger number of partitions that are tried."""
    at = PARTITIONS.index(partitions)
    return PARTITIONS[max(0, at - 1) : at + 2]


class StreamFit:
    """Fits a part of the machine: its groups and partitions are fewer, and their shares of the bandwidth the same."""

    def __init__(self, machine: Machine, stream: Sequence[StreamPoint], called: str, watch: Watch | None) -> None:
        if READ not in stream[0].measured:
            raise StudyError(f"operation {READ!r}: was not measured, and the calibration begins with it")
        if machine.clock_hz is None:
            raise StudyError("clock_hz: not known: the latency file has no column clock_mhz, and no machine is given")
        self.called, self.watch, self.simulated = called, watch, 0
        groups = machine.cores.groups
        part = round(groups / max(1, min(PART, groups // LEAST_GROUPS)))
        self.scale = groups / part  # of the whole machine over its part
        measured = [name for name in OPERATIONS if name in stream[0].measured]
        self.storing = [name for name in measured if OPERATIONS[name].stores]
        self.tells_stores = len(self.storing) > 1  # one kernel can't tell what loads and what stores take of a store
        changes = {"cores.groups": part, "memory.interleave": "hash"}
        self.machine = machine.replace(changes | ({"memory.stores": "blocking"} if self.storing else {}))
        l2 = machine.memory.l2
        self.atomics_follow = l2 is None or l2.atomics == "through"  # partitions of memory do them
        self.clock = machine.clock_hz
        self.points, self.few_points = (
            [stream[index] for index in sorted({round(at) for at in np.linspace(0, len(stream) - 1, number)})]
            for number in (FIT_POINTS, FEW_POINTS)
        )
        self.errors: dict[str, float] = {}
        self.fits: dict[int, tuple[Sequence[Parameter], Fitted]] = {}  # the last, by number of partitions
        self.shares: dict[int, float] = {}  # how often each is best, points and kernels being drawn anew
        self.partitions = 0
        self.quickest = max(max(point.measured.values()) for point in stream) / self.scale
        self.values = self._first_guess(stream)

    def _first_guess(self, stream: Sequence[StreamPoint]) -> dict[str, float]:
        """What arithmetic alone gives: the largest bandwidth is the memory's, the smallest is all latency."""
        least = stream[0]

        def round_trip(name: str) -> float:
            """Cycles from one block to the next, at the lowest occupancy."""
            threads = least.block_size * least.blocks_per_group * self.machine.cores.groups * self.scale
            return OPERATIONS[name].streams * ELEMENT_BYTES * threads / least.measured[name] * self.clock

        latency = self.machine.memory.latency
        block_launch = max(0.0, round_trip(READ) - latency)
        stored = [round_trip(name) - block_launch - (latency if OPERATIONS[name].loads else 0) for name in self.storing]
        most = {name: max(point.measured[name] for point in stream) for name in least.measured}
        mixed = [most[READ] / most[name] - 1 for name in self.storing if OPERATIONS[name].loads]
        chunk = self.machine.chunk_bytes / most[READ] * self.scale * self.clock
        return {
            "chunk": chunk,
            "block_launch": block_launch,
            "warp_launch": 5.0,
            "store_latency": max(1.0, float(np.median(stored))) if stored else 1.0,
            # It turns round at every other chunk, about.
            "turnaround": 2 * chunk * max(0.0, float(np.median(mixed))) if mixed else 0.0,
            "port_interval": 0.0,
            "return_interval": RETURN,
            "store_interval": STORE,
        }

    def run(self) -> tuple[list[Value], list[str]]:
        """The values found, and notes on them."""
        tried = self._try_partitions()
        best = min(cost for cost, _ in tried.values())
        worth_it = sorted((count for count in tried if tried[count][0] <= WORTH_IT * best), key=lambda n: tried[n][0])
        if not self.storing:
            return self._sure()
        found = []
        for count in worth_it[:CANDIDATES]:
            self._take(count, tried[count][1] | {"port_interval": PORT})
            found.append((self._fit_all(FEW_STEPS), count, dict(self.values)))
        _, count, values = min(found, key=lambda entry: entry[0])
        self._take(count, values)
        self.fits = {}
        self._fit_all(STEPS)
        while beside := [each for each in _beside(self._best()) if each not in self.fits]:
            self._take(beside[0], self.fits[self._best()][1].values)
            self._fit_all(BESIDE_STEPS)
        return self._sure()

    def _best(self) -> int:
        """The number of partitions that was fitted best."""
        return min(self.fits, key=lambda count: self.fits[count][1].cost)

    def _sure(self) -> tuple[list[Value], list[str]]:
        """The best of the last fits, and how sure it is over all that was chosen."""
        self._take(self._best(), self.values | self.fits[self._best()][1].values)
        fitted = self.fits[self.partitions][1]
        points = len(self.few_points if self.storing else self.points)
        spread = uncertainty(self.fits, self.partitions, 1 + len(self.storing), points)
        self.shares = spread.shares
        self.errors = {
            key: error if np.isfinite(fitted.errors[key]) else np.inf for key, error in spread.errors.items()
        }
        return self._found()

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

    def _read_parameters(self) -> tuple[Parameter, ...]:
        chunk = self.values["chunk"]
        least = self.machine.chunk_bytes / (MOST_BANDWIDTH * self.quickest) * self.clock
        return (
            Parameter("chunk", least, max(3 * chunk, least), chunk / 50),
            Parameter("block_launch", 0, 1e5, 15),
            Parameter("warp_launch", 0, 1e3, 2),
        )

    def _fit_read(self) -> float:
        return self._fit(self._read_parameters(), [READ], STEPS, self.points)

    def _fit_all(self, steps: int) -> float:
        """All values on all kernels at once: a port that takes time changes what the read kernel tells, too."""
        latency, chunk = self.machine.memory.latency, self.values["chunk"]
        parameters: tuple[Parameter, ...] = (
            *self._read_parameters(),
            Parameter("store_latency", 1, 2 * latency, latency / 20),
            Parameter("turnaround", 0, 2 * chunk, chunk / 20),
            Parameter("port_interval", 0, 20, 0.5),
        )
        if self.tells_stores:
            parameters += Parameter("return_interval", 0, 60, 1), Parameter("store_interval", 0, 60, 1)
        return self._fit(parameters, [READ, *self.storing], steps, self.few_points)

    def _fit(
        self, parameters: Sequence[Parameter], names: Sequence[str], steps: int, points: Sequence[StreamPoint]
    ) -> float:
        """Fit these on those kernels and points and keep them; the mean cost of a point."""
        keys = [each.name for each in parameters]

        def residuals(sets: Sequence[Numbers]) -> list[Numbers]:
            """For each set of values, the log of simulated over measured for each kernel and point, weighted."""
            changed = [self.values | dict(zip(keys, each.tolist(), strict=True)) for each in sets]
            machines = [self.machine.replace(self._keys(each, self.partitions, 1.0)) for each in changed]
            runs = [(machine, name, point) for machine in machines for name in names for point in points]
            simulated = np.array(bandwidths(runs, watch=self._tell))
            self.simulated += len(runs)
            measured = np.array([point.measured[name] for _, name, point in runs])
            weights = np.array([READ_WEIGHT if name == READ else 1.0 for _, name, _ in runs])
            return list((weights * np.log(self.scale * simulated / measured)).reshape(len(machines), -1))

        found = least_squares(parameters, [self.values[key] for key in keys], residuals, steps)
        self.values |= found.values
        self.fits[self.partitions] = parameters, found
        return found.cost

    def _keys(self, values: Mapping[str, float], partitions: int, scale: float) -> dict[str, Any]:
        """The keys of a machine that is `scale` times as large as the part, and has that many partitions."""
        service = round(partitions * values["chunk"] / scale, 3)
        read = {
            "scheduling.block_launch": round(values["block_launch"], 1),
            "scheduling.warp_launch": round(values["warp_launch"], 2),
            "memory.partitions": partitions,
            "memory.service": service,
            **({ATOMICS: service} if self.atomics_follow else {}),
        }
        return (
            read
            if not self.storing
            else read
            | {
                "memory.store_latency": round(max(1.0, values["store_latency"]), 1),
                "memory.turnaround": round(partitions * values["turnaround"] / scale, 3),
                "memory.port_interval": round(values["port_interval"], 3),
            }
            | (
                {
                    "memory.return_interval": round(values["return_interval"], 3),
                    "memory.store_interval": round(values["store_interval"], 3),
                }
                if self.tells_stores
                else {}
            )
        )

    def _found(self) -> tuple[list[Value], list[str]]:
        partitions = round(self.partitions * self.scale)
        keys = self._keys(self.values, partitions, self.scale)
        good = [
            count for count, (_, fit) in self.fits.items() if fit.cost <= AS_GOOD * self.fits[self.partitions][1].cost
        ]
        least, most = (round(count * self.scale) for count in (min(good), max(good)))
        tried = ", ".join(str(round(count * self.scale)) for count in sorted(self.fits))
        per_chunk = partitions / self.scale
        values = [
            Value("memory.interleave", "hash", "", self.called, "assumption", False),
            Value(
                "memory.partitions", partitions, "partitions", self.called,
                f"how softly bandwidth saturates; tried last, on all kernels: {tried}; {partitions} fits best, "
                f"{least} to {most} as well within {100 * (AS_GOOD - 1):.0f} %; with points and kernels drawn anew it "
                f"is best in {100 * self.shares[self.partitions]:.0f} % of draws",
                most < 2 * least,
            ),
            self._value(keys, "memory.service", "chunk", "read kernel, its saturated end", per_chunk),
            *(
                [Value(ATOMICS, keys[ATOMICS], "cycles", self.called, "assumption: as service", False)]
                if self.atomics_follow
                else []
            ),
            self._value(keys, "scheduling.block_launch", "block_launch", "read kernel, low occupancy, less L"),
            self._value(keys, "scheduling.warp_launch", "warp_launch", "read kernel, over the warps of a round"),
        ]  # fmt: skip
        if self.storing:
            values += [
                Value(
                    "memory.stores", "blocking", "", self.called, "assumption: a warp ends when its stores do", False
                ),
                self._value(keys, "memory.store_latency", "store_latency", "kernels that store, low occupancy"),
                self._value(
                    keys, "memory.turnaround", "turnaround", "kernels that load and store, saturated", per_chunk
                ),
                self._value(keys, "memory.port_interval", "port_interval", "stencils, whose lines are loaded again"),
            ]
        if self.tells_stores:
            values += [
                self._value(keys, "memory.return_interval", "return_interval", "kernels that store what they load"),
                self._value(keys, "memory.store_interval", "store_interval", "kernels that only store"),
            ]
        peak = keys["memory.partitions"] * self.machine.chunk_bytes / keys["memory.service"] * self.clock
        note = (
            f"peak bandwidth by `partitions` and `service`: {peak / 1e9:.0f} GB/s, which hashed partitions come near "
            "only with far more chunks in flight than a machine holds"
        )
        together = (
            f"values of the streams are fitted on {', '.join([READ, *self.storing])} at once; named is what shows each"
        )
        return values, [note, together] if self.storing else [note]

    def _value(self, keys: Mapping[str, Any], key: str, name: str, note: str, factor: float = 1.0) -> Value:
        value, error = keys[key], self.errors[name] * factor
        reported = None if np.isinf(error) else error
        return Value(key, value, "cycles", self.called, note, error <= DETERMINED * value, reported)

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
from simtmm.calibration.streams.kernels import BYTES_A_GROUP
from simtmm.calibration.streams.occupancy_curve import StreamPoint, bandwidths
from simtmm.calibration.streams.uncertainty import uncertainty
from simtmm.calibration.values import Value
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS
from simtmm.watch import Watch

PART = 8  # of the groups and partitions, for the fit
PART_BYTES = 1 << 17  # of each array that a group of that part goes through, half of the whole machine's
LEAST_GROUPS = 10  # of that part: with fewer, chance decides how full the partitions are
FIT_POINTS, FEW_POINTS = 10, 6  # of a curve, and those on which a fit to all kernels begins
PARTITIONS = (4, 8, 16, 32, 64)  # of a part of the machine
READ_STEPS = 4  # of a fit to the read kernel alone, at most
FEW_STEPS, STEPS = 4, 6  # of a fit to all kernels, at most: on few points and then on the others
BESIDE_STEPS = 3  # of a fit with a neighbouring number of partitions, which begins near its end, with its slopes
READ_WEIGHT = 2.0  # of the read kernel's errors: it is the one that nothing but latency and bandwidth decides
PORT, STORE, BUFFER = (
    2.5,
    1.0,
    5.0,
)  # cycles of a chunk at a group's port, loaded and stored; chunks: where a fit begins
WARP = 5.0  # cycles of a warp that begins, where no kernel tells
AS_GOOD = 1.05  # costs that differ by no more than this factor do not tell partitions apart
MOST_BANDWIDTH = 1.25  # of the memory, over what the quickest kernel moved: more would be no memory that was seen
DETERMINED = 0.25  # standard error of a value over the value, at most, to be called determined
READ = "read"
ATOMICS = "memory.atomic_service"
HOLDABLE = {
    f"{table}.{name}": name
    for table, names in {
        "scheduling": ("block_launch", "warp_launch"),
        "memory": (
            "store_latency",
            "port_interval",
            "store_buffer",
            "fetch_interval",
            "return_delay",
            "return_interval",
            "store_interval",
        ),
    }.items()
    for name in names
}
"""Keys that a fit may leave as the machine has them, and what they are called here."""


def _own(machine: Machine, key: str) -> float:
    """The machine's own value of a key that is held. Raises StudyError where it has none."""
    value = machine.values().get(key)
    if value is None:
        raise StudyError(f"hold {key}: {machine.name} has no value for it: set one")
    return float(value)


def _without_ports(machine: Machine) -> dict[str, float]:
    """What a machine has no use for whose pipe stands instead of memory ports, and says what may be on its way."""
    pipe = machine.memory.pipe
    if pipe is None:
        return {}
    return {"port_interval": 0.0} | ({"fetch_interval": 0.0} if pipe.misses else {})


def _beside(partitions: int) -> tuple[int, ...]:
    """The next smaller and the next larger number of partitions that are tried."""
    at = PARTITIONS.index(partitions)
    return PARTITIONS[max(0, at - 1) : at + 2]


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
        if READ not in stream[0].measured:
            raise StudyError(f"operation {READ!r}: was not measured, but the calibration starts from it")
        if machine.clock_hz is None:
            raise StudyError("clock_hz: unknown: the latency file has no column clock_mhz, and no machine is given")
        self.called, self.watch, self.simulated = called, watch, 0
        groups = machine.cores.groups
        part = round(groups / max(1, min(PART, groups // LEAST_GROUPS)))
        self.scale = groups / part  # of the whole machine over its part
        measured = [name for name in OPERATIONS if name in stream[0].measured]
        self.storing = [name for name in measured if OPERATIONS[name].stores]
        self.tells_stores = len(self.storing) > 1  # one kernel can't tell what loads and what stores take of a store
        changes = {"cores.groups": part, "memory.interleave": "hash"}
        changes |= {"memory.stores": "at-end"} if self.storing else {}
        self.machine = machine.replace(changes)
        self.whole = machine.replace(changes | {"cores.groups": groups})
        self.differs: Numbers | float = 0.0  # the whole machine from its part: see `_correct`
        l2 = machine.memory.l2
        self.atomics_follow = l2 is None or l2.atomics == "through"  # partitions of memory do them
        self.clock = machine.clock_hz
        self.chunks = max(1.0, machine.cores.warp_width * ELEMENT_BYTES / machine.chunk_bytes)  # that a warp loads
        self.points, self.few_points = (
            [stream[index] for index in sorted({round(at) for at in np.linspace(0, len(stream) - 1, number)})]
            for number in (FIT_POINTS, FEW_POINTS)
        )
        self.errors: dict[str, float] = {}
        self.fits: dict[int, tuple[Sequence[Parameter], Fitted]] = {}  # the last, by number of partitions
        self.shares: dict[int, float] = {}  # how often each is best, points and kernels being drawn anew
        self.partitions = 0
        self.quickest = max(max(point.measured.values()) for point in stream) / self.scale
        self.held = {HOLDABLE[key]: _own(machine, key) for key in hold} | _without_ports(machine)
        self.values = self._first_guess(stream) | self.held

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
        # What starts and what passes a port go on at once: the slower one of them is what a further warp adds.
        adds = {name: self._for_a_warp(name, stream) for name in least.measured}
        loads_and_stores = [adds[name] for name in self.storing if OPERATIONS[name].streams == 2]
        return {
            "chunk": chunk,
            "block_launch": block_launch,
            "warp_launch": adds.get("init", WARP) if self.tells_stores else WARP,
            "store_latency": max(1.0, float(np.median(stored))) if stored else 1.0,
            # It turns round at every other chunk, about.
            "turnaround": 2 * chunk * max(0.0, float(np.median(mixed))) if mixed else 0.0,
            "store_buffer": BUFFER if self.tells_stores else 0.0,
            "port_interval": PORT,
            "fetch_interval": adds[READ] / self.chunks if self.tells_stores else 0.0,
            "return_delay": min(loads_and_stores, default=0.0),
            "return_interval": 0.0,
            "store_interval": STORE,
        }

    def _for_a_warp(self, name: str, stream: Sequence[StreamPoint]) -> float:
        """Cycles by which a further warp of a block makes a round longer, where a group holds one block at a time."""
        width, groups = self.machine.cores.warp_width, self.machine.cores.groups * self.scale
        alone = [point for point in stream if point.blocks_per_group == 1 and point.block_size >= width]
        warps = [point.block_size / width for point in alone]
        if len(set(warps)) < 2:
            return WARP
        moved = OPERATIONS[name].streams * ELEMENT_BYTES * groups * self.clock
        return max(
            0.0, float(np.polyfit(warps, [moved * each.block_size / each.measured[name] for each in alone], 1)[0])
        )

    def run(self) -> tuple[list[Value], list[str]]:
        """The values found, and notes on them."""
        tried = self._try_partitions()
        count = min(tried, key=lambda count: tried[count][0])
        if self.storing:
            self._fit_all_kernels(count, tried[count][1])
        self._correct()
        return self._sure()

    def _fit_all_kernels(self, count: int, values: Mapping[str, float]) -> None:
        """Fit all kernels. count, values: the number of partitions that is best for the read kernel, and its values."""
        found = []
        for begin in self._beginnings():
            self._take(count, {**values, **begin})
            found.append((self._fit_all(self.few_points, FEW_STEPS), dict(self.values)))
        self._take(count, min(found, key=lambda entry: entry[0])[1])
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
        partitions = round(self.partitions * self.scale)
        part = self.machine.replace(self._keys(self.values, self.partitions, 1.0))
        whole = self.whole.replace(self._keys(self.values, partitions, self.scale))
        on_part, on_whole = (
            self._simulated([(machine, *run) for run in runs], length)
            for machine, length in ((part, PART_BYTES), (whole, BYTES_A_GROUP))
        )
        self.differs = np.log(on_whole / (self.scale * on_part))
        self._fit_all(self.points, STEPS)
        self.fits = fits

    def _beginnings(self) -> list[dict[str, float]]:
        """What a warp that loads, and one that stores what it has loaded, may add to a round of blocks.

        Chunks take their time on their way to the group, and a store waits for them once, or for each; or warps take
        theirs to begin, which looks alike where memory is nearly full. A fit that begins with one stays near it.
        """
        if not self.tells_stores:
            return [{}]
        begins, waits = self.values["fetch_interval"] * self.chunks, self.values["return_delay"]
        for_each = {"return_delay": 0.0, "return_interval": waits / self.chunks}
        beginnings = [{}, for_each, for_each | {"warp_launch": begins, "fetch_interval": 0.0}]
        return [begin | self.held for begin in beginnings]

    def _best(self) -> int:
        """The number of partitions that was fitted best."""
        return min(self.fits, key=lambda count: self.fits[count][1].cost)

    def _sure(self) -> tuple[list[Value], list[str]]:
        """What was found, and how sure it is over all that was chosen."""
        fitted = self.fits[self.partitions][1]
        spread = uncertainty(self.fits, self.partitions, 1 + len(self.storing), len(self.points))
        self.shares = spread.shares
        self.errors = {
            key: error if np.isfinite(fitted.errors[key]) else np.inf for key, error in spread.errors.items()
        }
        return self._found()

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

    def _parameters(self, of_stores: bool) -> list[Parameter]:
        """What is fitted, in steps over which slopes are taken. of_stores: what stores show, too."""
        latency, chunk = self.machine.memory.latency, self.values["chunk"]
        least = self.machine.chunk_bytes / (MOST_BANDWIDTH * self.quickest) * self.clock
        parameters = [
            Parameter("chunk", least, max(3 * chunk, least), chunk / 50),
            Parameter("block_launch", 0, 1e5, 15),
        ]
        if of_stores or not self.tells_stores:
            parameters.append(Parameter("warp_launch", 0, 1e3, 2))
        if self.tells_stores:
            parameters.append(Parameter("fetch_interval", 0, 200, 1))
        if of_stores:
            parameters += [
                Parameter("store_latency", 1, 2 * latency, latency / 20),
                Parameter("turnaround", 0, 2 * chunk, chunk / 20),
                Parameter("port_interval", 0, 20, 0.5),
            ]
        if of_stores and self.tells_stores:
            parameters += [
                Parameter("store_buffer", 0, 100, 1.5),
                Parameter("return_delay", 0, 400, 3),
                Parameter("return_interval", 0, 60, 1),
                Parameter("store_interval", 0, 60, 1),
            ]
        return [parameter for parameter in parameters if parameter.name not in self.held]

    def _fit_read(self) -> float:
        return self._fit(self._parameters(False), [READ], self.points, READ_STEPS)

    def _fit_all(self, points: Sequence[StreamPoint], steps: int, slopes: Numbers | None = None) -> float:
        """All values on all kernels at once: a port that takes time changes what the read kernel tells, too."""
        return self._fit(self._parameters(bool(self.storing)), [READ, *self.storing], points, steps, slopes)

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
            machines = [self.machine.replace(self._keys(each, self.partitions, 1.0)) for each in changed]
            runs = [(machine, name, point) for machine in machines for name in names for point in points]
            simulated = self._simulated(runs, PART_BYTES)
            measured = np.array([point.measured[name] for _, name, point in runs])
            weights = np.array([READ_WEIGHT if name == READ else 1.0 for _, name, _ in runs])
            off = np.log(self.scale * simulated / measured).reshape(len(machines), -1)
            return list(weights.reshape(off.shape) * (off + (self.differs if points is self.points else 0.0)))

        found = least_squares(
            parameters, [self.values[key] for key in keys], residuals, steps, slopes, 0 if slopes is not None else 1
        )
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
        if not self.storing:
            return read
        stores = {
            "memory.store_latency": round(max(1.0, values["store_latency"]), 1),
            "memory.turnaround": round(partitions * values["turnaround"] / scale, 3),
            "memory.port_interval": round(values["port_interval"], 3),
        }
        both = (
            ("store_buffer", "fetch_interval", "return_delay", "return_interval", "store_interval")
            if self.tells_stores
            else ()
        )
        return read | stores | {f"memory.{name}": round(values[name], 3) for name in both}

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
                Value("memory.stores", "at-end", "", self.called, "assumption: a block ends when its stores do", False),
                self._value(keys, "memory.store_latency", "store_latency", "kernels that store, low occupancy"),
                self._value(
                    keys, "memory.turnaround", "turnaround", "kernels that load and store, saturated", per_chunk
                ),
                self._value(keys, "memory.port_interval", "port_interval", "stencils, whose lines are loaded again"),
            ]
        if self.tells_stores:
            values += [
                self._value(
                    keys,
                    "memory.store_buffer",
                    "store_buffer",
                    "kernels that only store, how sharply they saturate",
                    unit="chunks",
                ),
                self._value(
                    keys,
                    "memory.fetch_interval",
                    "fetch_interval",
                    "kernels that load, over the warps of a round",
                ),
                self._value(keys, "memory.return_delay", "return_delay", "kernels that store what they load"),
                self._value(keys, "memory.return_interval", "return_interval", "likewise, over what they load"),
                self._value(keys, "memory.store_interval", "store_interval", "kernels that only store"),
            ]
        peak = keys["memory.partitions"] * self.machine.chunk_bytes / keys["memory.service"] * self.clock
        note = (
            f"peak bandwidth from `partitions` and `service`: {peak / 1e9:.0f} GB/s, which hashed partitions approach "
            "only with far more chunks in flight than a machine holds"
        )
        together = (
            f"stream values are fitted to {', '.join([READ, *self.storing])} together; sources name what shows each"
        )
        values = [value for value in values if HOLDABLE.get(value.key) not in self.held]
        return values, [note, together] if self.storing else [note]

    def _value(
        self, keys: Mapping[str, Any], key: str, name: str, note: str, factor: float = 1.0, unit: str = "cycles"
    ) -> Value:
        value, error = keys[key], self.errors.get(name, 0.0) * factor
        reported = None if np.isinf(error) else error
        return Value(key, value, unit, self.called, note, error <= DETERMINED * value, reported)

"""From measurements to a machine: which value came from which measurement, and how well it is determined.

Two measurements are enough, both of which small benchmarks give:

- a pointer chase over the size of the buffer: latencies of L1, L2 and global memory, and the caches' sizes;
- bandwidth of streaming kernels over occupancy. The read kernel gives, all at once by least squares, `service` (its
  saturated end), `partitions` (how softly it saturates), `block_launch` (its end of low occupancy, less L) and
  `warp_launch` (how the time of a round of blocks grows with its warps). What a store adds at low occupancy gives
  `store_latency`; what mixing reads and writes costs at the saturated end gives `turnaround`; and what further loads
  of the same lines cost gives `port_interval`.

Each is a value of the machine, the same for all points. The simulator itself is the function that is fitted. A machine
of a fraction of the groups and partitions behaves alike, and is quicker: the fit runs on such a one, and the errors
that are reported are those of the whole machine.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import StudyError
from simtmm.files import written_whole
from simtmm.machine import Machine
from simtmm.study.latency_levels import LatencyCurve, Level, capacity_in_sets, find_levels
from simtmm.study.occupancy_curve import (
    ELEMENT_BYTES,
    OccupancyCurve,
    StreamPoint,
    occupancy_curve,
    stream_bandwidth,
)

Numbers = npt.NDArray[np.float64]
Watch = Callable[[str, int, int | None], None]

CORES_PER_GROUP = 64  # where no machine says
WARP_WIDTH = 32
CHUNK_WORDS = 32  # lines of 128 bytes
WAYS = 4, 16  # of an L1 and an L2: a pointer chase in random order does not tell them
SAME_MEMORY = (
    1.25  # a plateau that close before the last is global memory too, with fewer misses of address translation
)
CACHE_WIDTH = 2  # last size over first of a cache's plateau; a narrower one is another cache's far part
FARTHEST = 4  # global memory's latency is that of buffers down to a quarter of the largest

PART = 4  # of the groups and partitions, for the fit
LEAST_GROUPS = 16  # of that part: with fewer, chance decides how full the partitions are
FIT_POINTS = 13  # of a curve, for the fit
PARTITIONS = (8, 16, 32, 64, 128, 256)  # of a part of the machine
FEW_STEPS = 3  # where each takes long
CANDIDATES = 2  # numbers of partitions that are tried with all kernels
STEPS = 6  # of a fit at most; it mostly converges in three
MOST_BANDWIDTH = 1.25  # of the memory, over what the quickest kernel moved: more would be no memory that was seen
KINK = 0.02  # errors below this count by their square, those above by their size: a stray point weighs little
DETERMINED = 0.25  # standard error of a value over the value, at most, to be called determined
AS_GOOD = 1.05  # errors that differ by no more than this factor do not tell partitions apart
WORTH_IT = 1.3  # and up to this one, partitions are worth trying with the kernels that store
READ = "read"


@dataclass(frozen=True)
class Value:
    """A calibrated value. key: dotted. error: its standard error from the fit, None where there is none. note: from
    which measurement it came and how. determined: whether the measurements tell it.
    """

    key: str
    value: Any
    unit: str
    measurement: str
    note: str
    determined: bool = True
    error: float | None = None


@dataclass(frozen=True)
class Calibration:
    """A machine from measurements. curve: its points over occupancy, None without a stream measurement."""

    machine: Machine
    values: tuple[Value, ...]
    levels: tuple[Level, ...]
    curve: OccupancyCurve | None
    latency_errors: tuple[tuple[float, float, float], ...] = ()  # bytes, measured cycles, simulated over measured - 1
    notes: tuple[str, ...] = field(default=())

    @property
    def undetermined(self) -> tuple[Value, ...]:
        """The values that the measurements do not tell."""
        return tuple(value for value in self.values if not value.determined)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document."""
        return {
            "machine": self.machine.to_dict(),
            "values": [vars(value) for value in self.values],
            "levels": [vars(level) for level in self.levels],
            "ill_determined": [value.key for value in self.undetermined],
            "latency_errors": [
                {"buffer_bytes": size, "measured_cycles": measured, "error": error}
                for size, measured, error in self.latency_errors
            ],
            "stream": None if self.curve is None else self.curve.to_dict(),
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write the machine as TOML with its sources, whole or not at all."""
        with written_whole(path) as temporary:
            temporary.write_text(machine_toml(self.machine), encoding="utf-8")


def calibrate(
    name: str,
    latency: LatencyCurve,
    stream: Sequence[StreamPoint] = (),
    base: Machine | None = None,
    measurements: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> Calibration:
    """A machine of that name from a pointer chase and, if there, bandwidth over occupancy.

    base: what the measurements do not tell, such as the warp width, and all else that a profile has; without one the
    numbers of groups and threads follow from the stream measurement. measurements: how `latency` and `stream` are
    called in the sources. watch: called as things go on.

    Raises StudyError where the measurements do not fit together.
    """
    called = {"latency": "the latency curve", "stream": "bandwidth over occupancy", **(measurements or {})}
    levels = find_levels(latency)
    found, notes = _levels_to_values(latency, levels, called["latency"], base)
    machine, structure = _structure(name, latency, stream, base, called["stream"])
    machine = _with(machine, [*structure, *found])
    found = [*structure, *found]
    curve = None
    if stream:
        if machine.clock_hz is None:
            raise StudyError("clock_hz: not known: the latency file has no column clock_mhz, and no machine is given")
        fitted, more = _Fit(machine, stream, called["stream"], watch).run()
        found += fitted
        notes += more
        machine = _with(machine, fitted)
        curve = occupancy_curve(machine, stream, watch=watch)
    machine = machine.model_copy(update={"sources": _sources(machine, base, found)})
    return Calibration(machine, tuple(found), levels, curve, _latency_errors(machine, latency), tuple(notes))


# --- the pointer chase ------------------------------------------------------------------------------------------------


def _levels_to_values(
    curve: LatencyCurve, levels: Sequence[Level], called: str, base: Machine | None
) -> tuple[list[Value], list[str]]:
    """L1, L2 and global memory among the levels; whatever else there is becomes a note."""
    farthest = curve.latencies[curve.sizes >= curve.sizes[-1] / FARTHEST]
    memory = float(np.median(farthest))
    caches = [level for level in levels[:-1] if SAME_MEMORY * level.latency < levels[-1].latency]
    caches = [level for level in caches if level.last >= CACHE_WIDTH * level.first]
    values = [
        Value(
            "memory.latency",
            round(memory, 1),
            "cycles",
            called,
            f"median of buffers from {_size(curve.sizes[-1] / FARTHEST)} on",
        )
    ]
    chunk_bytes = base.chunk_bytes if base else CHUNK_WORDS * 4
    taken = [levels[-1]]
    for key, level, ways in zip(("memory.l1", "memory.l2"), _nearest_and_farthest(caches), WAYS, strict=False):
        note = f"plateau from {_size(level.first)} to {_size(level.last)}"
        sets = capacity_in_sets(level, chunk_bytes, ways)
        values += [
            Value(f"{key}.sets", sets, "sets", called, f"{note}, in {ways} ways"),
            Value(f"{key}.ways", ways, "chunks", called, "assumption: only sets times ways is measured", False),
            Value(f"{key}.latency", round(level.latency, 1), "cycles", called, note),
        ]
        taken.append(level)
    notes = [
        f"a level of {level.latency:.1f} cycles from {_size(level.first)} to {_size(level.last)} has no place in the "
        "machine, which has L1, L2 and global memory"
        for level in levels
        if level not in taken
    ]
    return values, notes


def _nearest_and_farthest(caches: Sequence[Level]) -> Sequence[Level]:
    return caches if len(caches) < 2 else (caches[0], caches[-1])


def _latency_errors(machine: Machine, curve: LatencyCurve) -> tuple[tuple[float, float, float], ...]:
    """For each point: the latency of the level that holds the buffer, over the measured one, less 1."""
    memory = machine.memory
    caches = [
        (cache.sets * cache.ways * machine.chunk_bytes, cache.latency) for cache in (memory.l1, memory.l2) if cache
    ]
    rows = []
    for size, measured in zip(curve.sizes.tolist(), curve.latencies.tolist(), strict=True):
        latency = next((latency for capacity, latency in caches if size <= capacity), memory.latency)
        rows.append((size, measured, latency / measured - 1))
    return tuple(rows)


# --- what else a machine needs ----------------------------------------------------------------------------------------


def _structure(
    name: str, latency: LatencyCurve, stream: Sequence[StreamPoint], base: Machine | None, called: str
) -> tuple[Machine, list[Value]]:
    """The machine to begin with: the base, or what the stream measurement tells of groups and threads."""
    if base is not None:
        changes = {"clock_hz": latency.clock_hz} if latency.clock_hz and not base.clock_hz else {}
        machine = base.replace({**changes, "ticks_per_cycle": max(100, base.ticks_per_cycle)})
        return machine.model_copy(update={"name": name}), []
    threads = {
        round(point.threads / (point.block_size * point.blocks_per_group))
        for point in stream
        if point.threads is not None
    }
    if len(threads) != 1:
        raise StudyError(
            "cores.groups: not known: give a machine, or a stream measurement with a column threads_column of "
            "groups * block_size * blocks_per_sm"
        )
    fullest = max(stream, key=lambda point: point.occupancy)
    per_group = round(fullest.block_size * fullest.blocks_per_group / fullest.occupancy)
    values = [
        Value("cores.groups", threads.pop(), "core groups", called, "threads over threads of a group"),
        Value("cores.cores_per_group", CORES_PER_GROUP, "cores", called, "assumption", False),
        Value("cores.warp_width", WARP_WIDTH, "threads", called, "assumption", False),
        Value("cores.threads_per_core", per_group / CORES_PER_GROUP, "threads", called, f"{per_group} threads a group"),
    ]
    cores = {value.key.removeprefix("cores."): value.value for value in values}
    tables = {
        "name": name,
        "clock_hz": latency.clock_hz,
        "ticks_per_cycle": 100,
        "cores": cores,
        "memory": {"latency": 1, "chunk_words": CHUNK_WORDS},
    }
    return Machine.from_dict({key: value for key, value in tables.items() if value is not None}), values


def _with(machine: Machine, values: Sequence[Value]) -> Machine:
    tables = machine.to_dict()
    tables["sources"] = {}
    for value in values:
        *parents, last = value.key.split(".")
        table = tables
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value.value
    return Machine.from_dict(tables, "calibrated machine")


def _sources(machine: Machine, base: Machine | None, values: Sequence[Value]) -> dict[str, Any]:
    known = machine.values()
    sources = {key: source.model_dump() for key, source in (base.sources if base else {}).items() if key in known}
    for value in values:
        certainty = "assumption" if value.note.startswith("assumption") else "derived"
        error = "" if value.error is None else f"; standard error {value.error:.2g}"
        weak = "" if value.determined else "; ill-determined"
        sources[value.key] = {
            "certainty": certainty, "source": value.measurement, "note": f"{value.note}{error}{weak}"
        }  # fmt: skip
    checked = Machine.from_dict({**machine.to_dict(), "sources": sources}, "calibrated machine")
    return dict(checked.sources)


# --- bandwidth over occupancy -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the fit. least, most: its bounds. step: what changes the bandwidth by some per cent."""

    name: str
    least: float
    most: float
    step: float


class _Fit:
    """Fits a part of the machine: its groups and partitions are fewer, and their shares of the bandwidth the same."""

    def __init__(self, machine: Machine, stream: Sequence[StreamPoint], called: str, watch: Watch | None) -> None:
        if READ not in stream[0].measured:
            raise StudyError(f"operation {READ!r}: was not measured, and the calibration begins with it")
        self.called = called
        self.watch = watch
        self.simulated = 0
        groups = machine.cores.groups
        self.groups = round(groups / max(1, min(PART, groups // LEAST_GROUPS)))
        self.scale = machine.cores.groups / self.groups  # of the whole machine over its part
        changes = {"cores.groups": self.groups, "memory.interleave": "hash", "memory.stores": "blocking"}
        self.machine = machine.replace(changes)
        chosen = sorted({round(index) for index in np.linspace(0, len(stream) - 1, FIT_POINTS)})
        self.points = [stream[index] for index in chosen]
        # Of the stencils the wider one; the other says little more.
        self.storing = [name for name in stream[0].measured if name not in (READ, "stencil3")]
        self.partitions = 0
        self.errors: dict[str, float] = {}
        self.as_good = (0, 0)  # the fewest and the most partitions that do as well
        most = max(max(point.measured.values()) for point in stream) * MOST_BANDWIDTH / self.scale
        self.least_chunk = machine.chunk_bytes / most * (machine.clock_hz or 0.0)
        self.values = self._first_guess(stream)

    def _first_guess(self, stream: Sequence[StreamPoint]) -> dict[str, float]:
        """What arithmetic alone gives: the largest bandwidth is the memory's, the smallest is all latency."""
        machine, clock = self.machine, self.machine.clock_hz
        assert clock is not None
        most = max(point.measured[READ] for point in stream) / self.scale
        least = stream[0]
        moved = least.block_size * least.blocks_per_group * ELEMENT_BYTES * self.groups * self.scale
        round_trip = moved / least.measured[READ] * clock
        return {
            "chunk": machine.chunk_bytes / most * clock,
            "block_launch": max(0.0, round_trip - machine.memory.latency),
            "warp_launch": 5.0,
            "store_latency": 1.0,
            "turnaround": 0.0,
            "port_interval": 0.0,
        }

    def run(self) -> tuple[list[Value], list[str]]:
        """The values found, and what is to be said about them."""
        tried = self._try_partitions()
        best = min(cost for cost, _ in tried.values())
        good = [partitions for partitions, (cost, _) in tried.items() if cost <= AS_GOOD * best]
        self.as_good = min(good), max(good)
        # The kernels that store tell partitions apart where the read kernel hardly does.
        if self.storing:
            worth_it = sorted(
                (count for count in tried if tried[count][0] <= WORTH_IT * best), key=lambda n: tried[n][0]
            )
            found = []
            for self.partitions in worth_it[:CANDIDATES]:
                self.values = dict(tried[self.partitions][1])
                cost = self._fit_stores(FEW_STEPS)
                found.append(
                    ((tried[self.partitions][0] + cost * len(self.storing)), self.partitions, dict(self.values))
                )
            _, self.partitions, self.values = min(found, key=lambda entry: entry[0])
        else:
            self.partitions = min(tried, key=lambda count: tried[count][0])
            self.values = dict(tried[self.partitions][1])
        # A port that takes time changes what the read kernel tells, if not by much.
        self._fit_read()
        if self.storing:
            self._fit_stores(FEW_STEPS)
        return self._found()

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
        chunk = self.values["chunk"]
        parameters = (
            _Parameter("chunk", self.least_chunk, 3 * chunk, chunk / 50),
            _Parameter("block_launch", 0, 1e5, 15),
            _Parameter("warp_launch", 0, 1e3, 2),
        )
        return self._fit(parameters, [READ])

    def _fit_stores(self, steps: int) -> float:
        latency, chunk = self.machine.memory.latency, self.values["chunk"]
        parameters = (
            _Parameter("store_latency", 1, 2 * latency, latency / 20),
            _Parameter("turnaround", 0, 2 * chunk, chunk / 20),
            _Parameter("port_interval", 0, 20, 0.5),
        )
        return self._fit(parameters, self.storing, steps)

    def _fit(self, parameters: Sequence[_Parameter], operations: Sequence[str], steps: int = STEPS) -> float:
        """Fit these on those kernels and keep them; the mean cost of a point."""
        least, most, step = (
            np.array([getattr(each, name) for each in parameters]) for name in ("least", "most", "step")
        )

        def residuals(at: Numbers) -> Numbers:
            return self._residuals(dict(zip((each.name for each in parameters), at.tolist(), strict=True)), operations)

        at = np.clip(np.array([self.values[each.name] for each in parameters]), least, most)
        off = residuals(at)
        slopes = np.zeros((len(off), len(at)))
        for _ in range(steps):
            for index in range(len(at)):
                beside = at.copy()
                beside[index] += step[index]
                slopes[:, index] = residuals(beside) - off
            move = step * _move(slopes, off, (least - at) / step, (most - at) / step)
            further = next(
                (
                    (there, found)
                    for share in (1.0, 0.5, 0.2)
                    if _cost(found := residuals(there := np.clip(at + share * move, least, most))) < _cost(off)
                ),
                None,
            )
            if further is None:
                break
            gain = _cost(off) - _cost(further[1])
            at, off = further
            if gain < 0.005 * _cost(off):
                break
        free = max(1, len(off) - len(at))
        spread = np.sqrt(np.sum(off**2) / free * np.diag(np.linalg.pinv(slopes.T @ slopes)))
        for each, value, error in zip(parameters, at.tolist(), (spread * step).tolist(), strict=True):
            self.values[each.name] = value
            self.errors[each.name] = error
        return _cost(off)

    def _residuals(self, values: Mapping[str, float], operations: Sequence[str]) -> Numbers:
        """The log of simulated over measured, for each kernel and point."""
        made = self.machine.replace(self._keys({**self.values, **values}, self.partitions, 1.0))
        self.simulated += len(operations) * len(self.points)
        if self.watch:
            self.watch("fitting", self.simulated, None)
        ratios = [
            self.scale * stream_bandwidth(made, name, point.block_size, point.blocks_per_group) / point.measured[name]
            for name in operations
            for point in self.points
        ]
        off: Numbers = np.log(np.array(ratios))
        return off

    @staticmethod
    def _keys(values: Mapping[str, float], partitions: int, scale: float) -> dict[str, Any]:
        """The keys of a machine that is `scale` times as large as the part, and has that many partitions."""
        service = round(partitions * values["chunk"] / scale, 3)
        return {
            "scheduling.block_launch": round(values["block_launch"], 1),
            "scheduling.warp_launch": round(values["warp_launch"], 2),
            "memory.partitions": partitions,
            "memory.service": service,
            "memory.atomic_service": service,
            "memory.store_latency": round(max(1.0, values["store_latency"]), 1),
            "memory.turnaround": round(partitions * values["turnaround"] / scale, 3),
            "memory.port_interval": round(values["port_interval"], 3),
        }

    def _found(self) -> tuple[list[Value], list[str]]:
        partitions = round(self.partitions * self.scale)
        keys = self._keys(self.values, partitions, self.scale)
        least, most = (round(count * self.scale) for count in self.as_good)
        told = most < 2 * least
        per_chunk = partitions / self.scale
        values = [
            Value("memory.interleave", "hash", "", self.called, "assumption", False),
            Value(
                "memory.partitions", partitions, "partitions", self.called,
                f"read kernel, how softly it saturates; {least} to {most} do as well", told,
            ),
            self._value(keys, "memory.service", "chunk", "read kernel, its saturated end", per_chunk),
            Value(
                "memory.atomic_service", keys["memory.atomic_service"], "cycles", self.called,
                "assumption: as service", False,
            ),
            self._value(keys, "scheduling.block_launch", "block_launch", "read kernel, low occupancy, less L"),
            self._value(keys, "scheduling.warp_launch", "warp_launch", "read kernel, over the warps of a round"),
        ]  # fmt: skip
        notes = [
            f"peak bandwidth by `partitions` and `service`: {self._peak(keys) / 1e9:.0f} GB/s, which hashed partitions "
            "come near only with far more chunks in flight than a machine holds"
        ]
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
        return values, notes

    def _peak(self, keys: Mapping[str, Any]) -> float:
        assert self.machine.clock_hz is not None
        return float(
            keys["memory.partitions"] * self.machine.chunk_bytes / keys["memory.service"] * self.machine.clock_hz
        )

    def _value(self, keys: Mapping[str, Any], key: str, name: str, note: str, factor: float = 1.0) -> Value:
        value, error = keys[key], self.errors[name] * factor
        return Value(key, value, "cycles", self.called, note, error <= DETERMINED * value, error)


def _move(slopes: Numbers, off: Numbers, least: Numbers, most: Numbers) -> Numbers:
    """The step of least squares, weighted for `_cost`, within bounds: what would leave them stays at its bound."""
    weights = 1 / np.sqrt(off**2 + KINK**2)
    move = np.zeros(len(least))
    free = np.ones(len(least), dtype=bool)
    while free.any():
        left = off + slopes[:, ~free] @ move[~free]
        some = slopes[:, free]
        normal = some.T @ (some * weights[:, None])
        move[free] = np.linalg.lstsq(normal, -some.T @ (left * weights), rcond=1e-6)[0]
        beyond = free & ((move < least) | (move > most))
        if not beyond.any():
            break
        move = np.clip(move, least, most)
        free &= ~beyond
    return move


def _cost(off: Numbers) -> float:
    """The mean over the points; see KINK."""
    return float(np.mean(np.sqrt(off**2 + KINK**2)))


# --- words and files --------------------------------------------------------------------------------------------------


def _size(size: float) -> str:
    """2 KiB, 5.9 MiB."""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1024:.3g} KiB"


def machine_toml(machine: Machine) -> str:
    """A machine as a TOML file, which `load_machine` reads back."""
    tables = machine.to_dict()
    sources = tables.pop("sources")
    lines: list[str] = []

    def write(table: Mapping[str, Any], name: str) -> None:
        lines.extend(f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict))
        for key, value in table.items():
            if isinstance(value, dict):
                inner = f"{name}.{key}".lstrip(".")
                lines.extend(["", f"[{inner}]"])
                write(value, inner)

    write(tables, "")
    if sources:
        lines.extend(["", "[sources]"])
        for key, source in sources.items():
            inner = ", ".join(f"{name} = {json.dumps(text)}" for name, text in source.items() if text)
            lines.append(f"{json.dumps(key)} = {{ {inner} }}")
    return "\n".join(lines) + "\n"

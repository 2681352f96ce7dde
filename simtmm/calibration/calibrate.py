"""From measurements to a machine: the measurement behind each value, and how well it determines the value.

Two measurements are enough, both from small benchmarks:

- a pointer chase over the size of the buffer: latencies of L1, L2 and global memory, and the caches' sizes
  (chase.py), compared with what reading at low occupancy takes (chase_check.py);
- bandwidth of streaming kernels over occupancy: bandwidth, launches of blocks and warps, stores (streams).

Each is a value of the machine, the same for all points. The simulator itself is the function that is fitted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simtmm.calibration.chase import chase_errors, chase_values, farthest_buffer, memory_latency
from simtmm.calibration.chase_check import CHASE, FROM_READ, LATENCY_FROM, checked_latency, latency_of_read, read_round
from simtmm.calibration.hierarchy.measured import MeasuredSet
from simtmm.calibration.hierarchy.refined import refined
from simtmm.calibration.hierarchy.streams import ChaseSet, StreamSet
from simtmm.calibration.hierarchy.together import Together
from simtmm.calibration.latency_levels import LatencyCurve, find_levels
from simtmm.calibration.streams.fit import StreamFit
from simtmm.calibration.streams.occupancy_curve import StreamPoint, occupancy_curve
from simtmm.calibration.streams.part import HOLDABLE
from simtmm.calibration.translation import find_translation
from simtmm.calibration.values import Calibration, Value, with_sources, with_values
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.watch import Watch

CORES_PER_GROUP = 64  # where no machine says
WARP_WIDTH = 32
CHUNK_WORDS = 32  # lines of 128 bytes
LEAST_TICKS = 100  # of a cycle: latencies and service are fractional


def calibrate(  # noqa: PLR0913 - each is a kind of measurement, or says how to read it
    name: str,
    latency: LatencyCurve,
    stream: Sequence[StreamPoint] = (),
    base: Machine | None = None,
    measurements: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    latency_from: str = CHASE,
    hold: Sequence[str] = (),
    *,
    sets: Sequence[MeasuredSet] = (),
) -> Calibration:
    """A machine of that name from a pointer chase and, if there, bandwidth over occupancy and other measurements.

    base: what the measurements do not give, such as the warp width, and all else that a profile has; without one the
    numbers of groups and threads follow from the stream measurement. measurements: how `latency` and `stream` are
    called in the sources. watch: called as things go on. latency_from: where L comes from, "chase" or "read": the read
    kernel at low occupancy less the base's starts of blocks and warps. hold: keys that stay as the base has them, of
    `HOLDABLE` (simtmm/calibration/streams/part.py); the others are fitted beside them.
    name: what the machine is called. sets: measurements of the hierarchy, one of a kind at most, beside a base.

    With a base that has such values all are fitted jointly, and it is one of the starts
    (simtmm/calibration/hierarchy/together.py).

    Raises StudyError where the measurements do not fit together.
    """
    if latency_from not in LATENCY_FROM:
        raise StudyError(f"latency from {shown(latency_from)}: must be {' or '.join(LATENCY_FROM)}")
    if latency_from == FROM_READ and not stream:
        raise StudyError("latency from read: needs bandwidth over occupancy (--stream FILE)")
    for key in hold:
        if key not in HOLDABLE:
            raise StudyError(f"hold {shown(key)}: must be one of {', '.join(HOLDABLE)}")
        if base is None or not stream:
            raise StudyError(f"hold {key}: needs a machine that has this value, and bandwidth over occupancy")
    called = {"latency": "the latency curve", "stream": "bandwidth over occupancy", **(measurements or {})}
    levels = find_levels(latency)
    machine, found = _structure(name, latency, stream, base, called["stream"])
    known, told = None, None
    if stream:
        read = read_round(machine, stream, base)
        if latency_from == FROM_READ:
            known = latency_of_read(read, called["stream"])
        else:
            told = checked_latency(memory_latency(latency), read)
    translation = find_translation(latency, levels)
    taken = None if stream else translation  # docs/calibration.md has what it does to the fit of two GPUs' streams
    copies = machine.memory.l2.copies * machine.memory.l2.halves if machine.memory.l2 else 1
    chased, notes = chase_values(latency, levels, called["latency"], machine.chunk_bytes, known, taken, copies)
    notes += [told] if told else []
    notes += [f"ignored, because streams are given: {translation}"] if translation and stream else []
    found += chased
    machine = with_values(machine, found)
    curve = None
    begins = base is not None and base.memory.service > 0  # it may be where a joint fit begins
    if stream and not begins:
        fitted, more = StreamFit(machine, stream, called["stream"], watch, hold).run()
        machine = with_values(machine, fitted)
        curve = occupancy_curve(machine, stream, watch=watch)
        found += fitted
        notes += more
    chosen = with_sources(machine, base, found)
    calibration = Calibration(chosen, tuple(found), levels, curve, chase_errors(machine, latency), tuple(notes))
    if not sets and not (stream and begins):
        return calibration
    joint = _together(chosen, sets, stream, latency if known is None else None, called, hold, watch, begins).run()
    calibration = refined(calibration, joint)
    return replace(calibration, latency_errors=chase_errors(calibration.machine, latency))


def _together(
    machine: Machine,
    sets: Sequence[MeasuredSet],
    stream: Sequence[StreamPoint],
    latency: LatencyCurve | None,
    called: Mapping[str, str],
    hold: Sequence[str],
    watch: Watch | None,
    begins: bool,
) -> Together:
    """A fit of everything that was measured. latency: the chase, where L is from it."""
    if not stream:
        return Together(machine, sets, watch=watch)
    streams = StreamSet(machine, stream, called["stream"], hold, watch)
    chase = None if latency is None else ChaseSet(latency, called["latency"], farthest_buffer(latency))

    def beginning() -> dict[str, Any]:
        return StreamFit(machine, stream, called["stream"], watch, hold).beginning()

    return Together(machine, sets, streams, chase, beginning if begins else None, watch)


def _structure(
    name: str, latency: LatencyCurve, stream: Sequence[StreamPoint], base: Machine | None, called: str
) -> tuple[Machine, list[Value]]:
    """The machine to begin with: the base, or the groups and threads that the stream measurement shows."""
    if base is not None:
        changes = {"clock_hz": latency.clock_hz} if latency.clock_hz and not base.clock_hz else {}
        machine = base.replace({**changes, "ticks_per_cycle": max(LEAST_TICKS, base.ticks_per_cycle)})
        return machine.model_copy(update={"name": name}), []
    threads = {
        round(point.threads / (point.block_size * point.blocks_per_group))
        for point in stream
        if point.threads is not None
    }
    if len(threads) != 1:
        raise StudyError(
            "cores.groups: unknown: give a machine, or a stream measurement with a column threads_column of "
            "groups * block_size * blocks_per_sm"
        )
    fullest = max(stream, key=lambda point: point.occupancy)
    per_group = round(fullest.block_size * fullest.blocks_per_group / fullest.occupancy)
    values = [
        Value("cores.groups", threads.pop(), "core groups", called, "threads over threads of a group"),
        Value("cores.cores_per_group", CORES_PER_GROUP, "cores", called, "assumption", False),
        Value("cores.warp_width", WARP_WIDTH, "threads", called, "assumption", False),
        Value(
            "cores.max_threads_per_core", per_group / CORES_PER_GROUP, "threads", called, f"{per_group} threads a group"
        ),
    ]
    cores = {value.key.removeprefix("cores."): value.value for value in values}
    tables = {
        "name": name,
        "clock_hz": latency.clock_hz,
        "ticks_per_cycle": LEAST_TICKS,
        "cores": cores,
        "memory": {"latency": 1, "chunk_words": CHUNK_WORDS},
    }
    return Machine.from_dict({key: value for key, value in tables.items() if value is not None}), values

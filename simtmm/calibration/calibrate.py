"""From measurements to a machine: the measurement behind each value, and how well it determines the value.

Two measurements are enough, both from small benchmarks:

- a pointer chase over the size of the buffer: latencies of L1, L2 and global memory, and the caches' sizes
  (chase.py), compared with what reading at low occupancy takes (chase_check.py);
- bandwidth of streaming kernels over occupancy: bandwidth, launches of blocks and warps, stores (streams).

Each is a value of the machine, the same for all points. The simulator itself is the function that is fitted.
"""

from collections.abc import Mapping, Sequence

from simtmm.calibration.chase import chase_errors, chase_values, memory_latency
from simtmm.calibration.chase_check import CHASE, FROM_READ, LATENCY_FROM, checked_latency, latency_of_read, read_round
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


def calibrate(
    name: str,
    latency: LatencyCurve,
    stream: Sequence[StreamPoint] = (),
    base: Machine | None = None,
    measurements: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    latency_from: str = CHASE,
    hold: Sequence[str] = (),
) -> Calibration:
    """A machine of that name from a pointer chase and, if there, bandwidth over occupancy.

    base: what the measurements do not give, such as the warp width, and all else that a profile has; without one the
    numbers of groups and threads follow from the stream measurement. measurements: how `latency` and `stream` are
    called in the sources. watch: called as things go on. latency_from: where L comes from, "chase" or "read": the read
    kernel at low occupancy less the base's starts of blocks and warps. hold: keys that stay as the base has them, of
    `HOLDABLE` (simtmm/calibration/streams/part.py); the others are fitted beside them.
    name: what the machine is called.

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
    chased, notes = chase_values(latency, levels, called["latency"], machine.chunk_bytes, known, taken)
    notes += [told] if told else []
    notes += [f"ignored, because streams are given: {translation}"] if translation and stream else []
    found += chased
    machine = with_values(machine, found)
    curve = None
    if stream:
        fitted, more = StreamFit(machine, stream, called["stream"], watch, hold).run()
        as_fitted = with_values(machine, fitted)
        curve = occupancy_curve(as_fitted, stream, watch=watch)
        given = occupancy_curve(machine, stream, watch=watch) if base is not None else curve
        if given.mean_error() < curve.mean_error():
            notes.append(
                f"streams: {base.name if base else ''}'s own values are nearer to them than those of a fit "
                f"({given.mean_error():.1%} for {curve.mean_error():.1%} on average): they stay"
            )
            curve = given
        else:
            found += fitted
            notes += more
            machine = as_fitted
    machine = with_sources(machine, base, found)
    return Calibration(machine, tuple(found), levels, curve, chase_errors(machine, latency), tuple(notes))


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

"""The calls of a program, as its trace lists them: simtmm.recorder.direct.calls has their names and values."""

import base64
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simtmm.device.host import IN, OUT, Move
from simtmm.recorder.direct.calls import FETCH, FREE, LAUNCH, LEAST, SYNCHRONIZE, UNKNOWN, VALUES
from simtmm.trace.info import TraceInfo


@dataclass(frozen=True)
class Call:
    """kind: a name of simtmm.recorder.direct.calls. place: the line of the host's code; "" where that is unknown.
    stream: its number.

    kernel, shape, is_recorded, follows_in_graph: of a launch. direction: of a copy, IN or OUT; None within the device.
    size: bytes. is_pinned: whether the host's memory is locked. is_awaited: whether the call comes back when the copy
    has ended. host, device: numbers of where a copy's bytes begin; UNKNOWN where that is not known. move: of managed
    memory. mark: its number; -1 for all work. seconds: that a launch takes of the device.
    """

    kind: str
    place: str = ""
    stream: int = 0
    kernel: str = ""
    shape: str = ""
    is_recorded: bool = False
    follows_in_graph: bool = False
    direction: str | None = None
    size: int = 0
    is_pinned: bool = False
    is_awaited: bool = True
    host: int = UNKNOWN
    device: int = UNKNOWN
    move: str = ""
    mark: int = -1
    seconds: float = 0.0


def calls_of(info: TraceInfo, launches: Sequence[float]) -> list[Call]:
    """The program's calls in their order; none where its trace does not list them, or in another form.

    launches: what each launch of the trace takes [s]; one that is not in it takes what those of its kernel and shape
        do on average, or else all.
    """
    listed = info.provenance.get("host")
    if not isinstance(listed, dict) or not launches:
        return []
    try:
        kinds = [_call(*each) for each in listed["calls"]]
        order = np.frombuffer(zlib.decompress(base64.b64decode(listed["order"])), "<i2")
        calls = [kinds[number] for number in order.tolist()]
    except (KeyError, TypeError, ValueError, IndexError, zlib.error):
        return []
    if sum(call.is_recorded for call in calls) != len(launches):
        return []
    return list(_timed(_without_waits_of_free(calls), launches))


def _call(kind: str, place: str, *values: Any) -> Call:
    names = VALUES[kind]
    if not LEAST.get(kind, len(names)) <= len(values) <= len(names):
        raise ValueError(kind)
    call = Call(kind, str(place), **dict(zip(names, values, strict=False)))
    if call.direction not in (IN, OUT, None) or (kind == FETCH and call.move not in Move.__members__):
        raise ValueError(kind)
    if not isinstance(call.size, int) or call.size < 0 or not isinstance(call.stream, int):
        raise ValueError(kind)
    return call


def _without_waits_of_free(calls: Sequence[Call]) -> Iterator[Call]:
    """What cudaFree waits for is its own."""
    for call, after in zip(calls, [*calls[1:], None], strict=True):
        if not (call.kind == SYNCHRONIZE and after is not None and (after.kind, after.place) == (FREE, call.place)):
            yield call


def _timed(calls: Iterator[Call], launches: Sequence[float]) -> Iterator[Call]:
    seconds = iter(launches)
    alike: dict[tuple[str, str], list[float]] = defaultdict(list)
    timed = []
    for call in calls:
        if call.is_recorded:
            call = replace(call, seconds=next(seconds))
            alike[call.kernel, call.shape].append(call.seconds)
        timed.append(call)
    for call in timed:
        if call.kind == LAUNCH and not call.is_recorded:
            own = alike.get((call.kernel, call.shape)) or launches
            call = replace(call, seconds=sum(own) / len(own))
        yield call

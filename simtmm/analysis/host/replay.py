"""What calls take, from the first to the end of all work, on the host and the device of a machine."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simtmm.analysis.host.calls import Call
from simtmm.device.host import Host, Move
from simtmm.device.timeline import Timeline
from simtmm.recorder.direct import calls as kinds

END = "end"  # of all work, for which nobody waits


@dataclass(frozen=True)
class Replay:
    """seconds: of all. at: of them the host's, by kind of call and place; it waits in calls for earlier ones."""

    seconds: float
    at: Mapping[tuple[str, str], float]


def replayed(calls: Sequence[Call], host: Host) -> Replay:
    """Have a host make calls, one after another; of its own code between them nothing is known."""
    timeline, marks = Timeline(host), dict[int, float]()
    at: dict[tuple[str, str], float] = defaultdict(float)
    for call in calls:
        before = timeline.now
        _DONE[call.kind](timeline, host, call, marks)
        at[call.kind, call.place] += timeline.now - before
    before = timeline.now
    timeline.synchronize()
    at[END, ""] += timeline.now - before
    return Replay(timeline.now, dict(at))


def _free(timeline: Timeline, host: Host, call: Call, marks: dict[int, float]) -> None:
    if call.kind == kinds.FREE:
        timeline.synchronize()
    timeline.now += host.call("free")


def _allocate(timeline: Timeline, host: Host, call: Call, marks: dict[int, float]) -> None:
    timeline.now += seconds_to_allocate(host, call)


def seconds_to_allocate(host: Host, call: Call) -> float:
    """What an allocation takes of the host."""
    if call.kind == kinds.ALLOCATE_PINNED:
        return host.call("allocate_pinned") + call.size * host.call("pinned_byte")
    return host.call("allocate")


def _mark(timeline: Timeline, host: Host, call: Call, marks: dict[int, float]) -> None:
    marks[call.mark] = timeline.reached(call.stream)


_Done = Callable[[Timeline, Host, Call, dict[int, float]], None]
_DONE: dict[str, _Done] = {
    kinds.LAUNCH: lambda at, _, call, __: at.launch(call.stream, call.seconds, not call.follows_in_graph),
    kinds.COPY: lambda at, _, call, __: at.copy(
        call.stream, call.direction, call.size, call.is_pinned, call.is_awaited
    ),
    kinds.FILL: lambda at, _, call, __: at.fill(call.stream, call.size),
    kinds.FETCH: lambda at, _, call, __: at.fetch(call.stream, call.size, Move[call.move]),
    kinds.TAKE_BACK: lambda at, _, call, __: at.take_back(call.size),
    kinds.ALLOCATE: _allocate,
    kinds.ALLOCATE_PINNED: _allocate,
    kinds.FREE: _free,
    kinds.FREE_PINNED: _free,
    kinds.SYNCHRONIZE: lambda at, _, call, marks: at.synchronize(None if call.mark < 0 else marks.get(call.mark, 0.0)),
    kinds.SYNCHRONIZE_STREAM: lambda at, _, call, __: at.synchronize(at.end(call.stream)),
    kinds.MARK: _mark,
    kinds.QUERY: lambda *_: None,
    kinds.WAIT: lambda at, _, call, marks: at.wait(call.stream, marks.get(call.mark, 0.0)),
}

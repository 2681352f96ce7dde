"""Turns of a built-in scheduler, from the timeline that either engine gives."""

from collections.abc import Iterator

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.testing.grants import Grants, Seen, Turn
from simtmm.timeline import Timeline
from simtmm.workload import Workload

Interval = tuple[str, int, int]


def observed(machine: Machine, workload: Workload, result: Result) -> Grants:
    """What a rule could have been asked, and answered, for a result to have this timeline.

    machine: of one issue port a group. workload: of one launch. A turn is where a grant begins, or where a warp is
    ready and the port is free. No timeline tells operations and hits: those of each warp are "" and 0.
    """
    timeline = result.timeline
    assert timeline is not None
    assert machine.ports == workload.launches == 1
    turns: list[Turn] = []
    for group in range(machine.cores.groups):
        numbers = sorted(set(timeline.warp[timeline.group == group].tolist()))
        lives = [_Life(machine, workload, timeline, number) for number in numbers]
        turns += _turns(machine, group, lives)
    return Grants(tuple(sorted(turns, key=lambda turn: (turn.tick, turn.group))))


class _Life:
    """A warp's intervals."""

    def __init__(self, machine: Machine, workload: Workload, timeline: Timeline, number: int) -> None:
        self.number = number
        self.intervals: list[Interval] = timeline.of_warp(number)
        self.slot = int(timeline.slot[timeline.warp.searchsorted(number)])
        self.block = int(workload.block_warps.searchsorted(number, side="right")) - 1
        self.issue = machine.durations.issue

    def begins(self, tick: int) -> bool:
        """Whether a grant begins then."""
        return any(state == "issuing" and begin == tick for state, begin, _ in self.intervals)

    def ready_since(self, tick: int) -> int | None:
        """The tick since which it is ready, if it is then or is granted then."""
        for state, begin, end in self.intervals:
            if state == "ready" and (begin <= tick < end or (end == tick and self.begins(tick))):
                return begin
        return tick if self.begins(tick) else None

    def state(self, tick: int) -> str | None:
        """What it does, None where it does not live."""
        return next((state for state, begin, end in self.intervals if begin <= tick < end), None)

    def seen(self, tick: int) -> Seen:
        """As a rule sees it."""
        since = self.ready_since(tick)
        grants = [(begin, end) for state, begin, end in self.intervals if state == "issuing" and begin < tick]
        issued = sum((min(end, tick) - begin) // self.issue for begin, end in grants)
        state = "ready" if since is not None else self.state(tick) or ""
        began = max((begin for state, begin, _ in self.intervals if state == "ready" and begin <= tick), default=-1)
        ready_time = began if since is None else since
        return Seen(self.number, self.number, self.slot, ready_time, self.block, state, "", issued, 0, 0)


def _turns(machine: Machine, group: int, lives: list[_Life]) -> Iterator[Turn]:
    last: Seen | None = None
    ticks = sorted({tick for life in lives for _, begin, end in life.intervals for tick in (begin, end)})
    for tick in ticks:
        granted = next((life for life in lives if life.begins(tick)), None)
        waiting = [(since, life.number) for life in lives if (since := life.ready_since(tick)) is not None]
        busy = any(life.state(tick) == "issuing" for life in lives)
        if not waiting or (granted is None and busy):
            continue
        warps = tuple(life.seen(tick) for life in lives if life.state(tick) is not None)
        ready = tuple(number for _, number in sorted(waiting))
        chosen = granted.number if granted else None
        yield Turn(group, 0, tick, machine.ticks_per_cycle, warps, ready, last, chosen)
        last = granted.seen(tick) if granted else last

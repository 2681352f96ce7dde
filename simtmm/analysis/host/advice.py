"""What a program's host code takes, and what each change of it gains, by a replay of its calls."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simtmm.analysis.host.calls import calls_of
from simtmm.analysis.host.changes import changes_of
from simtmm.analysis.host.python_words import of_place
from simtmm.analysis.host.replay import END, replayed
from simtmm.analysis.source_changes.lines import BOUND, Advice
from simtmm.device.host import host_of
from simtmm.machine import Machine
from simtmm.recorder.direct import calls as kinds
from simtmm.trace.info import TraceInfo

WORTH_TELLING = 1.1
MOST_TOLD = 5
OF_BOUND = 0.8  # of what a bound gains counts where changes are put in order
WORDS = {
    kinds.LAUNCH: "launches kernels", kinds.COPY: "copies", kinds.FILL: "fills memory", kinds.ALLOCATE: "allocates",
    kinds.ALLOCATE_PINNED: "allocates pinned memory", kinds.FREE: "frees memory, and waits for the device",
    kinds.FREE_PINNED: "frees pinned memory", kinds.SYNCHRONIZE: "waits for the device",
    kinds.SYNCHRONIZE_STREAM: "waits for a stream", kinds.MARK: "records an event", kinds.WAIT: "has a stream wait",
    kinds.QUERY: "asks whether work has ended",
    kinds.FETCH: "moves managed memory", kinds.TAKE_BACK: "uses managed memory again",
    END: "waits for the end of all work",
}  # fmt: skip


@dataclass(frozen=True)
class HostPart:
    """What the host spends at a line: share of the program's time, seconds, number of calls, and what it does."""

    place: str
    words: str
    share: float
    seconds: float
    number: int


@dataclass(frozen=True)
class HostFound:
    """seconds: from the first call to the end of all work, without the host's own code. kernels: of them, launches'
    [s]. parts: where the host spends it, the most first. advice: what to change in the host's code, the greatest gain
    first.
    """

    seconds: float
    kernels: float
    parts: tuple[HostPart, ...]
    advice: tuple[Advice, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document's part."""
        return {
            "seconds": self.seconds,
            "kernels": self.kernels,
            "parts": [asdict(part) for part in self.parts],
            "advice": [{**asdict(each), "where": each.where} for each in self.advice],
        }


def host_found(machine: Machine, info: TraceInfo, launches: Sequence[float]) -> HostFound | None:
    """What a program's host code takes, and what would help; None where its calls are not listed.

    machine: its host and link. launches: what each launch of the trace takes [s].
    """
    calls = calls_of(info, launches)
    if not calls:
        return None
    host = host_of(machine)
    now = replayed(calls, host)
    if not now.seconds:
        return None
    numbers: dict[tuple[str, str], int] = {}
    for call in calls:
        numbers[call.kind, call.place] = numbers.get((call.kind, call.place), 0) + 1
    parts = [
        HostPart(place, WORDS[kind], seconds / now.seconds, seconds, numbers.get((kind, place), 1))
        for (kind, place), seconds in now.at.items()
    ]
    durations = machine.durations
    spared = 0.0
    if machine.clock_hz:
        ticks = max(0, durations.launch_overhead - durations.graph_launch_overhead)
        spared = ticks / machine.ticks_per_cycle / machine.clock_hz
    found = []
    for change in changes_of(calls, spared):
        gain = now.seconds / max(replayed(change.calls, host).seconds, 1e-12)
        if gain >= WORTH_TELLING:
            file, _, line = change.place.rpartition(":")
            number = int(line) if line.isdigit() else 0
            found.append(
                Advice(change.change, of_place(change.words, change.place), file, number, "", gain, change.how, "")
            )
    found.sort(key=lambda each: -(each.gain - 1) * (OF_BOUND if each.how == BOUND else 1))
    return HostFound(
        now.seconds,
        sum(call.seconds for call in calls),
        tuple(sorted(parts, key=lambda part: -part.seconds)),
        tuple(found[:MOST_TOLD]),
    )

"""The work of a device and of its host over time: streams, engines, and when the host waits.

Kernels run one after another, in whatever streams they are: two that share the machine are not simulated. Copies to the
device, and from it, have an engine each, beside kernels. The default stream waits for all others, and they for it.
"""

from dataclasses import dataclass, field

from simtmm.device.host import AT_ONCE, IN, OUT, Host, Move
from simtmm.device.stream import DEFAULT_STREAM, Stream

KERNELS = "kernels"  # the engine of these, and of copies and fills within the device
MOST_QUERIES = 1000  # of a host that asks whether something has ended: then it is told when it has


@dataclass
class Timeline:
    """Where a device and its host are; all in seconds since the beginning.

    now: of the host. worked: what all work so far took of its engine.
    """

    host: Host = AT_ONCE
    now: float = 0.0
    worked: float = 0.0
    _ends: dict[Stream, float] = field(default_factory=dict)
    _free: dict[str, float] = field(default_factory=dict)  # from when on, by engine
    _barrier: float = 0.0  # the end of what is on the default stream
    _queries: int = 0

    def end(self, stream: Stream) -> float:
        """When all that is on a stream now has ended [s]."""
        return self._all() if stream == DEFAULT_STREAM else max(self._ends.get(stream, 0.0), self._barrier)

    def reached(self, stream: Stream) -> float:
        """When a mark that is put on a stream now is reached [s], which takes a call."""
        self.now += self.host.call("record")
        return self._begin(stream)

    def launch(self, stream: Stream, seconds: float, is_called: bool = True) -> None:
        """A kernel is put on a stream. is_called: by the host, and not by a graph that goes on.

        stream: where it is put.
        seconds: how long the kernel takes.
        """
        if is_called:
            self._take(stream, KERNELS, seconds)
            self.now += self.host.call("launch")
        else:
            self._at(max(self.end(stream), self._free.get(KERNELS, 0.0)), stream, KERNELS, seconds)

    def copy(self, stream: Stream, direction: str | None, size: int, is_pinned: bool, is_awaited: bool) -> None:
        """A copy is put on a stream.

        direction: IN or OUT; None within the device. size: [bytes]. is_pinned: whether the host's memory is locked.
        is_awaited: whether the call comes back when it has ended, as one with pageable memory does in any case.
        """
        host = self.host
        if direction is None:
            self._take(stream, KERNELS, host.copy_on_device(size))
            self.now += host.call("copy")
        elif is_pinned and not is_awaited:
            self._take(stream, direction, host.engine(direction, size))
            self.now += host.call("copy")
        else:
            begin = max(self.now, self.end(stream))
            self.now = self._ends[stream] = begin + host.copy(direction, size, is_pinned)
            self._free[direction] = max(self._free.get(direction, 0.0), self.now)
            self._end_of_default(stream)

    def fill(self, stream: Stream, size: int) -> None:
        """A fill of so many bytes is put on a stream.

        stream: where it is put.
        size: bytes that are filled.
        """
        self._take(stream, KERNELS, self.host.fill(size))
        self.now += self.host.call("fill")

    def fetch(self, stream: Stream, size: int, move: Move) -> None:
        """So many bytes of managed memory move.

        stream: where the kernel or the prefetch was put.
        size: bytes that move.
        move: a kernel that needs them waits; a prefetch takes a copy engine.
        """
        engine = {Move.PREFETCH: IN, Move.PREFETCH_BACK: OUT}.get(move, KERNELS)
        self._take(stream, engine, self.host.move(size, move))

    def take_back(self, size: int) -> None:
        """The host uses so many bytes of managed memory that are on the device, and waits for them.

        size: bytes that it takes back.
        """
        self.now += size * self.host.returned

    def wait(self, stream: Stream, until: float) -> None:
        """What comes on a stream from now on begins then.

        stream: what waits.
        until: a time of this clock [s].
        """
        self._ends[stream] = max(self._ends.get(stream, 0.0), until)
        self._end_of_default(stream)

    def synchronize(self, until: float | None = None) -> None:
        """The host waits until then, or for all work.

        until: a time of this clock [s]; None for the end of all work.
        """
        until = self._all() if until is None else until
        if until > self.now:
            self.now = until + self.host.call("synchronize")
        else:
            self.now += self.host.call("idle")

    def has_come(self, until: float) -> bool:
        """Whether the host learns that this is over; one that keeps on asking waits for it in the end.

        until: when it is over [s].
        """
        if until <= self.now or self._queries >= MOST_QUERIES:
            self.now = max(self.now, until)
            self._queries = 0
            return True
        self.now += self.host.call("query")
        self._queries += 1
        return False

    def _begin(self, stream: Stream) -> float:
        """When what comes next on a stream begins, were all engines free."""
        return max(self.end(stream), self.now + self.host.call("submit"))

    def _take(self, stream: Stream, engine: str, seconds: float) -> None:
        self._at(max(self._begin(stream), self._free.get(engine, 0.0)), stream, engine, seconds)

    def _at(self, begin: float, stream: Stream, engine: str, seconds: float) -> None:
        self.worked += seconds
        self._ends[stream] = self._free[engine] = begin + seconds
        self._end_of_default(stream)

    def _end_of_default(self, stream: Stream) -> None:
        if stream == DEFAULT_STREAM:
            self._barrier = max(self._barrier, self._ends[stream])

    def _all(self) -> float:
        return max(self._ends.values(), default=0.0)

"""What a program asked of the runtime, call by call, as its trace's provenance lists it."""

import base64
import zlib
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from simtmm.device.host import IN, OUT, Move
from simtmm.recorder.direct import calls
from simtmm.recorder.direct.clock import Clock, Mark

MOST = 20_000  # calls that are listed
MOST_KINDS = 1_000  # of different ones
MOST_PLACES = 200  # of memory that copies access: each makes other calls of them


class Journal:
    """The clock of a program's device, which also lists what it receives.

    Calls that are the same, at the same line, are listed once, and then by their numbers.
    """

    def __init__(self, clock: Clock, place: Callable[[], str]) -> None:
        """place: the line of the call under way; "" where that is unknown."""
        self._clock, self._place = clock, place
        self._calls: dict[Hashable, int] = {}
        self._sequence: list[int] = []
        self._marks: dict[Mark, int] = {}
        self._places: dict[int, int] = {}
        self._results: dict[int, int] = {}  # bytes that were copied to places of the host, at most
        self._is_whole = True

    def _add(self, kind: str, *values: object) -> None:
        assert len(values) == len(calls.VALUES[kind])
        call = kind, self._place(), *values
        if len(self._sequence) == MOST or (len(self._calls) == MOST_KINDS and call not in self._calls):
            self._is_whole = False
        elif self._is_whole:
            self._sequence.append(self._calls.setdefault(call, len(self._calls)))

    def to_provenance(self) -> dict[str, Any]:
        """The calls, and their order: int16 numbers, compressed, in base64; nothing of a program with too many."""
        if not self._is_whole or not self._sequence:
            return {}
        order = base64.b64encode(zlib.compress(np.array(self._sequence, "<i2").tobytes())).decode()
        return {"host": {"calls": [list(call) for call in self._calls if isinstance(call, tuple)], "order": order}}

    def launched(self, kernel: str, shape: str, is_recorded: bool, stream: int, follows_in_graph: bool) -> None:
        """A kernel was put on a stream.

        kernel, shape: its name, its grid and blocks. is_recorded: whether the trace has it.
        stream, follows_in_graph: its number; whether a graph launched another one before.
        """
        self._add(calls.LAUNCH, kernel, shape, is_recorded, stream, follows_in_graph)

    def allocated(self, what: int, size: int) -> None:
        """Memory was allocated or freed. what: one of calls.ALLOCATIONS, by its number. size: bytes."""
        self._add(calls.ALLOCATIONS[what], size)

    def mark(self, stream: int) -> Mark:
        """See Clock. stream: its number."""
        mark = self._clock.mark(stream)
        self._marks[mark] = len(self._marks)
        self._add(calls.MARK, stream, self._marks[mark])
        return mark

    def wait(self, mark: Mark, stream: int) -> None:
        """See Clock. stream: its number."""
        self._add(calls.WAIT, stream, self._marks.get(mark, -1))
        self._clock.wait(mark, stream)

    def synchronize(self, mark: Mark | None = None) -> None:
        """See Clock."""
        self._add(calls.SYNCHRONIZE, -1 if mark is None else self._marks.get(mark, -1))
        self._clock.synchronize(mark)

    def synchronize_stream(self, stream: int) -> None:
        """See Clock. stream: its number."""
        self._add(calls.SYNCHRONIZE_STREAM, stream)
        self._clock.synchronize_stream(stream)

    def copied(
        self, stream: int, direction: str | None, size: int, is_pinned: bool, is_awaited: bool, host: int, device: int
    ) -> None:
        """See Clock.

        stream, direction, is_pinned, is_awaited: as there. size: bytes that were copied.
        host, device: where they begin there; 0 where that is unknown.
        """
        if direction == OUT and host:
            self._results[host] = max(size, self._results.get(host, 0))
        of_host = self._of_results(host, size) if direction == IN else host
        self._add(
            calls.COPY, stream, direction, size, is_pinned, is_awaited, self._place_of(of_host), self._place_of(device)
        )
        self._clock.copied(stream, direction, size, is_pinned, is_awaited)

    def _of_results(self, host: int, size: int) -> int:
        """Where the results begin that lie there; the same address where there are none."""
        if host in self._results or len(self._results) > MOST_PLACES:
            return host
        within = (begin for begin, count in self._results.items() if begin < host + size and host < begin + count)
        return next(within, host)

    def _place_of(self, address: int) -> int:
        """The number of a place in memory, in the order in which they are met, so that runs list the same."""
        if not address or (len(self._places) == MOST_PLACES and address not in self._places):
            return calls.UNKNOWN
        return self._places.setdefault(address, len(self._places))

    def learned(self) -> None:
        """The host has asked whether something has ended, and it has."""
        self._add(calls.QUERY)

    def filled(self, stream: int, size: int) -> None:
        """See Clock. stream: its number. size: bytes that were filled."""
        self._add(calls.FILL, stream, size)
        self._clock.filled(stream, size)

    def fetched(self, stream: int, size: int, move: Move) -> None:
        """See Clock. stream: its number. size: bytes that moved."""
        self._add(calls.FETCH, stream, size, move.name)
        self._clock.fetched(stream, size, move)

    def taken_back(self, size: int) -> None:
        """See Clock. size: bytes that the host took back."""
        self._add(calls.TAKE_BACK, size)
        self._clock.taken_back(size)

"""Where the ticks of an access go, chunk by chunk (docs/machine.md, section 10): hooks of the path of chunks."""

from simtmm.engine.reference.stalls import Path
from simtmm.stalls import Reason

NOWHERE: Path = {}


class Way:
    """The hooks of a run that nobody asks for stalls. access: of the latest access, its ticks up to its finish."""

    access: Path = NOWHERE

    def begins(self) -> None:
        """An access begins."""

    def goes(self, first: Reason, ticks: int, second: Reason = Reason.LINE_IN_FLIGHT, more: int = 0) -> None:
        """Another chunk goes on its way, and spends ticks on one thing or two."""

    def spends(self, reason: Reason, ticks: int) -> None:
        """The chunk spends more."""

    def follows(self) -> None:
        """The chunk is done, and the next one begins behind it."""

    def is_last(self, queued: int) -> None:
        """The chunk is the last of its access so far; queued: ticks for which it waited for its port."""

    def is_late(self, ticks: int) -> None:
        """The access finishes so many ticks later, for translations."""


class BookedWay(Way):
    """What is booked of the latest access. chunk: of its latest chunk."""

    def __init__(self) -> None:
        self.access = {}
        self.chunk: Path = {}

    def begins(self) -> None:
        """See Way."""
        self.access = {}

    def goes(self, first: Reason, ticks: int, second: Reason = Reason.LINE_IN_FLIGHT, more: int = 0) -> None:
        """See Way."""
        self.chunk = {first: ticks, second: more}

    def spends(self, reason: Reason, ticks: int) -> None:
        """See Way."""
        self.chunk[reason] = self.chunk.get(reason, 0) + ticks

    def follows(self) -> None:
        """See Way."""
        for reason, ticks in self.chunk.items():
            self.access[reason] = self.access.get(reason, 0) + ticks

    def is_last(self, queued: int) -> None:
        """See Way."""
        self.access = {**self.chunk, Reason.PORT_QUEUE: queued + self.chunk.get(Reason.PORT_QUEUE, 0)}

    def is_late(self, ticks: int) -> None:
        """See Way."""
        self.access[Reason.FIRST_ACCESS] = self.access.get(Reason.FIRST_ACCESS, 0) + ticks

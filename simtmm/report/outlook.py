"""How long several stages still take: the one under way, and those foreseen behind it."""

from collections.abc import Mapping

from simtmm.cache.compiled import spent

BEFORE = "running the script", "running the program"  # its first launch
OPEN = (
    "recording launch",
    "running a launch",
    *BEFORE,
)  # stages behind which others like them may come, of a program's launches
LEAST = 0.3  # of what a stage has taken, that is left of it at least as long as no part of it is done


class Outlook:
    """The stages that are foreseen, by kind, each with its seconds, in their order."""

    def __init__(self) -> None:
        self._foreseen: dict[str, float] = {}
        self._stage, self._begun, self._at_first = "", 0.0, 0.0
        self.times = 1.0
        """How many times as long as foreseen all takes, as others want this computer, too."""
        self.taken: dict[str, tuple[float, float]] = {}
        """Of each stage that was foreseen and has ended: the seconds foreseen when it began, and those that it took
        besides compiling, as on a free computer.
        """
        self._compiled = spent()
        self._open: float | None = None  # when the first of a program's launches began
        self.launches: int | None = None
        """How many launches there will be, where a program's source says so; None once there were more."""
        self._number, self._repeats = 0, 1.0  # of the launch under way, and how many times as much is recorded in all
        self._behind_first: tuple[float, int] | None = None  # when that had ended, which compiles, and its number

    def foresee(self, seconds: Mapping[str, float]) -> None:
        """Take in what stages take that have not begun; what is known of others stays.

        seconds: by stage, in their order.
        """
        self._foreseen.update(seconds)

    def begin(self, stage: str, now: float) -> None:
        """A stage is under way: those foreseen before it are done, and so is one that is not foreseen itself."""
        if stage == self._stage:
            return
        self.end(now)
        if is_open(stage) and (self._open is None or self._stage in BEFORE):
            self._open = now
        self._compiled = spent()
        self._stage, self._begun = stage, now
        self._number = number_of(stage) or self._number
        if self._number > 1 and self._behind_first is None:
            self._behind_first = now, self._number - 1
        if self.launches is not None and self._number > self.launches:
            self.launches = None
        self._at_first = self._foreseen.get(stage, 0.0)
        if stage in self._foreseen:
            for earlier in list(self._foreseen):
                if earlier == stage:
                    break
                del self._foreseen[earlier]

    def end(self, now: float) -> None:
        """The stage under way has ended."""
        if self._stage in self._foreseen:
            took = now - self._begun - (spent() - self._compiled)
            self.taken[self._stage] = self._at_first, took / self.times

    def ends(self, stage: str) -> bool:
        """Whether it is known what comes behind a stage: it is no launch, or all launches are known."""
        return not is_open(stage) or (self.launches is not None and number_of(stage) is not None)

    def repeats(self, events: float, most: float | None) -> float:
        """How many times as many events a recording will have as it has with the launch under way, about: by its
        launches, where they are known.

        events: with the launch under way. most: events, from which on launches are no longer recorded.
        """
        times = 1.0 if self.launches is None or not self._number else self.launches / self._number
        self._repeats = times if most is None else min(times, max(1.0, most / events))
        return self._repeats

    def known(self, stage: str) -> str:
        """What is known of how many launches follow, in words; "" of anything else."""
        if self.launches is None or number_of(stage) is None:
            return ""
        return f"launch {self._number:,} of {self.launches:,}, by the loops of its source"

    def if_as_many_follow(self, now: float) -> float | None:
        """Seconds until the last stage ends if a program's launches go on for as long again; None where nothing of them
        is known so far.
        """
        if self._open is None or self._stage in BEFORE or not is_open(self._stage) or not self._foreseen:
            return None
        return now - self._open + 2 * self.times * sum(self._foreseen.values())

    def at_least(self, now: float) -> float | None:
        """Seconds until the last stage ends, at least, where nobody knows the end of the one under way: as if it were
        past three quarters of it. None where no stage is foreseen.
        """
        return self.left(LEAST * (now - self._begun), 0.0, now)

    def left(self, own: float | None, part: float, now: float) -> float | None:
        """Seconds until the last stage ends, about; None where no stage is foreseen, or the one under way has neither a
        rate nor a foreseen end.

        own: the rest of the stage under way by its own rate; None while that is unknown. part: of it, that is done.
        """
        if not self._foreseen:
            return None
        later = self.times * sum(seconds for stage, seconds in self._foreseen.items() if stage != self._stage)
        if self.launches is not None and self._open is not None and number_of(self._stage) is not None:
            own = self._left_of_launches(own, part, now)
        foreseen = self._foreseen.get(self._stage)
        if foreseen is not None:
            own = self._left_of(self.times * foreseen, part, now - self._begun)
        return None if own is None else own + later

    def _left_of_launches(self, own: float | None, part: float, now: float) -> float | None:
        """The rest of a program's launches by those that are done behind the first; else by the one under way.

        own: its rest. part: of it, that is done.
        """
        recorded = self._repeats * self._number
        if self._behind_first is not None and self._number - self._behind_first[1] > 1:
            began, before = self._behind_first
            done = self._number - 1 + part
            return (now - began) * max(0.0, recorded - done) / (done - before)
        return None if own is None else own + max(0.0, recorded - self._number) * (now - self._begun + own)

    @staticmethod
    def _left_of(foreseen: float, part: float, taken: float) -> float:
        """The rest of a foreseen stage: by what was foreseen at first, and by its own rate the more is done.

        The rate is that of all of it so far: blocks of a wave end together, so that much is done at once.
        """
        before = max(foreseen - taken, LEAST * taken)
        return before if part <= 0 else part * (taken * (1 - part) / part) + (1 - part) * before


def is_open(stage: str) -> bool:
    """Whether nobody knows how many stages like it follow: a program's launches."""
    return stage.startswith(OPEN)


def number_of(stage: str) -> int | None:
    """The number of the launch that is recorded, from 1; None of any other stage."""
    word = stage.removeprefix("recording launch ")
    return int(word) if word != stage and word.isdigit() else None


def unknown_of(stage: str, again: str | None) -> str:
    """What nobody can know of a program that runs: how often it still launches; "" of anything else.

    again: how long all takes if as many launches follow as there were, in words; None where that is unknown.
    """
    if not is_open(stage):
        return ""
    number = stage.split()[-1]
    so_far = "no launch so far, " if stage in BEFORE else f"launch {number} so far, " if number.isdigit() else ""
    follow = f"how many {'' if number.isdigit() else 'launches '}follow is not known"
    return f"{so_far}{follow}{'' if again is None else f' (as many: about {again} more)'}"

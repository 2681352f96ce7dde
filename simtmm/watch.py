"""Watch: reports on long work to a caller as it goes on, and on what is still to come."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Watch: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, what of it is done, and all there is to do where that is known."""

Foresight: TypeAlias = Callable[[Mapping[str, float]], None]
"""Called with the seconds that each later stage takes, about, in their order."""

Following: TypeAlias = Callable[[float], Mapping[str, float]]
"""The seconds that each stage takes, about, which comes behind the recording of so many events."""

Repeats: TypeAlias = Callable[[float, float | None], float]
"""How many times as many events a recording will have as with its launches so far, by these, and by the most of it."""

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_foresight: ContextVar[Foresight | None] = ContextVar("foresight", default=None)
_repeats: ContextVar[Repeats | None] = ContextVar("repeats", default=None)
_following: ContextVar[Following | None] = ContextVar("following", default=None)


@contextmanager
def watched(watch: Watch | None) -> Iterator[None]:
    """Let a watch receive what is reported within, however far down; None leaves the one that is there."""
    if watch is None:
        yield
        return
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


def tell(stage: str, done: int, total: int | None = None) -> None:
    """Report to the watcher. done: of the stage; total: all of it, where that is known.

    stage: what is going on, as "simulating".
    """
    watch = _watch.get()
    if watch is not None:
        watch(stage, done, total)


def telling(stage: str) -> Callable[[int, int], None]:
    """A function that tells what is done of a stage, and all of it; that it has begun is reported now.

    stage: what is going on, as "simulating".
    """
    tell(stage, 0)
    return lambda done, total: tell(stage, done, total)


@contextmanager
def foreseen_by(foresight: Foresight | None) -> Iterator[None]:
    """Let a function receive what is foreseen within, however far down."""
    token = _foresight.set(foresight)
    try:
        yield
    finally:
        _foresight.reset(token)


@contextmanager
def followed_by(following: Following) -> Iterator[None]:
    """Let recordings within be followed by other stages."""
    token = _following.set(following)
    try:
        yield
    finally:
        _following.reset(token)


@contextmanager
def repeated_by(repeats: Repeats) -> Iterator[None]:
    """Let a function say within how many times as many events there will be as those of the launches so far."""
    token = _repeats.set(repeats)
    try:
        yield
    finally:
        _repeats.reset(token)


def foresee(seconds: Mapping[str, float]) -> None:
    """Report what stages that have not begun take, about, in their order; what is known of others stays.

    seconds: by stage.
    """
    foresight = _foresight.get()
    if foresight is not None:
        foresight(seconds)


def foresee_events(events: float, most: float | None = None) -> None:
    """Report how many events a recording will have, about.

    events: of all its launches, as far as they are known. most: events from which on it has no more of them.
    """
    following, repeats = _following.get(), _repeats.get()
    if following is not None and events > 0:
        foresee(following(events * (repeats(events, most) if repeats is not None else 1.0)))

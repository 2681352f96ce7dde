"""Watch: reports on long work to a caller as it goes on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Watch: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, what of it is done, and all there is to do where that is known."""

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


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

"""A thread that fills windows of a stream beside the engine, while that goes on."""

import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches.tables import Integers
from simtmm.engine.fast.layout import State
from simtmm.engine.fast.supply.windows import fill_beside
from simtmm.native import Loop

_FILL_BESIDE = Loop(fill_beside)


class Beside:
    """The thread of one launch.

    ask: int64[ASK], its own request to the loop that fills.
    """

    def __init__(self, ask: Integers) -> None:
        self.ask = ask
        self._thread = ThreadPoolExecutor(1, "simtmm-windows")

    @contextmanager
    def going_on(self, state: State) -> Iterator[None]:
        """Let it fill what the engine asks for, until the engine is back."""
        state.queue_ends[at.QUEUE_STOPS] = 0
        filling = self._thread.submit(
            _FILL_BESIDE, state.request, state.queue, state.queue_ends, self.ask, _address("usleep")
        )
        try:
            yield
        finally:
            state.queue_ends[at.QUEUE_STOPS] = 1
            filling.result()

    def end(self) -> None:
        """Be done with it."""
        self._thread.shutdown()


def can_fill_beside() -> bool:
    """Whether this system has what threads wait with."""
    try:
        return all(hasattr(_library(), name) for name in ("usleep", "sched_yield"))
    except (OSError, TypeError):  # a system that has no library of all C functions
        return False


def address_of_yield() -> int:
    """The address of what lets another thread go on."""
    return _address("sched_yield")


def _library() -> Any:
    return ctypes.CDLL(None)


def _address(name: str) -> int:
    found = ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value
    assert found is not None
    return found


def queue_for(rows: int) -> Integers:
    """An empty queue with room for each row once, and for as many that the engine has seen to itself."""
    return np.zeros(1 << (2 * rows).bit_length(), np.int64)

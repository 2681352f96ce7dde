"""Functions that let others run meanwhile, as the compiled engine does, called on all cores of this process."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from simtmm.computer import cores

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def in_order(function: Callable[[Item], Outcome], items: Iterable[Item], at_once: int = 0) -> Iterator[Outcome]:
    """What a function makes of each item, in their order.

    If the caller stops early, no more calls have begun than run at once.

    function: called from several threads.
    items: taken from as outcomes are.
    at_once: calls that run at once; as many as the process has cores if 0.

    Raises what the function raises, where that item's turn comes.
    """
    at_once = at_once or cores()
    if at_once == 1:
        yield from map(function, items)
        return
    under_way: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(at_once, "simtmm-at-once") as pool:
        try:
            for item in items:
                under_way.append(pool.submit(function, item))
                if len(under_way) == at_once:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()

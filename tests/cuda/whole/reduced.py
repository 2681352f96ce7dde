"""A kernel with as little in it as still goes wrong in the same way."""

import time
from collections.abc import Callable, Iterator

from tests.cuda.whole.compared import Outcome, outcomes
from tests.cuda.whole.host import HostError, run_on_host
from tests.cuda.whole.kernels import Kernel
from tests.cuda.whole.tree import smaller


def reduced(kernel: Kernel, goes_wrong: Callable[[Kernel], bool], seconds: float) -> Kernel:
    """The smallest kernel found in that time that goes wrong."""
    until = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for fewer in _candidates(kernel):
            if time.monotonic() > until:
                return kernel
            if goes_wrong(fewer):
                kernel, found = fewer, True
                break
    return kernel


def same(outcome: Outcome) -> Callable[[Kernel], bool]:
    """Whether a kernel ends as that one did, and C++ defines what it does."""

    def goes_wrong(kernel: Kernel) -> bool:
        ended = outcomes([kernel], [outcome.architecture], [outcome.way])
        if any(each.ended != outcome.ended for each in ended):
            return False
        if outcome.why[:5] != ended[0].why[:5]:
            return False
        return is_defined(kernel)

    return goes_wrong


def is_defined(kernel: Kernel) -> bool:
    """Whether the sanitizer for undefined behaviour has nothing to say of it."""
    try:
        run_on_host([kernel], checked=True)
    except HostError:
        return False
    return True


def _candidates(kernel: Kernel) -> Iterator[Kernel]:
    shown = len(kernel.shown)
    for count in {max(1, shown // 2), 1}:
        for at in range(0, shown, count):
            yield kernel.but(shown=kernel.shown[:at] + kernel.shown[at + count :])
    for inside in smaller(kernel.inside):
        yield kernel.but(inside=inside)
    for outside in smaller(kernel.outside):
        yield kernel.but(outside=outside)
    for blocks, threads in ((1, 32), (1, 1)):
        if (blocks, threads) < (kernel.blocks, kernel.threads):
            yield kernel.but(blocks=blocks, threads=threads)

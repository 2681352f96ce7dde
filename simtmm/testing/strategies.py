"""Hypothesis strategies for machines, launches and workloads: of simtmm.testing.space, over the whole of it."""

from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from simtmm.machine import Machine
from simtmm.testing import space
from simtmm.testing.draw import strategy_of
from simtmm.workload import Workload


def machines(coupled: bool = True) -> SearchStrategy[Machine]:
    """Any machine that holds blocks of up to six warps.

    coupled: False for machines whose core groups share no bandwidth and no cache.
    """
    return strategy_of(partial(space.machine, coupled=coupled))


def operations() -> SearchStrategy[list[Any]]:
    """An operation of a warp, as in a workload's JSON."""
    return strategy_of(space.operation)


def launches() -> SearchStrategy[dict[str, Any]]:
    """A launch, as in a workload's JSON: blocks of up to six warps, alike in their number of warps or not."""
    return strategy_of(space.launch)


def workloads() -> SearchStrategy[Workload]:
    """One or two launches."""
    return strategy_of(space.workload)

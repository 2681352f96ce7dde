"""What the sites of a program say of work, stalls and values, as flat arrays that compiled loops read."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simtmm.trace.schema import WORK_CLASSES, TraceSite

Integers = npt.NDArray[np.int64]


class SiteTables(NamedTuple):
    """By the number of a site; of a site beyond them nothing is said. Values are numbered anew, without gaps."""

    work: Any  # int64[sites]: instructions that an event issues before its access
    stall: Any  # int64[sites]: cycles that it then holds its warp
    needs_end: Any  # int64[sites + 1]: where in `needs` those of the site end, one further on
    needs: Any  # int64: values
    gives_end: Any  # int64[sites + 1], likewise of `gives`
    gives: Any  # int64: values
    values: int  # how many there are


def site_tables(sites: Sequence[TraceSite]) -> SiteTables:
    """The tables of some sites."""
    said = {site.site: site for site in sites if _says(site)}
    count = max(said, default=-1) + 1
    work, stall = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for number, site in said.items():
        work[number] = sum(instructions for _, instructions in site.work)
        stall[number] = site.stall
    needs_end, needs = _listed(said, count, lambda site: site.needs)
    gives_end, gives = _listed(said, count, lambda site: site.gives)
    values, anew = np.unique(np.concatenate([needs, gives]), return_inverse=True)
    anew = anew.astype(np.int64).reshape(-1)
    return SiteTables(work, stall, needs_end, anew[: len(needs)], gives_end, anew[len(needs) :], len(values))


def work_by_class(sites: Sequence[TraceSite], executions: Integers) -> dict[str, int]:
    """Instructions by class, none left out that is 0; executions: int64[sites], how often each site's work was done."""
    counts = dict.fromkeys(WORK_CLASSES, 0)
    for site in sites:
        for name, instructions in site.work:
            counts[name] += instructions * int(executions[site.site])
    return {name: count for name, count in counts.items() if count}


def _says(site: TraceSite) -> bool:
    return bool(site.work or site.needs or site.gives or site.stall)


def _listed(
    said: dict[int, TraceSite], count: int, values_of: Callable[[TraceSite], tuple[int, ...]]
) -> tuple[Integers, Integers]:
    """The values of all sites after one another, and where those of each site end, one further on."""
    end = np.zeros(count + 1, np.int64)
    values: list[int] = []
    for number, site in sorted(said.items()):
        own = values_of(site)
        end[number + 1] = len(own)
        values += own
    return np.cumsum(end), np.array(values, np.int64)

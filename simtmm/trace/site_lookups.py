"""What compiled loops ask the tables of sites (site_tables.py)."""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.compiled import inlined


@inlined
def work_at(tables, site):
    """Instructions that an event of the site issues before its access."""
    return tables.work[site] if site < len(tables.work) else np.int64(0)


@inlined
def stall_at(tables, site):
    """Cycles that an event of the site holds its warp behind its work."""
    return tables.stall[site] if site < len(tables.stall) else np.int64(0)


@inlined
def latest_needed(tables, site, latest):
    """The largest of `latest` and of what is kept of the values that a site needs."""
    if site < len(tables.work):
        for at in range(tables.needs_end[site], tables.needs_end[site + 1]):
            latest = max(latest, tables.latest[tables.needs[at]])
    return latest


@inlined
def gives_anything(tables, site):
    """Whether the access of a site loads values that others may need."""
    return site < len(tables.work) and tables.gives_end[site] < tables.gives_end[site + 1]


@inlined
def keep_given(tables, site, number):
    """Keep a number of the values that a site gives."""
    if site < len(tables.work):
        for at in range(tables.gives_end[site], tables.gives_end[site + 1]):
            tables.latest[tables.gives[at]] = number

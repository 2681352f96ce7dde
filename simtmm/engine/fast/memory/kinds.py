"""What an instruction's kind says of the path of its chunks (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.native import inlined
from simtmm.workload import ASYNC, ATOMIC, COPY, LOAD, REDUCE, STORE


@inlined
def reads(what):
    """Whether it brings chunks to its group."""
    return what in (LOAD, ASYNC, COPY)


@inlined
def looks_into_l1(s, what):
    """Whether its chunks are looked for in the group's L1."""
    return what in (LOAD, ASYNC) and s.parameters.l1_sets > 0


@inlined
def updates_l2(s, what):
    """Whether it is an atomic that is done in the L2."""
    return what in (ATOMIC, REDUCE) and s.parameters.atomics_here != 0


@inlined
def goes_to_l2(s, what):
    """Whether its chunks are looked for, or left, in the L2."""
    stored = what == STORE and s.parameters.writes_back != 0
    return s.parameters.l2_sets > 0 and (reads(what) or stored or updates_l2(s, what))


@inlined
def stays_in_l1(s, what, chunk):
    """Whether a chunk is of local memory, whose stores stay in the group's L1."""
    return not reads(what) and s.parameters.local_back != 0 and chunk >= s.parameters.first_local

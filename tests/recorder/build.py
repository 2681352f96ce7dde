"""Texts of host.py, and a trace's events as rows."""

import textwrap

from simtmm.trace.schema import KINDS

DEVICE = '#include "device.cuh"\n'

HOST = '''"""A probe."""

import numpy as np

from simtmm.kernel import Launch, Parameter, WrongAnswer, expect_equal

PARAMETERS = {{"n": Parameter(4, "a size")}}


def inputs(p):
    return {arrays}


def launches(p, memory):
{launches}


def check(p, before, after):
{check}
'''


def host(
    arrays='{"a": np.zeros(4, np.int32)}',
    arguments='("a",)',
    grid="1",
    block="1",
    local=0,
    launches=None,
    check="pass",
):
    """host.py, each part an expression or statements in Python; one launch of `f` unless `launches` says else."""
    if launches is None:
        launches = f'yield Launch("f", {arguments}, grid={grid}, block={block}, shared_memory_bytes={local})'
    launches, check = (textwrap.indent(textwrap.dedent(part).strip(), "    ") for part in (launches, check))
    return HOST.format(arrays=arrays, launches=launches, check=check)


def rows(trace, *columns):
    """The events in order, each a tuple of the columns asked for."""
    table = trace.to_table().to_pydict()
    return list(zip(*(table[column] for column in columns), strict=True))


def events(trace):
    """The events in order as (block, thread, site, kind, value, bytes), the kind in words."""
    return [
        (block, thread, site, KINDS[kind], value, size)
        for block, thread, site, kind, value, size in rows(trace, "block", "thread", "site", "kind", "value", "bytes")
    ]


def of_one_thread(trace):
    """The events of a launch of one thread as (site, kind, value, bytes)."""
    everything = events(trace)
    assert {event[:2] for event in everything} <= {(0, 0)}
    return [event[2:] for event in everything]

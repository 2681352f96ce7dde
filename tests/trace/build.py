"""Traces written by hand: each thread's events as (site, kind, value, bytes)."""

import numpy as np

from simtmm.trace.digest import TraceDigest
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.schema import EVENT, KINDS, Batch, TraceLaunch


def load(site, address, size=4):
    return site, "load", address, size


def store(site, address, size=4):
    return site, "store", address, size


def work(site, operations):
    return site, "work", operations, 0


def barrier(site):
    return site, "barrier", 0, 0


def shared(site, offset, size=4, kind="shared_load", array=0):
    return site, kind, array << 32 | offset, size


def trace(*launches, registers=0, shared_memory=0, blocks=None, sites=(), local=0, **more):
    """A trace: each launch is a list of blocks, each block a list of threads, each thread a list of events.

    blocks: of each launch's grid, where there are more than those listed. sites: the site table. local: bytes of a
    thread's own memory. more: fields of TraceInfo.
    """
    batches, table = [], []
    for number, launch in enumerate(launches):
        threads = max((len(block) for block in launch), default=1)
        grid = len(launch) if blocks is None else blocks
        table.append(TraceLaunch("f", (max(1, grid), 1, 1), (threads, 1, 1), registers, shared_memory, local))
        for index, block in enumerate(launch):
            rows = [
                (value, site, thread, KINDS.index(kind), size)
                for thread, events in enumerate(block)
                for site, kind, value, size in events
            ]
            if rows:
                events = np.array(rows, dtype=EVENT)
                one = (np.array([number], np.int32), np.array([index], np.int32), np.array([len(rows)], np.int64))
                batches.append(Batch(events, *one))
    digest = TraceDigest()
    for batch in batches:
        digest.add(batch)
    total = sum(len(batch.events) for batch in batches)
    result = digest.finish(table, (), sites)
    return Trace(TraceInfo("hand", {}, tuple(table), (), tuple(sites), total, result, **more), batches)

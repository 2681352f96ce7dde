"""The digest of a trace: what tells whether two do the same, and whether a file was changed.

Digests of 40 digits follow from sums over the events of each block, which follow from runs (runs/summing.py). Those of
32 digits, in files from before there were runs, follow from the events as they lie in memory.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import Any

import numpy as np

from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.encoder import Encoder, runs_of
from simtmm.trace.runs.known import Known
from simtmm.trace.schema import Batch, TraceArray, TraceLaunch, TraceSite

# Version 1 hashed events as they lay in memory then, and the fields that launches and arrays had.
_EVENT_OF_1 = np.dtype([("value", "<u8"), ("thread", "<i4"), ("site", "<u2"), ("kind", "u1"), ("bytes", "u1")])
_FIELDS_OF_1 = 5  # of a launch, and of an array
_OF_LAUNCH = tuple(each.name for each in fields(TraceLaunch))

OLD_DIGITS = 32


class TraceDigest:
    """A hash of events, launches, arrays and what sites say of work, values and stalls, whatever the runs."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=20)
        self._encoder = Encoder()
        self._known = Known(lambda runs: (runs.events, runs.sums()))

    def add(self, piece: Batch | Runs) -> None:
        """Take blocks in.

        piece: events of blocks, or their runs.
        """
        if isinstance(piece, Runs):
            counts, sums = self._known.of(piece)
            launch = np.full(len(counts), piece.launch)
            rows = np.column_stack([launch, piece.block, counts, sums]).astype("<i8")[counts > 0]
            self._hash.update(rows.tobytes())
        elif len(piece.events):
            # Any shape will do that has room for the threads.
            shape = (int(piece.events["thread"].max()) + 1, 1, 1)
            for runs in runs_of([piece], [shape] * (int(piece.launch.max()) + 1), self._encoder):
                self.add(runs)

    def finish(
        self, launches: Sequence[TraceLaunch], arrays: Sequence[TraceArray], sites: Sequence[TraceSite] = ()
    ) -> str:
        """The digest of all."""
        self._hash.update(json.dumps([*_shapes(launches, arrays), _site_entries(sites)]).encode())
        return self._hash.hexdigest()


class OldDigest:
    """Likewise as it was before there were runs."""

    def __init__(self, version: int) -> None:
        """version: of the schema that the digest is of."""
        self._version = version
        self._events = hashlib.blake2b(digest_size=16)
        self._blocks = hashlib.blake2b(digest_size=16)

    def add(self, piece: Batch | Runs) -> None:
        """Take blocks in."""
        batch = piece.to_batch() if isinstance(piece, Runs) else piece
        events = np.ascontiguousarray(batch.events)
        if self._version == 1:
            given, events = events, np.empty(len(events), _EVENT_OF_1)
            for name in _EVENT_OF_1.names or ():
                events[name] = given[name]
        self._events.update(events.view(np.uint8).data)
        counts = np.diff(batch.ends, prepend=0)
        rows = np.stack([batch.launch, batch.block, counts], axis=1).astype("<i8")[counts > 0]
        self._blocks.update(rows.tobytes())

    def finish(
        self, launches: Sequence[TraceLaunch], arrays: Sequence[TraceArray], sites: Sequence[TraceSite] = ()
    ) -> str:
        """The digest of all."""
        shapes = _shapes(launches, arrays, _FIELDS_OF_1 if self._version == 1 else None)
        if self._version != 1:
            shapes.append(_site_entries(sites))
        for part in (self._blocks.digest(), json.dumps(shapes).encode()):
            self._events.update(part)
        return self._events.hexdigest()


def digest_like(text: str, version: int) -> TraceDigest | OldDigest:
    """What gives a digest of the same kind. version: of the schema of its file."""
    return OldDigest(version) if len(text) == OLD_DIGITS else TraceDigest()


def _shapes(
    launches: Sequence[TraceLaunch], arrays: Sequence[TraceArray], fields: int | None = None
) -> list[list[Any]]:
    """The fields of launches and arrays, or the first of them."""
    of_launches = [_launch_entries(launch)[:fields] for launch in launches]
    return [of_launches, [astuple(array)[:fields] for array in arrays]]


def _launch_entries(launch: TraceLaunch) -> tuple[Any, ...]:
    """The fields of a launch; whether it is in a graph, and its clusters, came later: one without keeps its digest."""
    *entries, in_graph, cluster = (getattr(launch, name) for name in _OF_LAUNCH)
    later = (in_graph, cluster) if cluster > 1 else (in_graph,) if in_graph else ()
    return (*entries, *later)


def _site_entries(sites: Sequence[TraceSite]) -> list[Any]:
    """The fields of sites, but for where they are."""
    entries = [(site.site, sorted(site.work), site.needs, site.gives, *_later(site)) for site in sites]
    return [what for what in entries if any(what[1:])]


def _later(site: TraceSite) -> tuple[int | bool | dict[str, Any], ...]:
    """What sites came to say later, where it is so: traces from before it keep their digests.

    The stall, whether the atomic's value is unused, groups of copies and barriers that wait for no loads; results that
    are waited for, barriers of clusters, fences, and what reading registers takes.
    """
    stall = (site.stall,) if site.stall else ()
    unused = (True,) if site.unused else ()
    waits: dict[str, Any] = {}
    if site.commits or site.in_flight is not None or site.sync:
        waits = {"commits": site.commits, "in_flight": site.in_flight, "sync": site.sync}
    if site.results:
        waits["results"] = site.results
    if any(site.product):
        waits["product"] = site.product
    if site.cluster:
        waits["cluster"] = site.cluster
    if site.fences:
        waits["fences"] = sorted(site.fences)
    if site.operand_cycles:
        waits["operands"] = sorted(site.operand_cycles)
    return (*stall, *unused, *([waits] if waits else []))

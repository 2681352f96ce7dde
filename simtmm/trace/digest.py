"""The digest of a trace: what tells whether two do the same, and whether a file was changed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple

import numpy as np

from simtmm.trace.schema import VERSION, Batch, TraceArray, TraceLaunch, TraceSite

# Version 1 hashed events as they lay in memory then, and of launches and arrays what there was to say.
_EVENT_OF_1 = np.dtype([("value", "<u8"), ("thread", "<i4"), ("site", "<u2"), ("kind", "u1"), ("bytes", "u1")])
_FIELDS_OF_1 = 5  # of a launch, and of an array


class TraceDigest:
    """A hash of events, launches, arrays and what sites say of work, values and stalls, whatever the batches."""

    def __init__(self, version: int = VERSION) -> None:
        """version: of the schema that the digest is of."""
        self._version = version
        self._events = hashlib.blake2b(digest_size=16)
        self._blocks = hashlib.blake2b(digest_size=16)

    def add(self, batch: Batch) -> None:
        """Take a batch in."""
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
        fields = _FIELDS_OF_1 if self._version == 1 else None
        shapes = [[astuple(item)[:fields] for item in items] for items in (launches, arrays)]
        if self._version != 1:
            said = [(site.site, sorted(site.work), site.needs, site.gives, *_stall(site)) for site in sites]
            shapes.append([what for what in said if any(what[1:])])
        for part in (self._blocks.digest(), json.dumps(shapes).encode()):
            self._events.update(part)
        return self._events.hexdigest()


def _stall(site: TraceSite) -> tuple[int, ...]:
    """Nothing where there is none: traces from before there were stalls keep their digests."""
    return (site.stall,) if site.stall else ()

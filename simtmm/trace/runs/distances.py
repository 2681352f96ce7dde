"""Batches whose blocks may stand as distances (see schema.Batch): put together, or as their events again."""

from collections.abc import Sequence

import numpy as np

from simtmm.trace.runs.layout import DISTANCE
from simtmm.trace.schema import EVENT, Batch, Events, plain


def further_on(model: Events, distances: Events) -> Events:
    """The events of a block that stands as distances. model: EVENT[n], those that they are from. distances:
    EVENT[sites].
    """
    order = np.argsort(distances["site"])
    of_event = order[np.searchsorted(distances["site"][order], model["site"])]
    events = model.copy()
    events["value"] += distances["value"][of_event]
    return events


def spelled_out(batch: Batch) -> Batch:
    """A batch with the events of all its blocks; the batch itself where it has no others."""
    if not batch.spared:
        return batch
    begins = np.concatenate([np.zeros(1, np.int64), batch.ends[:-1]])
    blocks: list[Events] = []
    model = batch.events[:0]
    for begin, end in zip(begins.tolist(), batch.ends.tolist(), strict=True):
        events = batch.events[begin:end]
        if len(events) and events["kind"][0] == DISTANCE:
            events = further_on(model, events)
        elif len(events):
            model = events
        blocks.append(events)
    ends = np.cumsum([len(events) for events in blocks], dtype=np.int64)
    return Batch(np.concatenate([plain(events) for events in blocks]).view(EVENT), batch.launch, batch.block, ends)


def joined(batches: Sequence[Batch]) -> Batch:
    """Batches that follow one another as one."""
    if len(batches) == 1:
        return batches[0]
    before = np.cumsum([0, *(len(batch.events) for batch in batches[:-1])])
    return Batch(
        np.concatenate([plain(batch.events) for batch in batches]).view(EVENT),
        np.concatenate([batch.launch for batch in batches]),
        np.concatenate([batch.block for batch in batches]),
        np.concatenate([batch.ends + start for batch, start in zip(batches, before, strict=True)]),
        spared=sum(batch.spared for batch in batches),
    )

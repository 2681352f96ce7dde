"""Blocks that stand as distances (see schema.Batch), as their events again, for who looks at events themselves."""

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

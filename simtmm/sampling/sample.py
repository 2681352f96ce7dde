"""A sample of a trace: some blocks of some launches, as a trace of its own, in which they follow one another."""

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from simtmm.trace.io import Trace
from simtmm.trace.runs.blocks import Runs

Integers = npt.NDArray[np.int64]


def sample_of(trace: Trace, chosen: Mapping[int, Integers]) -> Trace:
    """The chosen blocks of a trace: each launch of it has those of one launch, numbered anew in their order.

    trace: which holds these blocks at least. chosen: int64[...], ascending numbers of blocks, by launch; the sample's
        launches are in the order of the launches' numbers.
    """
    launches = sorted(chosen)
    info = trace.info
    pieces = list(_pieces(trace, {launch: chosen[launch] for launch in launches}))
    digest = hashlib.sha256(info.digest.encode())
    for launch in launches:
        digest.update(np.asarray([launch, *chosen[launch]], np.int64).tobytes())
    shortened = [
        dataclasses.replace(info.launches[launch], grid=(max(1, len(chosen[launch])), 1, 1)) for launch in launches
    ]
    return Trace(
        dataclasses.replace(
            info,
            launches=tuple(shortened),
            events=sum(int(runs.events.sum()) for runs in pieces),
            digest=digest.hexdigest()[: len(info.digest) or 20],
            sampling=None,
        ),
        pieces,
    )


def _pieces(trace: Trace, chosen: Mapping[int, Integers]) -> Iterator[Runs]:
    numbers = {launch: number for number, launch in enumerate(chosen)}
    for runs in trace.runs():
        if runs.launch in chosen and len(runs.block):
            taken = chosen[runs.launch]
            # Of those that may be here: looking through all of them for each piece takes the square of the sample
            first, behind = np.searchsorted(taken, (runs.block.min(), runs.block.max() + 1))
            kept = runs.of_blocks(taken[first:behind].astype(np.int32))
            if len(kept.block):
                renumbered = np.searchsorted(taken, kept.block).astype(np.int32)
                yield dataclasses.replace(kept, launch=numbers[runs.launch], block=renumbered)

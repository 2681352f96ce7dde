"""Events as rows of a Parquet file, as traces were written before there were runs: read in batches of whole blocks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from simtmm.errors import TraceError, shown_error
from simtmm.trace.info import TraceInfo
from simtmm.trace.runs.distances import joined
from simtmm.trace.schema import EVENT, MOST_SITES, Batch, Kind

COLUMNS = pa.schema(
    [
        pa.field("launch", pa.int32(), nullable=False),
        pa.field("block", pa.int32(), nullable=False),
        pa.field("thread", pa.int32(), nullable=False),
        pa.field("site", pa.uint32(), nullable=False),
        pa.field("kind", pa.uint8(), nullable=False),
        pa.field("bytes", pa.uint8(), nullable=False),
        pa.field("value", pa.uint64(), nullable=False),
    ]
)
OLD_COLUMNS = COLUMNS.set(COLUMNS.get_field_index("site"), pa.field("site", pa.uint16(), nullable=False))  # version 1


_ORDER = "rows must be in the order of launch, block and thread"


def _cut(batch: Batch, start: int, stop: int) -> Batch:
    """The events from `start` to `stop`, of blocks that need not be whole."""
    first = int(np.searchsorted(batch.ends, start, side="right"))
    last = int(np.searchsorted(batch.ends, stop, side="left"))
    return Batch(
        batch.events[start:stop],
        batch.launch[first : last + 1],
        batch.block[first : last + 1],
        np.minimum(batch.ends[first : last + 1], stop) - start,
    )


def to_arrow(batch: Batch) -> pa.RecordBatch:
    """The batch with the columns of the file."""
    counts = np.diff(batch.ends, prepend=0)
    columns = {
        "launch": np.repeat(batch.launch, counts),
        "block": np.repeat(batch.block, counts),
        "thread": batch.events["thread"].astype(np.int32),
        **{name: np.ascontiguousarray(batch.events[name]) for name in ("site", "kind", "bytes", "value")},
    }
    return pa.RecordBatch.from_arrays([column_of(columns[name]) for name in COLUMNS.names], schema=COLUMNS)


def read_batches(path: Path, info: TraceInfo) -> Iterator[Batch]:
    """The row groups as batches of whole blocks: a block that goes on in the next row group is held back."""
    held: list[Batch] = []  # of one block, as much of it as has been read
    before = (-1, -1)
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                read = _from_arrow(file.read_row_group(group), path)
                last_one = group + 1 == file.num_row_groups
                if not len(read.ends):
                    continue
                if held and len(read.ends) == 1 and _name(read, 0) == _name(held[0], 0) and not last_one:
                    held.append(read)
                    continue
                batch = _merged([*held, read])
                _check(batch, info, before, path)
                held = []
                if not last_one:
                    last = int(batch.ends[-2]) if len(batch.ends) > 1 else 0
                    held = [_cut(batch, last, len(batch.events))]
                    batch = Batch(batch.events[:last], batch.launch[:-1], batch.block[:-1], batch.ends[:-1])
                if len(batch.ends):
                    before = _name(batch, -1)
                    yield batch
            if held:  # behind it came row groups without rows
                batch = _merged(held)
                _check(batch, info, before, path)
                yield batch
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: can't be read ({shown_error(error)})") from None


def _name(batch: Batch, at: int) -> tuple[int, int]:
    return int(batch.launch[at]), int(batch.block[at])


def _from_arrow(table: pa.Table, path: Path) -> Batch:
    columns = {name: numbers(table.column(name)) for name in COLUMNS.names}
    events = np.empty(table.num_rows, dtype=EVENT)
    if np.any(columns["thread"].view(np.uint32) > np.iinfo(EVENT["thread"]).max):  # a negative one is large
        raise TraceError(f"{path}: {_ORDER}, threads within the block")
    for name in EVENT.names or ():
        events[name] = columns[name]
    launch, block = columns["launch"], columns["block"]
    changes = np.flatnonzero((np.diff(launch) != 0) | (np.diff(block) != 0)) + 1
    starts = np.concatenate([np.zeros(min(1, len(events)), np.int64), changes])
    ends = np.concatenate([changes, np.full(min(1, len(events)), len(events))]).astype(np.int64)
    return Batch(events, launch[starts], block[starts], ends)


def numbers(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """A column of integers. Raises ArrowInvalid where one is missing."""
    if column.null_count:
        raise pa.ArrowInvalid("a value is missing")
    parts = [flat(chunk) for chunk in column.chunks if len(chunk)]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, str(column.type)), *parts])


def flat(array: pa.Array) -> npt.NDArray[Any]:
    """An array of integers without nulls. Arrow's own way imports pandas, where that is installed: longer than most
    reads take.
    """
    kind = np.dtype(str(array.type))
    if not len(array):
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def column_of(array: npt.NDArray[Any]) -> pa.Array:
    """The inverse of `flat`: an array of integers as a column, without an import of pandas either."""
    content = pa.py_buffer(np.ascontiguousarray(array))
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, content])


def _merged(parts: list[Batch]) -> Batch:
    """Batches that follow one another, where each but the last is of one block and the next may begin with more of it.

    A block that stands twice in a row because its parts were separate becomes one.
    """
    batch = joined(parts)
    if len(parts) == 1:
        return batch
    same = (np.diff(batch.launch) == 0) & (np.diff(batch.block) == 0)
    kept = np.append(~same, True)
    return Batch(batch.events, batch.launch[kept], batch.block[kept], batch.ends[kept])


def _check(batch: Batch, info: TraceInfo, before: tuple[int, int], path: Path) -> None:
    """Refuse rows that contradict the metadata or the order; one pass over whole columns."""
    launch, block = batch.launch, batch.block
    if not len(launch):
        return
    blocks = np.array([entry.blocks for entry in info.launches], dtype=np.int64)
    threads = np.array([entry.threads_per_block for entry in info.launches], dtype=np.int64)
    if launch.min() < 0 or launch.max() >= len(blocks) or block.min() < 0 or np.any(block >= blocks[launch]):
        raise TraceError(f"{path}: a row names a launch or block that its metadata does not have")
    order = (np.diff(launch) > 0) | ((np.diff(launch) == 0) & (np.diff(block) > 0))
    if not np.all(order) or (int(launch[0]), int(block[0])) <= before:
        raise TraceError(f"{path}: {_ORDER}")
    thread, site = batch.events["thread"], batch.events["site"]
    counts = np.diff(batch.ends, prepend=0)
    backwards = thread[1:] < thread[:-1]
    backwards[batch.ends[:-1] - 1] = False
    if np.any(backwards) or np.any(thread >= np.repeat(threads[launch], counts)):
        raise TraceError(f"{path}: {_ORDER}, threads within the block")
    most_sites = 1 << 16 if info.version == 1 else MOST_SITES
    if site.max() >= most_sites:
        raise TraceError(f"{path}: site {int(site.max())}: must be below {most_sites}")
    value, kind = batch.events["value"], batch.events["kind"]
    is_none = kind >= Kind.SHARED_ARRAY
    if info.version > 1:
        is_none &= (kind == Kind.SHARED_ARRAY) | (kind > Kind.PRODUCT)
    if np.any(is_none):
        others = "" if info.version == 1 else f", or from {int(Kind.LOCAL_LOAD)} to {int(Kind.PRODUCT)}"
        raise TraceError(f"{path}: kind {int(kind[is_none].max())}: must be below {int(Kind.SHARED_ARRAY)}{others}")
    if np.any(value[kind != Kind.BARRIER] >= 2**62):
        raise TraceError(f"{path}: value {int(value.max())}: addresses and counts must be below 2^62")

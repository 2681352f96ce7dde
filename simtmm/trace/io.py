"""Trace: events and what they belong to, in memory or in a Parquet file; reading and writing it."""

import dataclasses
import hashlib
import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simtmm.errors import TraceError, shown_error
from simtmm.files import written_whole
from simtmm.trace.schema import (
    EVENT,
    METADATA_KEY,
    Batch,
    Kind,
    Sampling,
    TraceArray,
    TraceInfo,
    TraceLaunch,
    TraceSite,
)

if TYPE_CHECKING:
    from simtmm.trace.races import Races

ROW_GROUP = 1 << 20  # events of a row group: 16 MiB of memory
UNDER_WAY = 2  # pieces of a recording that may wait to be digested and written; what bounds memory

COLUMNS = pa.schema(
    [
        pa.field("launch", pa.int32(), nullable=False),
        pa.field("block", pa.int32(), nullable=False),
        pa.field("thread", pa.int32(), nullable=False),
        pa.field("site", pa.uint16(), nullable=False),
        pa.field("kind", pa.uint8(), nullable=False),
        pa.field("bytes", pa.uint8(), nullable=False),
        pa.field("value", pa.uint64(), nullable=False),
    ]
)


class Trace:
    """What the threads of a kernel did. Frozen: its events are read batch by batch, each of whole blocks.

    races: what a recording with `races=True` found (simtmm.trace.races); None where nobody looked.
    """

    def __init__(self, info: TraceInfo, source: "list[Batch] | Path", races: "Races | None" = None) -> None:
        self.info = info
        self.races = races
        self._source = source
        self._verified = False  # the file's rows against its digest, once

    def __repr__(self) -> str:
        return f"Trace({self.info.kernel}, {len(self.info.launches)} launches, {self.info.events} events)"

    def batches(self) -> Iterator[Batch]:
        """The events, in order. Raises TraceError where a file is damaged or contradicts its own metadata.

        The first time a file is read to its end, its rows are checked against its digest as well.
        """
        if isinstance(self._source, Path):
            digest = None if self._verified else TraceDigest()
            for batch in _read_batches(self._source, self.info):
                if digest:
                    digest.add(batch)
                yield batch
            if digest and digest.finish(self.info.launches, self.info.arrays) != self.info.digest:
                raise TraceError(f"{self._source}: its rows have another digest than its metadata says: it was changed")
            self._verified = True
        else:
            yield from self._source

    def save(self, path: str | Path) -> None:
        """Write the trace to a Parquet file, whole or not at all."""
        with written_whole(path) as temporary:
            writer = TraceWriter(temporary)
            with writer:
                for batch in self.batches():
                    writer.add(batch)
                writer.close_with(self.info)

    def to_table(self) -> pa.Table:
        """All events as an Arrow table with the columns of trace/schema.py; `.to_pandas()` for pandas."""
        return pa.Table.from_batches([_to_arrow(batch) for batch in self.batches()], schema=COLUMNS)


def load_trace(path: str | Path) -> Trace:
    """A trace from a Parquet file that simtmm wrote. Raises TraceError.

    Only the metadata is read here; events are read when they are asked for.
    """
    path = Path(path)
    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
            document = (file.metadata.metadata or {}).get(METADATA_KEY)
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror or error})") from None
    except pa.ArrowException as error:
        raise TraceError(f"{path}: is not a whole Parquet file ({shown_error(error)})") from None
    if document is None or not schema.remove_metadata().equals(COLUMNS):
        raise TraceError(
            f"{path}: is no simtmm trace: a Parquet file with the columns {', '.join(COLUMNS.names)} "
            f"and the metadata {METADATA_KEY.decode()!r} is needed"
        )
    try:
        info = TraceInfo.from_dict(json.loads(document))
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(f"{path}: metadata {METADATA_KEY.decode()!r} can't be understood ({error!r})") from None
    if info.events != rows:
        raise TraceError(f"{path}: has {rows} rows, its metadata says {info.events}: it was cut or changed")
    return Trace(info, path)


class TraceWriter:
    """Writes batches to a Parquet file, a row group each, a large batch in several; memory is bounded by the batch."""

    def __init__(self, path: Path) -> None:
        # Measured over the kernels here: half the time and a third of the bytes of dictionaries and deltas. Threads
        # go up by one; addresses have equal upper bytes, which stand together when a value's bytes are split.
        self._writer = pq.ParquetWriter(
            path,
            COLUMNS,
            compression="zstd",
            compression_level=1,
            use_dictionary=False,
            column_encoding={"thread": "DELTA_BINARY_PACKED", "value": "BYTE_STREAM_SPLIT"},
            write_statistics=["launch", "block"],
        )

    def __enter__(self) -> "TraceWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add(self, batch: Batch) -> None:
        """Append a batch."""
        count = len(batch.events)
        if not count:
            return
        pieces = max(1, round(count / ROW_GROUP))
        for start, stop in pairwise(count * piece // pieces for piece in range(pieces + 1)):
            part = batch if pieces == 1 else _cut(batch, start, stop)
            self._writer.write_batch(_to_arrow(part), row_group_size=stop - start)

    def close_with(self, info: TraceInfo) -> None:
        """Write the metadata and end the file."""
        self._writer.add_key_value_metadata({METADATA_KEY: json.dumps(info.to_dict()).encode()})
        self._writer.close()


class TraceDigest:
    """A hash of events, launches and arrays, whatever the batches the events come in."""

    def __init__(self) -> None:
        self._events = hashlib.blake2b(digest_size=16)
        self._blocks = hashlib.blake2b(digest_size=16)

    def add(self, batch: Batch) -> None:
        """Take a batch in."""
        self._events.update(np.ascontiguousarray(batch.events).view(np.uint8).data)
        counts = np.diff(batch.ends, prepend=0)
        rows = np.stack([batch.launch, batch.block, counts], axis=1).astype("<i8")[counts > 0]
        self._blocks.update(rows.tobytes())

    def finish(self, launches: Sequence[TraceLaunch], arrays: Sequence[TraceArray]) -> str:
        """The digest of all."""
        shapes = json.dumps([[dataclasses.astuple(item) for item in items] for items in (launches, arrays)])
        for part in (self._blocks.digest(), shapes.encode()):
            self._events.update(part)
        return self._events.hexdigest()


class TraceRecorder:
    """Collects what a recorder records, into memory or straight to a file, and digests it on the way.

    Digesting and writing go on in a thread each while the recorder records further, in the order of the batches.
    Small batches, such as those of small launches, come together in one, a row group.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._writer = TraceWriter(path) if path else None
        self._path = path
        self._batches: list[Batch] = []
        self._digest = TraceDigest()
        self._digesting = ThreadPoolExecutor(1, "simtmm-digest")
        self._writing = ThreadPoolExecutor(1, "simtmm-write")
        self._waiting: list[Batch] = []
        self._waiting_events = 0
        self._under_way: deque[list[Future[None]]] = deque()
        self.events = 0

    def add(self, batch: Batch) -> None:
        """Append a batch. Raises what went wrong in writing one before it, as an OSError for a full disk."""
        count = len(batch.events)
        if not count:
            return
        self.events += count
        if self._waiting_events + count > ROW_GROUP:
            self._hand_on()
        self._waiting.append(batch)
        self._waiting_events += count
        if self._waiting_events >= ROW_GROUP // 2:
            self._hand_on()

    def _hand_on(self) -> None:
        """Give what has come together to the threads; wait for them where too much is under way."""
        if not self._waiting:
            return
        batch = _joined(self._waiting)
        self._waiting, self._waiting_events = [], 0
        steps = [self._digesting.submit(self._digest.add, batch)]
        if self._writer:
            steps.append(self._writing.submit(self._writer.add, batch))
        else:
            self._batches.append(batch)
        self._under_way.append(steps)
        self._wait(UNDER_WAY)

    def _wait(self, most: int) -> None:
        """Until at most so many pieces are under way."""
        while len(self._under_way) > most:
            for step in self._under_way[0]:
                step.result()
            self._under_way.popleft()

    def finish(
        self,
        kernel: str,
        parameters: dict[str, Any],
        launches: list[TraceLaunch],
        arrays: list[TraceArray],
        sites: list[TraceSite],
        provenance: dict[str, Any],
        sample_blocks: int | None = None,
    ) -> Trace:
        """The trace, all events having been added, where `sample_blocks` was given those of the sampled blocks."""
        self._hand_on()
        self._wait(0)
        self._end_threads()
        info = TraceInfo(
            kernel=kernel,
            parameters=parameters,
            launches=tuple(launches),
            arrays=tuple(arrays),
            sites=tuple(sites),
            events=self.events,
            digest=self._digest.finish(launches, arrays),
            provenance=provenance,
            sampling=Sampling.of(launches, sample_blocks),
        )
        if self._writer is None or self._path is None:
            return Trace(info, self._batches)
        self._writer.close_with(info)
        return Trace(info, self._path)

    def abandon(self) -> None:
        """End the threads and close the file; nothing happens where `finish` has."""
        self._end_threads()
        if self._writer:
            self._writer.__exit__()

    def _end_threads(self) -> None:
        for threads in (self._digesting, self._writing):
            threads.shutdown(cancel_futures=True)


def _joined(batches: Sequence[Batch]) -> Batch:
    """Batches that follow one another as one."""
    if len(batches) == 1:
        return batches[0]
    before = np.cumsum([0, *(len(batch.events) for batch in batches[:-1])])
    return Batch(
        np.concatenate([batch.events for batch in batches]),
        np.concatenate([batch.launch for batch in batches]),
        np.concatenate([batch.block for batch in batches]),
        np.concatenate([batch.ends + start for batch, start in zip(batches, before, strict=True)]),
    )


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


def _to_arrow(batch: Batch) -> pa.RecordBatch:
    counts = np.diff(batch.ends, prepend=0)
    columns = {
        "launch": np.repeat(batch.launch, counts),
        "block": np.repeat(batch.block, counts),
        **{name: np.ascontiguousarray(batch.events[name]) for name in ("thread", "site", "kind", "bytes", "value")},
    }
    return pa.RecordBatch.from_arrays([pa.array(columns[name]) for name in COLUMNS.names], schema=COLUMNS)


def _read_batches(path: Path, info: TraceInfo) -> Iterator[Batch]:
    """The row groups as batches of whole blocks: a block that goes on in the next row group is held back."""
    held: list[Batch] = []  # of one block, as much of it as has been read
    before = (-1, -1)
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                read = _from_arrow(file.read_row_group(group))
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
    except (OSError, pa.ArrowException) as error:
        raise TraceError(f"{path}: can't be read ({shown_error(error)})") from None


def _name(batch: Batch, at: int) -> tuple[int, int]:
    return int(batch.launch[at]), int(batch.block[at])


def _from_arrow(table: pa.Table) -> Batch:
    columns = {name: table.column(name).to_numpy() for name in COLUMNS.names}
    events = np.empty(table.num_rows, dtype=EVENT)
    for name in EVENT.names or ():
        events[name] = columns[name]
    launch, block = columns["launch"], columns["block"]
    changes = np.flatnonzero((np.diff(launch) != 0) | (np.diff(block) != 0)) + 1
    starts = np.concatenate([np.zeros(min(1, len(events)), np.int64), changes])
    ends = np.concatenate([changes, np.full(min(1, len(events)), len(events))]).astype(np.int64)
    return Batch(events, launch[starts], block[starts], ends)


def _merged(parts: list[Batch]) -> Batch:
    """Batches that follow one another, where each but the last is of one block and the next may begin with more of it.

    A block that stands twice in a row because its parts were told apart becomes one.
    """
    batch = _joined(parts)
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
        raise TraceError(f"{path}: rows must be in the order of launch, block and thread")
    thread = batch.events["thread"]
    counts = np.diff(batch.ends, prepend=0)
    backwards = np.diff(thread) < 0
    backwards[batch.ends[:-1] - 1] = False
    if np.any(backwards) or thread.min() < 0 or np.any(thread >= np.repeat(threads[launch], counts)):
        raise TraceError(f"{path}: rows must be in the order of launch, block and thread, threads within the block")
    if batch.events["kind"].max() >= Kind.SHARED_ARRAY:
        raise TraceError(f"{path}: kind {int(batch.events['kind'].max())}: must be below {int(Kind.SHARED_ARRAY)}")
    value, kind = batch.events["value"], batch.events["kind"]
    if np.any(value[kind != Kind.BARRIER] >= 2**62):
        raise TraceError(f"{path}: value {int(value.max())}: addresses and counts must be below 2^62")

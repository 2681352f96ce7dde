"""Trace: events and what they belong to, in memory or in a Parquet file; its digest, and how it is recorded."""

import dataclasses
import json
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from simtmm.errors import RecordingError, TraceError, nearest, shown, shown_error
from simtmm.files import data_folders, written_whole
from simtmm.trace.digest import OldDigest, TraceDigest, digest_like
from simtmm.trace.info import TraceInfo
from simtmm.trace.parquet import COLUMNS, OLD_COLUMNS, joined, read_batches, to_arrow
from simtmm.trace.runs.blocks import PIECE, Encoder, Runs, runs_of
from simtmm.trace.runs.file import COLUMNS as RUN_COLUMNS
from simtmm.trace.runs.file import holds_runs, read_runs
from simtmm.trace.runs.writing import RunWriter
from simtmm.trace.schema import METADATA_KEY, VERSION, Batch, Sampling, TraceArray, TraceLaunch, TraceSite

if TYPE_CHECKING:
    from simtmm.trace.races import Races

SUFFIX = ".parquet"  # of a trace's file
TOGETHER = 2 * PIECE  # events of small batches that are handed on as one, at most: 8 MiB of memory
UNDER_WAY = 2  # such parts of a recording that may wait to be encoded, digested and written; what bounds memory


class Trace:
    """What the threads of a kernel did. Frozen: its events are read batch by batch, each of whole blocks.

    races: what a recording with `races=True` found (simtmm.trace.races); None where nobody looked.
    """

    def __init__(self, info: TraceInfo, source: "Sequence[Batch | Runs] | Path", races: "Races | None" = None) -> None:
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
        if not isinstance(self._source, Path):
            for piece in self._source:
                yield piece.to_batch() if isinstance(piece, Runs) else piece
            return
        if self._holds_runs(self._source):
            for runs in self.runs():
                yield runs.to_batch()
            return
        digest = self._unverified()
        for batch in read_batches(self._source, self.info):
            if digest:
                digest.add(batch)
            yield batch
        self._verify(digest)

    def runs(self) -> Iterator[Runs]:
        """The same blocks, held by what their threads have in common. Raises what `batches` raises."""
        shapes, encoder = [launch.block for launch in self.info.launches], Encoder()
        if not isinstance(self._source, Path):
            for piece in self._source:
                yield from [piece] if isinstance(piece, Runs) else runs_of([piece], shapes, encoder)
            return
        digest = self._unverified()
        if self._holds_runs(self._source):
            pieces = read_runs(self._source, self.info)
        else:
            pieces = runs_of(read_batches(self._source, self.info), shapes, encoder)
        events = 0
        for runs in pieces:
            if digest:
                digest.add(runs)
            events += int(runs.events.sum())
            yield runs
        if events != self.info.events:
            raise TraceError(
                f"{self._source}: has {events} events, its metadata says {self.info.events}: it was cut or changed"
            )
        self._verify(digest)

    def _holds_runs(self, path: Path) -> bool:
        try:
            return holds_runs(path)
        except (OSError, pa.ArrowException) as error:
            raise TraceError(f"{path}: can't be read ({shown_error(error)})") from None

    def _unverified(self) -> TraceDigest | OldDigest | None:
        """What the digest of the file's rows is made with, unless that has been looked at."""
        return None if self._verified else digest_like(self.info.digest, self.info.version)

    def _verify(self, digest: TraceDigest | OldDigest | None) -> None:
        if digest and digest.finish(self.info.launches, self.info.arrays, self.info.sites) != self.info.digest:
            raise TraceError(f"{self._source}: its rows have another digest than its metadata says: it was changed")
        self._verified = True

    def save(self, path: str | Path) -> None:
        """Write the trace to a Parquet file of the present version, whole or not at all."""
        with written_whole(path) as temporary:
            writer, digest = RunWriter(temporary), TraceDigest()
            is_old = self.info.version != VERSION
            with writer:
                for runs in self.runs():
                    writer.add(runs)
                    if is_old:
                        digest.add(runs)
                info = self.info
                if is_old:
                    anew = digest.finish(info.launches, info.arrays, info.sites)
                    info = dataclasses.replace(info, version=VERSION, digest=anew)
                writer.close_with(info)

    def to_table(self) -> pa.Table:
        """All events as an Arrow table with the columns of trace/schema.py; `.to_pandas()` for pandas."""
        return pa.Table.from_batches([to_arrow(batch) for batch in self.batches()], schema=COLUMNS)


def load_trace(path: str | Path) -> Trace:
    """A trace that simtmm wrote. Raises TraceError.

    Only the metadata is read here; events are read when they are asked for.

    path: of a Parquet file; or a trace's name, traces/NAME.parquet in the folders of `simtmm.files.data_folders`.
    """
    path = _trace_file(path)
    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
            document = (file.metadata.metadata or {}).get(METADATA_KEY)
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror or error})") from None
    except pa.ArrowException as error:
        raise TraceError(f"{path}: is not a whole Parquet file ({shown_error(error)})") from None
    if document is None or schema.remove_metadata() not in (RUN_COLUMNS, COLUMNS, OLD_COLUMNS):
        raise TraceError(
            f"{path}: is no simtmm trace: a Parquet file with the columns {', '.join(COLUMNS.names)} "
            f"and the metadata {METADATA_KEY.decode()!r} is needed"
        )
    try:
        info = TraceInfo.from_dict(json.loads(document))
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(f"{path}: metadata {METADATA_KEY.decode()!r} can't be understood ({error!r})") from None
    if info.events != rows and schema.remove_metadata() != RUN_COLUMNS:
        raise TraceError(f"{path}: has {rows} rows, its metadata says {info.events}: it was cut or changed")
    return Trace(info, path)


def trace_files() -> dict[str, Path]:
    """The traces that are known by name, and their files."""
    found: dict[str, Path] = {}
    for folder in data_folders("traces"):
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def _trace_file(given: str | Path) -> Path:
    """The file of that path; or of that name, for a word without a suffix that is no file's path."""
    if not isinstance(given, (str, Path)):
        raise TraceError(f"trace = {shown(given)}: must be a trace's name, or a path to its file ({SUFFIX})")
    path = Path(given)
    if path.suffix or path.name != str(given) or path.exists():
        return path
    known = trace_files()
    if path.name not in known:
        raise TraceError(f"trace {str(given)!r}: unknown{nearest(str(given), known)}")
    return known[path.name]


class TraceRecorder:
    """Collects what a recorder records as runs, in memory or straight to a file, and digests it on the way.

    Encoding and digesting go on in a thread while the recorder records further, and writing in another, in the order
    of the batches. Small batches, such as those of small launches, come together in one.
    """

    def __init__(self, path: Path | None = None, most_bytes: int | None = None) -> None:
        """path: of a file; None to hold all in memory, or, where that takes more than `most_bytes`, if that is said, in
        a file of the folder for temporary ones, which goes with the trace.
        """
        self._writer = RunWriter(path) if path else None
        self._most_bytes, self._bytes = most_bytes, 0
        self._path = path
        self._temporary: Path | None = None
        self._pieces: list[Runs] = []
        self._encoder = Encoder()
        self._shapes: list[tuple[int, int, int]] = []
        self._digest = TraceDigest()
        self._encoding = ThreadPoolExecutor(1, "simtmm-encode")
        self._writing = ThreadPoolExecutor(1, "simtmm-write")
        self._waiting: list[Batch] = []
        self._waiting_events = 0
        self._under_way: deque[Future[list[Future[None]]]] = deque()
        self.events = 0

    def add(self, batch: Batch, launches: Sequence[TraceLaunch]) -> None:
        """Append a batch. launches: all that have begun, or more; threads are within the shapes of their blocks.

        Raises what went wrong in writing one before it, as an OSError for a full disk; RecordingError where memory does
        not hold it.
        """
        count = len(batch.events)
        if not count:
            return
        self.events += count
        self._shapes += [launch.block for launch in launches[len(self._shapes) :]]
        if batch.is_lent or self._waiting_events + count > TOGETHER:
            self._hand_on()
        self._waiting.append(batch)
        self._waiting_events += count
        if batch.is_lent or self._waiting_events >= TOGETHER // 2:
            self._hand_on()
        if batch.is_lent:
            self._under_way[-1].result()

    def _hand_on(self) -> None:
        """Give what has come together to the threads; wait for them where too much is under way."""
        if not self._waiting:
            return
        batch = joined(self._waiting)
        self._waiting, self._waiting_events = [], 0
        self._under_way.append(self._encoding.submit(self._take_in, batch))
        self._wait(UNDER_WAY)

    def _take_in(self, batch: Batch) -> list[Future[None]]:
        """Encode a batch, and keep what is complete, or have it written."""
        return self._keep(list(self._encoder.encoded(batch, self._shapes)))

    def _keep(self, pieces: list[Runs]) -> list[Future[None]]:
        """Digest runs, and keep them, or have them written."""
        for runs in pieces:
            self._digest.add(runs)
        if self._writer is None:
            self._pieces += pieces
            self._bytes += sum(runs.bytes for runs in pieces)
            if self._most_bytes is None or self._bytes <= self._most_bytes:
                return []
            self._writer = self._temporary_file()  # goes on there, with all that memory holds
            pieces, self._pieces = self._pieces, []
        return [self._writing.submit(self._write, self._writer, runs) for runs in pieces]

    def _temporary_file(self) -> RunWriter:
        try:
            self._temporary = Path(tempfile.mkdtemp(prefix="simtmm-"))
            self._path = self._temporary / f"trace{SUFFIX}"
            return RunWriter(self._path)
        except OSError as error:
            raise self._no_room(error) from None

    def _write(self, writer: RunWriter, runs: Runs) -> None:
        try:
            writer.add(runs)
        except OSError as error:
            if self._temporary is None:
                raise
            raise self._no_room(error) from None

    def _no_room(self, error: OSError) -> RecordingError:
        return RecordingError(
            f"{self.events:,} events so far take more than the {self._most_bytes:,} bytes that may be held in memory, "
            f"and {self._temporary or tempfile.gettempdir()} can't hold them ({error.strerror or error}): set TMPDIR "
            "to a folder with more room, or write to a file (simtmm record -o FILE)"
        )

    def _wait(self, most: int) -> None:
        """Until at most so many pieces are under way."""
        while len(self._under_way) > most:
            for writing in self._under_way[0].result():
                writing.result()
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
        form: str = "written",
        architecture: str = "",
        warp_size: int | None = None,
    ) -> Trace:
        """The trace, all events having been added, where `sample_blocks` was given those of the sampled blocks.

        The others are those of TraceInfo.
        """
        self._hand_on()
        self._under_way.append(self._encoding.submit(lambda: self._keep(list(self._encoder.rest()))))
        self._wait(0)
        self._end_threads()
        info = TraceInfo(
            kernel=kernel,
            parameters=parameters,
            launches=tuple(launches),
            arrays=tuple(arrays),
            sites=tuple(sites),
            events=self.events,
            digest=self._digest.finish(launches, arrays, sites),
            provenance=provenance,
            sampling=Sampling.of(launches, sample_blocks),
            form=form,
            architecture=architecture,
            warp_size=warp_size,
        )
        if self._writer is None or self._path is None:
            return Trace(info, self._pieces)
        self._writer.close_with(info)
        trace = Trace(info, self._path)
        if self._temporary:
            weakref.finalize(trace, shutil.rmtree, self._temporary, ignore_errors=True)
            self._temporary = None
        return trace

    def abandon(self) -> None:
        """End the threads and close the file; nothing happens where `finish` has."""
        self._end_threads()
        if self._writer:
            self._writer.__exit__()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _end_threads(self) -> None:
        for threads in (self._encoding, self._writing):
            threads.shutdown(cancel_futures=True)

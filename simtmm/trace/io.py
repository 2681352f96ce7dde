"""Trace: events and what they belong to, in memory or in a Parquet file, and its digest.

Arrow, and what needs it, is imported where a file is met: it takes as long as a small simulation.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed
from simtmm.documents import parsed_json
from simtmm.errors import TraceError, escaped, nearest, shown, shown_error
from simtmm.files import check_regular, data_folders, is_there, written_whole
from simtmm.trace.digest import OldDigest, TraceDigest, digest_like
from simtmm.trace.info import TraceInfo
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.encoder import Encoder, runs_of
from simtmm.trace.schema import METADATA_KEY, VERSION, Batch

if TYPE_CHECKING:
    import pyarrow as pa

    from simtmm.trace.contention import Contention
    from simtmm.trace.races import Races

SUFFIX = ".parquet"  # of a trace's file
MOST_SMALL = (
    1 << 24
)  # bytes of a file's blocks, up to which they are held once they were read: it is read twice or more


class Trace(Displayed):
    """What the threads of a kernel did. Frozen: its events are read in batches, each of whole blocks.

    races: the races that a recording with `races=True` found (simtmm.trace.races); None for any other recording.
    """

    def __init__(self, info: TraceInfo, source: "Sequence[Batch | Runs] | Path", races: "Races | None" = None) -> None:
        """source: the trace's events: batches or runs in memory, or the path of a file that holds them."""
        self.info = info
        self.races = races
        self._source = source
        self._verified = False  # the file's rows against its digest, once
        self._small: list[Runs] | None = None  # all of a file that is read to its end, if they take little memory

    def __repr__(self) -> str:
        return (
            f"Trace({escaped(self.info.kernel)}: launches: {len(self.info.launches):,}, events: {self.info.events:,})"
        )

    def batches(self) -> Iterator[Batch]:
        """The events, in order. Raises TraceError if a file is damaged or contradicts its own metadata.

        The first time a file is read to its end, its rows are checked against its digest as well.
        """
        if not isinstance(self._source, Path):
            for piece in self._source:
                yield piece.to_batch() if isinstance(piece, Runs) else piece
            return
        from simtmm.trace.parquet import read_batches

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

    def contention(self) -> "Contention":
        """How many threads access a word in the same step; EREW, CREW or CRCW (docs/contention.md).

        Raises TraceError where a launch has more accesses than fit in memory.
        """
        from simtmm.trace.contention import find_contention

        return find_contention(self)

    def runs(self) -> Iterator[Runs]:
        """The same blocks, compressed by what their threads have in common. Raises the errors of `batches`."""
        shapes, encoder = [launch.block for launch in self.info.launches], Encoder()
        if not isinstance(self._source, Path):
            for piece in self._source:
                yield from [piece] if isinstance(piece, Runs) else runs_of([piece], shapes, encoder)
            return
        if self._small is not None:
            yield from self._small
            return
        from simtmm.trace.parquet import read_batches
        from simtmm.trace.runs.file import read_runs

        digest = self._unverified()
        if self._holds_runs(self._source):
            pieces = read_runs(self._source, self.info)
        else:
            pieces = runs_of(read_batches(self._source, self.info), shapes, encoder)
        events, taken, small = 0, 0, list[Runs]()
        for runs in pieces:
            if digest:
                digest.add(runs)
            events += int(runs.events.sum())
            if taken <= MOST_SMALL:
                taken += runs.bytes
                small.append(runs)
            else:
                small.clear()
            yield runs
        if events != self.info.events:
            raise TraceError(
                f"{self._source}: has {events} events, but its metadata says {self.info.events}: it was truncated or "
                "changed"
            )
        self._verify(digest)
        self._small = small if taken <= MOST_SMALL else None

    def __getstate__(self) -> dict[str, Any]:
        """Without what another process would read from the file."""
        return {**self.__dict__, "_small": None}

    def runs_of(self, launch: int) -> Iterator[Runs]:
        """Those of one launch. If a file has runs, only this launch is read again.

        launch: its number, from 0 on.
        """
        in_file = self._small is None and self._verified
        if in_file and isinstance(self._source, Path) and self._holds_runs(self._source):
            from simtmm.trace.runs.file import read_runs

            yield from read_runs(self._source, self.info, launch)
            return
        for runs in self.runs():
            if runs.launch == launch:
                yield runs

    def _holds_runs(self, path: Path) -> bool:
        import pyarrow as pa

        from simtmm.trace.runs.file import holds_runs

        try:
            return holds_runs(path)
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            raise TraceError(f"{path}: can't be read ({shown_error(error)})") from None

    def _unverified(self) -> TraceDigest | OldDigest | None:
        """What the digest of the file's rows is computed with, unless that has been looked at."""
        return None if self._verified else digest_like(self.info.digest, self.info.version)

    def _verify(self, digest: TraceDigest | OldDigest | None) -> None:
        if digest and digest.finish(self.info.launches, self.info.arrays, self.info.sites) != self.info.digest:
            raise TraceError(f"{self._source}: its rows do not match its metadata's digest: it was changed")
        self._verified = True

    def save(self, path: str | Path) -> None:
        """Write the trace to a Parquet file of the current version, whole or not at all."""
        from simtmm.trace.runs.writing import RunWriter

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

    def to_table(self) -> "pa.Table":
        """All events as an Arrow table with the columns of trace/schema.py; `.to_pandas()` for pandas."""
        import pyarrow as pa

        from simtmm.trace.parquet import COLUMNS, to_arrow

        return pa.Table.from_batches([to_arrow(batch) for batch in self.batches()], schema=COLUMNS)


def load_trace(path: str | Path) -> Trace:
    """Load a trace that simtmm wrote. Raises TraceError.

    Only the metadata is read; events are read on demand.

    path: the path of a Parquet file; or a trace's name, traces/NAME.parquet in the folders of
        `simtmm.files.data_folders`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from simtmm.trace.parquet import COLUMNS, OLD_COLUMNS
    from simtmm.trace.runs.file import COLUMNS as RUN_COLUMNS

    path = _trace_file(path)
    check_regular(path, TraceError)  # Arrow would wait, and hear no signal meanwhile
    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
            document = (file.metadata.metadata or {}).get(METADATA_KEY)
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror or error})") from None
    except UnicodeEncodeError:
        raise TraceError(f"{path}: can't be read (its name is not UTF-8, which Arrow needs)") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:  # Python reads the names of columns
        raise TraceError(f"{path}: is not a whole Parquet file ({shown_error(error)})") from None
    if document is None or schema.remove_metadata() not in (RUN_COLUMNS, COLUMNS, OLD_COLUMNS):
        raise TraceError(
            f"{path}: is not a simtmm trace: a Parquet file with the columns {', '.join(COLUMNS.names)} "
            f"and the metadata {METADATA_KEY.decode()!r} is needed"
        )
    try:
        info = TraceInfo.from_dict(parsed_json(document, own=("parameters", "provenance")))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise TraceError(f"{path}: metadata {METADATA_KEY.decode()!r} can't be understood ({error!r})") from None
    if info.events != rows and schema.remove_metadata() != RUN_COLUMNS:
        raise TraceError(f"{path}: has {rows} rows, but its metadata says {info.events}: it was truncated or changed")
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
    if path.suffix or path.name != str(given) or is_there(path):
        return path
    known = trace_files()
    if path.name not in known:
        raise TraceError(f"trace {str(given)!r}: unknown{nearest(str(given), known)}")
    return known[path.name]

"""Collects what a recorder or an importer brings, batch by batch, and makes a trace of it, in memory or in a file."""

import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.errors import RecordingError
from simtmm.temporary import own_prefix
from simtmm.trace.digest import TraceDigest
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import SUFFIX, Trace
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.distances import joined
from simtmm.trace.runs.encoder import PIECE, Encoder
from simtmm.trace.sampled_blocks import Sampling
from simtmm.trace.schedule import Listing
from simtmm.trace.schema import Batch, TraceArray, TraceLaunch, TraceSite

if TYPE_CHECKING:
    from simtmm.trace.runs.writing import RunWriter

TOGETHER = 2 * PIECE  # events of small batches that are handed on as one, at most: 8 MiB of memory
UNDER_WAY = 2  # such parts of a recording that may wait to be encoded, digested and written; what bounds memory


class TraceRecorder:
    """Collects what a recorder records as runs, in memory or straight to a file, and digests it on the way.

    Encoding and digesting go on in a thread while the recorder records further, and writing in another, in the order
    of the batches. Small batches, such as those of small launches, come together in one.
    """

    def __init__(self, path: Path | None = None, most_bytes: int | None = None) -> None:
        """path: of a file; None to hold all in memory, or, where that takes more than `most_bytes`, if that is given,
        in a file of the folder for temporary ones, which goes with the trace.
        """
        self._writer = _writer_of(path) if path else None
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
        count = batch.count
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

    def _temporary_file(self) -> "RunWriter":
        try:
            self._temporary = Path(tempfile.mkdtemp(prefix=own_prefix("trace")))
            self._path = self._temporary / f"trace{SUFFIX}"
            return _writer_of(self._path)
        except OSError as error:
            raise self._no_room(error) from None

    def _write(self, writer: "RunWriter", runs: Runs) -> None:
        try:
            writer.add(runs)
        except OSError as error:
            if self._temporary is None:
                raise
            raise self._no_room(error) from None

    def _no_room(self, error: OSError) -> RecordingError:
        return RecordingError(
            f"{self.events:,} events so far take more than the {self._most_bytes:,} bytes of memory allowed, "
            f"and {self._temporary or tempfile.gettempdir()} can't hold them ({error.strerror or error}): set TMPDIR "
            "to a folder with more space, or write to a file (simtmm record -o FILE)"
        )

    def _wait(self, most: int) -> None:
        """Until at most so many pieces are under way."""
        while len(self._under_way) > most:
            for writing in self._under_way[0].result():
                writing.result()
            self._under_way.popleft()

    def finish(  # noqa: PLR0913, PLR0917 - all that a trace's metadata are made of
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
        kept_blocks: Sequence[int] | None = None,
        kept_first: bool = False,
        listings: Sequence[Listing] = (),
    ) -> Trace:
        """The trace, all events having been added, where `sample_blocks` was given those of the sampled blocks.

        kept_blocks: blocks of each launch that were kept, where that differs from launch to launch. kept_first: whether
            they are the first ones.
        kernel, parameters, launches, arrays, sites, provenance, form, architecture, listings: as in TraceInfo.
            warp_size: threads of a warp.
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
            sampling=Sampling.of(launches, sample_blocks) or Sampling.of_each(launches, kept_blocks, kept_first),
            form=form,
            architecture=architecture,
            warp_size=warp_size,
            listings=tuple(listings),
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


def _writer_of(path: Path) -> "RunWriter":
    from simtmm.trace.runs.writing import RunWriter  # late: what stays in memory needs no Arrow

    return RunWriter(path)

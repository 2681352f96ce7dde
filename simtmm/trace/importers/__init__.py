"""Traces of other tools become traces of simtmm: a format a file."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

from simtmm.errors import TraceError, nearest, shown
from simtmm.files import check_writable, written_whole
from simtmm.provenance import provenance
from simtmm.trace.importers import accelsim, memtrace
from simtmm.trace.importers.chosen import Chosen
from simtmm.trace.importers.reading import beginning, unpacked_name
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder

logger = logging.getLogger("simtmm")

# In the order in which they are tried: a program may print anything beside what mem_trace does.
IMPORTERS: dict[str, ModuleType] = {"mem-trace": memtrace, "accelsim": accelsim}

BEGINNING = 1 << 18  # bytes in which a file shows its format


def import_trace(
    source: str | Path,
    format: str | None = None,  # noqa: A002  # the word that users know it by
    *,
    output: str | Path | None = None,
    launches: str | None = None,
    blocks: int | None = None,
    registers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """Import a trace from another tool's files.

    source: a `kernelslist.g`, one kernel's `.traceg`, or the output of NVBit's mem_trace, each plain or compressed with
        xz, gzip or zstd.
    format: a key of IMPORTERS; detected from the file's name and text if left out.
    output: stream the trace to this Parquet file, with memory bounded by a thread block and a row group.
    launches: which launches to import, by number from 0, such as "0-3,7"; all if left out.
    blocks: the largest number of blocks to import of each launch, spread evenly over its grid; the others count as
        blocks that do nothing.
    registers: registers of a thread, instead of the file's value.
    progress: called with (bytes read, bytes to be read).

    Raises TraceError for an unknown format, and for a damaged file, with the line.
    """
    if not isinstance(source, (str, Path)):
        raise TraceError(f"source = {shown(source)}: must be a path to another tool's trace")
    path, chosen = Path(source), Chosen(launches, blocks, registers)
    importer = IMPORTERS[format if format in IMPORTERS else _format_of(path, format)]
    if output:
        check_writable(output)
    total, done = importer.bytes_to_read(path, chosen), 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        if progress:
            progress(min(done, total), total)

    with ExitStack() as stack:
        recorder = TraceRecorder(stack.enter_context(written_whole(output)) if output else None)
        stack.callback(recorder.abandon)
        taken, arrays, sites, made_by = importer.read(path, recorder, advance, chosen)
        for doubt in made_by["warnings"]:
            logger.warning("warning: %s: %s", path, doubt)
        trace = recorder.finish(
            _name_of(path),
            {},
            taken,
            arrays,
            sites,
            {**provenance(), **made_by, "file": path.name},
            sample_blocks=blocks,
            form="imported",
        )
    return Trace(trace.info, Path(output)) if output else trace


def _format_of(path: Path, wanted: str | None) -> str:
    if wanted is not None:
        raise TraceError(f"format {wanted!r}: unknown{nearest(wanted, IMPORTERS)}")
    text = beginning(path, BEGINNING).decode("utf-8", "replace")
    for name, importer in IMPORTERS.items():
        if importer.recognise(path.name, text):
            return name
    raise TraceError(
        f"{path}: unknown format: a list of kernels or a kernel trace of Accel-Sim, "
        "or the text that NVBit's mem_trace prints, is needed"
    )


def _name_of(path: Path) -> str:
    """What the program is called: after its folder where the file is a list of kernels, else after the file."""
    name = unpacked_name(path.name)
    return path.resolve().parent.name if name == "kernelslist.g" else Path(name).stem

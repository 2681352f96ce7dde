"""A trace that came from Accel-Sim as a `kernelslist.g` with its `.traceg` files, of version 4.

What is written is read back as the same trace, with the same digest. Opcodes of memory, barriers and of what begins a
stretch of work are those of the trace; the rest of the work is NOP, as a trace keeps its length alone.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from simtmm.errors import TraceError
from simtmm.files import written_whole
from simtmm.provenance import VERSION
from simtmm.trace.exporters.site_names import KernelSites, named_sites
from simtmm.trace.exporters.warp_lines import LOCAL_WINDOW, WarpLines
from simtmm.trace.importers.accelsim.kernel_list import LIST_NAME
from simtmm.trace.importers.warps import LANES
from simtmm.trace.io import Trace
from simtmm.trace.schema import Batch, Events, TraceLaunch

FROM = "accelsim"  # as provenance names the importer
VERSION_WRITTEN = 4
BYTES_OF_BLOCK, BYTES_OF_WARP = 42, 20  # of the lines that every block and warp has
FORMAT = "[line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]"


@dataclass(frozen=True)
class Exported:
    """What was written. merged: events of work that became one with those before them, which alters the digest."""

    files: tuple[Path, ...]
    instructions: int
    merged: int


def export_accelsim(trace: Trace, folder: str | Path, binary_version: int) -> Exported:
    """Write a trace into a folder, which is created if it is missing; the list comes last.

    binary_version: the architecture that opcodes are of, which a trace does not keep, as 80.
    folder: path of a folder that is empty, or not there yet.

    Raises TraceError for a trace that came from elsewhere, and for a folder that holds anything; and what reading the
    trace and writing files raise.
    """
    target, info = Path(folder), trace.info
    if info.provenance.get("recorder") != FROM:
        raise TraceError(
            f"{info.kernel}: was not imported from Accel-Sim, so it has no program counters and registers to write"
        )
    _make(target)
    _check_room(target, info.launches)
    names = named_sites(info.sites)
    blocks = _Blocks(trace)
    files, instructions, merged = [], 0, 0
    for number, launch in enumerate(info.launches):
        path = target / f"kernel-{number + 1}.traceg"
        lines = WarpLines(names.get(launch.kernel, KernelSites({}, ())), launch)
        with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(_header(launch, number + 1, binary_version, lines.has_lines))
            for block, events in blocks.of(number, launch.blocks):
                file.writelines(_block(lines, launch, block, events))
        files.append(path)
        instructions, merged = instructions + lines.written, merged + lines.merged
    listed = [f"MemcpyHtoD,0x{array.base:016x},{array.bytes}" for array in info.arrays if array.name[:6] == "copied"]
    text = "".join(f"{line}\n" for line in [*listed, *(path.name for path in files)])
    with written_whole(target / LIST_NAME) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Exported((*files, target / LIST_NAME), instructions, merged)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise TraceError(f"{folder}: can't be created as a folder of kernels ({error.strerror})") from None
    if not is_empty:
        raise TraceError(f"{folder}: is not empty; a new or an empty folder is needed")


def _check_room(folder: Path, launches: Sequence[TraceLaunch]) -> None:
    """Raise TraceError where the lines that blocks without events have as well fill the disk."""
    warps = sum(launch.blocks * -(-launch.threads_per_block // LANES) for launch in launches)
    needed = BYTES_OF_WARP * warps + BYTES_OF_BLOCK * sum(launch.blocks for launch in launches)
    if needed > (free := shutil.disk_usage(folder).free):
        raise TraceError(f"{folder}: {warps:,} warps need at least {needed:,} bytes, but the disk has only {free:,}")


def _header(launch: TraceLaunch, number: int, binary_version: int, has_lines: bool) -> str:
    three = "({},{},{})".format
    fields = {
        "kernel name": launch.kernel,
        "kernel id": number,
        "grid dim": three(*launch.grid),
        "block dim": three(*launch.block),
        "shmem": launch.shared_memory_bytes,
        "nregs": launch.registers_per_thread,
        "binary version": binary_version,
        "cuda stream id": 0,
        "shmem base_addr": f"0x{0:016x}",
        "local mem base_addr": f"0x{LOCAL_WINDOW:016x}",
        "nvbit version": f"none, simtmm {VERSION}",
        "accelsim tracer version": VERSION_WRITTEN,
        "enable lineinfo": int(has_lines),
    }
    return "".join(f"-{key} = {value}\n" for key, value in fields.items()) + f"\n#traces format = {FORMAT}\n\n"


def _block(lines: WarpLines, launch: TraceLaunch, block: int, events: Events | None) -> Iterator[str]:
    x, y, z = np.unravel_index(block, launch.grid, order="F")
    yield f"\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n"
    warps = -(-launch.threads_per_block // LANES)
    bounds = [0] * (warps + 1) if events is None else np.searchsorted(events["thread"], LANES * np.arange(warps + 1))
    for warp, (first, last) in enumerate(pairwise(bounds)):
        done = lines.of(block, warp, None if events is None else events[first:last])
        yield f"\nwarp = {warp}\ninsts = {len(done)}\n"
        yield from done
    yield "\n#END_TB\n"


class _Blocks:
    """The blocks of a trace, read once, in order."""

    def __init__(self, trace: Trace) -> None:
        self._batches = trace.batches()
        self._next: tuple[int, int, Events] | None = None
        self._rest = self._all()
        self._step()

    def of(self, launch: int, blocks: int) -> Iterator[tuple[int, Events | None]]:
        """Each block of a launch with its events, None for one without."""
        for block in range(blocks):
            if self._next is not None and self._next[:2] == (launch, block):
                yield block, self._next[2]
                self._step()
            else:
                yield block, None

    def _step(self) -> None:
        self._next = next(self._rest, None)

    def _all(self) -> Iterator[tuple[int, int, Events]]:
        for batch in self._batches:
            yield from _parts(batch)


def _parts(batch: Batch) -> Iterator[tuple[int, int, Events]]:
    begin = 0
    for launch, block, end in zip(batch.launch.tolist(), batch.block.tolist(), batch.ends.tolist(), strict=True):
        if end > begin:
            yield launch, block, batch.events[begin:end]
        begin = end

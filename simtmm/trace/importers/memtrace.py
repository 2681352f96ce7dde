"""NVBit's mem_trace: the text that the tool prints, a line for each access of a warp.

It records no registers, no arithmetic and no barriers: a load is waited for, and there is no work. Lines of different
blocks are mixed, so they go through temporary files, where they are sorted by block.
"""

import re
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.importers import memtrace_lines as lines
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.blocks import Blocks, Touched
from simtmm.trace.importers.chosen import ALL, Chosen
from simtmm.trace.importers.memtrace_order import (
    Counts,
    Integers,
    LongStretch,
    Records,
    of_whole_blocks,
    warps_of,
)
from simtmm.trace.importers.opcodes import (
    ACTIONS,
    GLOBAL,
    LOCAL,
    MEMORY,
    SHARED,
    Opcodes,
    check_opcode,
    gives_nothing,
    width_of,
    without_memory,
)
from simtmm.trace.importers.reading import (
    NEWLINE,
    Advance,
    DamagedError,
    Text,
    blocks,
    rest_of_line,
    size_of,
    token,
)
from simtmm.trace.importers.statistics import Statistics
from simtmm.trace.importers.words import hash_of
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import KINDS, Kind, TraceArray, TraceLaunch, TraceSite

RECORDS = 1 << 14  # held in memory at once: 4.5 MiB
MOST_BLOCKS = 1 << 31  # of all launches together
SHARED_SITE = 0
MOST_SITES = 1 << 20  # each that is used stands in the metadata

_THREE = r"([0-9]{1,10}),([0-9]{1,10}),([0-9]{1,10})"
_LAUNCH = re.compile(
    r"MEMTRACE: CTX 0x[0-9a-fA-F]+ - LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (.+)"
    + r" - grid launch id ([0-9]{1,18})"
    + rf" - grid size {_THREE} - block size {_THREE} - nregs ([0-9]{{1,3}}) - shmem ([0-9]{{1,9}})"
    + r" - cuda stream id [0-9]+"
)
_OPCODE = re.compile(r"[A-Z][A-Za-z0-9_.]*")
_KINDS = {
    GLOBAL: (Kind.LOAD, Kind.STORE, Kind.ATOMIC),
    SHARED: (Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC),
}  # by action


def read(
    path: Path, recorder: TraceRecorder, advance: Advance, chosen: Chosen = ALL
) -> tuple[list[TraceLaunch], list[TraceArray], list[TraceSite], dict[str, Any]]:
    """Give a recorder the events of a file, and the caller the rest of a trace."""
    with ExitStack() as stack:
        mixed = stack.enter_context(tempfile.TemporaryFile(prefix="simtmm-"))
        reading = _Reading(path, mixed)
        for text, first in blocks(path, advance, ended=rb"MEMTRACE:"):
            reading.read(text, first)
        reading.spool()
        if not reading.launches:
            raise TraceError(f"{path}: has no line 'MEMTRACE: CTX 0x... - LAUNCH - ...', which begins a launch")
        if chosen.registers is not None:
            reading.launches = [replace(launch, registers_per_thread=chosen.registers) for launch in reading.launches]
        accesses = _Accesses(path, reading)
        sink = stack.enter_context(Blocks(recorder, reading.launches, chosen))
        stretches = stack.enter_context(tempfile.TemporaryFile(prefix="simtmm-"))
        for records in of_whole_blocks(reading.counts, mixed, stretches, RECORDS):
            if isinstance(records, LongStretch):
                accesses.add_long(records, sink)
            else:
                accesses.add(records, sink)
    statistics = accesses.statistics()
    made_by = {"recorder": "mem-trace", "statistics": statistics.to_dict(), "warnings": statistics.doubts}
    return sink.launches, accesses.touched.arrays([]), accesses.sites(), made_by


def bytes_to_read(path: Path, chosen: Chosen = ALL) -> int:
    """How many bytes `read` will have advanced by in the end. Raises TraceError."""
    return size_of(path)


def recognise(name: str, text: str) -> bool:
    """Whether a file of this name that begins like this is of this format."""
    return "MEMTRACE: CTX " in text


class _Reading:
    """The first pass: records of accesses go to a file as they come."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.launches: list[TraceLaunch] = []
        self.opcodes: list[str] = []
        self.counts = Counts()
        self.blocks = 0  # of all launches so far
        self._path = path
        self._file = file
        self.reader = lines.Reader(
            state=np.zeros(lines.STATE, np.int64),
            launches=np.zeros((1 << 6, lines.LAUNCH_COLUMNS), np.int64),
            opcode_hash=np.zeros(0, np.int64),
            records=np.zeros(RECORDS, lines.RECORD),
        )

    def read(self, text: Text, first: int) -> None:
        """Read a block of lines."""
        position = 0
        self.reader.state[lines.LINE] = first
        while True:
            state = self.reader.state
            status = lines.read_lines(self.reader, text, position)
            position = int(state[lines.NEXT])
            if status == lines.MORE_TEXT:
                return
            if status == lines.FULL:
                self.spool()
            elif status == lines.NEW_OPCODE:
                opcode = token(text, int(state[lines.AT]))
                check_opcode(self._path, int(state[lines.LINE]), opcode, len(self.opcodes))
                if not _OPCODE.fullmatch(opcode) or without_memory(opcode):
                    raise DamagedError(self._path, int(state[lines.LINE]), lines.EXPECTED[lines.E_OPCODE], opcode)
                self.opcodes.append(opcode)
                known = np.append(self.reader.opcode_hash, hash_of(opcode))
                self.reader = self.reader._replace(opcode_hash=known)
            elif status == lines.LAUNCH:
                stop = position + int(np.argmax(text[position:] == NEWLINE))
                self._launch(text[position:stop].tobytes().decode("utf-8", "backslashreplace").rstrip(" \t\r"))
                position = stop + 1
                state[lines.LINE] += 1
            else:
                found = (rest_of_line if state[lines.ERROR] in lines.E_OF_LINE else token)(text, int(state[lines.AT]))
                raise DamagedError(self._path, int(state[lines.LINE]), lines.EXPECTED[state[lines.ERROR]], found)

    def spool(self) -> None:
        """Write what has been read to the file."""
        records = self.reader.records[: self.reader.state[lines.RECORDS]]
        self.counts.add(records["block"])
        self._file.write(records.tobytes())
        self.reader.state[lines.RECORDS] = 0

    def _launch(self, line: str) -> None:
        number = int(self.reader.state[lines.LINE])
        found = _LAUNCH.fullmatch(line)
        if not found or "MEMTRACE:" in found[1] or any(mark in found[1] for mark in lines.MARKS):
            raise DamagedError(
                self._path,
                number,
                "'... - LAUNCH - Kernel pc 0x... - Kernel name N - grid launch id I - grid size x,y,z "
                "- block size x,y,z - nregs n - shmem b - cuda stream id s'",
                line,
            )
        grid = int(found[3]), int(found[4]), int(found[5])
        block = int(found[6]), int(found[7]), int(found[8])
        launch = TraceLaunch(found[1], grid, block, int(found[9]), int(found[10]))
        first, count = self.blocks, len(self.launches)
        if min(grid) < 1 or first + launch.blocks >= MOST_BLOCKS:
            raise DamagedError(
                self._path, number, "a grid size of at least 1,1,1 and fewer than 2^31 blocks in all", line
            )
        if min(block) < 1 or launch.threads_per_block > table.MOST_THREADS:
            raise DamagedError(
                self._path, number, f"a block size of at least 1,1,1 and at most {table.MOST_THREADS:,} threads", line
            )
        self.launches.append(launch)
        self.blocks += launch.blocks
        table_of_launches = self.reader.launches
        if count == len(table_of_launches):
            table_of_launches = np.concatenate([table_of_launches, np.zeros_like(table_of_launches)])
            self.reader = self.reader._replace(launches=table_of_launches)
        table_of_launches[count] = int(found[2]), first, *grid, launch.threads_per_block
        self.reader.state[lines.LAUNCHES] = count + 1


class _Accesses:
    """The second pass: records become operations of warps.

    A site is an opcode and how many accesses of the warp lie between this one and the last one in which all lanes took
    part that had any left. So lockstep, which lets the lowest site go first, finds the order of the file again.
    """

    def __init__(self, path: Path, reading: _Reading) -> None:
        self.touched = Touched()
        self._path = path
        self._opcodes = reading.opcodes
        self._launches = reading.reader.launches[: len(reading.launches)]
        self._known = known = Opcodes(str(path))
        self._statistics = Statistics()
        self._at_zero = int(reading.reader.state[lines.AT_ZERO])  # accesses that are left out
        self._declared = np.array([launch.shared_memory_bytes for launch in reading.launches], np.int64)
        self._instructions = np.zeros(len(reading.opcodes), np.int64)  # by opcode
        classes = np.array([known.class_of(opcode) for opcode in reading.opcodes], np.int64) - MEMORY
        self._space = np.where(classes >= 0, classes // ACTIONS, -1)
        actions = np.maximum(classes, 0) % ACTIONS
        self._kind = np.array(
            [
                Kind.WORK if space < 0 else _KINDS[SHARED if space == SHARED else GLOBAL][action]
                for space, action in zip(self._space.tolist(), actions.tolist(), strict=True)
            ],
            np.uint8,
        )
        self._width = np.array([width_of(opcode) for opcode in reading.opcodes], np.int64)
        self._deepest = (MOST_SITES - 1) // max(1, len(reading.opcodes)) - 1
        self._used: set[int] = set()

    def add(self, records: Records, sink: Blocks) -> None:
        """Take the records of whole blocks, those of each warp as they came."""
        records = records[np.lexsort((records["warp"], records["block"]))]
        launch = self._launch_of(records)
        new_block = np.diff(records["block"], prepend=-1) != 0
        new_warp = new_block | (np.diff(records["warp"], prepend=-1) != 0)
        warp = warps_of(records, new_block, new_warp, self._launches[launch, lines.THREADS])
        mask, each_warp = records["mask"].astype(np.int64), np.cumsum(new_warp) - 1
        depth, together = np.empty(len(records), np.int64), np.empty(len(records), np.uint8)
        lines.note_together(mask, each_warp, np.zeros(each_warp[-1] + 1, np.int64), together)
        lines.depths(each_warp, together, np.zeros(each_warp[-1] + 1, np.int64), depth)
        operations = self._operations(records, launch, warp, depth, new_warp)
        begins = np.flatnonzero(new_block)
        number = records["block"][begins] - self._launches[launch[begins], lines.FIRST_BLOCK]
        sink.add_sorted(operations, launch[begins].astype(np.int32), number.astype(np.int32))

    def add_long(self, stretch: LongStretch, sink: Blocks) -> None:
        """Take the records of one block, piece by piece: a byte for each is all that is held of them."""
        together = np.empty(stretch.count, np.uint8)
        left: dict[int, int] = {}
        end = stretch.count
        for records in stretch.pieces_backwards(RECORDS):
            own, place = np.unique(records["warp"].astype(np.int64), return_inverse=True)
            state = np.array([left.get(warp, 0) for warp in own.tolist()], np.int64)
            lines.note_together(records["mask"].astype(np.int64), place, state, together[end - len(records) : end])
            left |= zip(own.tolist(), state.tolist(), strict=True)
            end -= len(records)
        warps = np.array(sorted(left), np.int64)
        behind = np.zeros(len(warps), np.int64)
        for records in stretch.pieces(RECORDS):
            launch = self._launch_of(records)
            threads = int(self._launches[launch[0], lines.THREADS])
            place = np.searchsorted(warps, records["warp"])
            depth = np.empty(len(records), np.int64)
            lines.depths(place, together[end : end + len(records)], behind, depth)
            end += len(records)
            order = np.argsort(place, kind="stable")
            records, place = records[order], place[order]
            warp = warps[place] if warps[-1] * table.LANES < threads else place
            new_warp = np.diff(place, prepend=-1) != 0
            sink.add_part(self._operations(records, launch, warp, depth[order], new_warp, warps=0))
        self._statistics.warps += len(warps)
        sink.end_sorted_part(int(launch[0]), int(records["block"][0] - self._launches[launch[0], lines.FIRST_BLOCK]))

    def _launch_of(self, records: Records) -> Integers:
        launch: Integers = np.searchsorted(self._launches[:, lines.FIRST_BLOCK], records["block"], side="right") - 1
        return launch

    def _operations(
        self,
        records: Records,
        launch: Integers,
        warp: Integers,
        depth: Integers,
        new_warp: npt.NDArray[np.bool_],
        warps: int | None = None,
    ) -> table.Operations:
        """The operations that records are, those of a warp behind one another; and what is to be kept of them.

        warps: how many of their warps are counted, all if left out.
        """
        count = len(records)
        self._check(records, warp, self._launches[launch, lines.THREADS])
        opcode, mask = records["opcode"], records["mask"].astype(np.int64)
        site = 1 + np.minimum(depth, self._deepest) * len(self._opcodes) + opcode
        self._used.update(np.unique(site).tolist())
        active = (records["mask"][:, None] >> np.arange(table.LANES, dtype=np.uint32) & 1).astype(bool)
        lanes = active.sum(axis=1)
        pooled = np.concatenate([np.zeros(1, np.int64), np.cumsum(lanes)])
        kind = self._kind[opcode]
        starts = np.flatnonzero(new_warp)
        begins = np.flatnonzero(np.diff(records["block"], prepend=-1))
        behind = np.append(begins[1:], count)
        operations = table.Operations(
            counts=np.array([count, pooled[-1], len(starts), len(begins), pooled[-1]]),
            kind=kind,
            site=site,
            mask=mask,
            width=np.where(kind == Kind.WORK, 0, self._width[opcode]).astype(np.uint8),
            value=np.where(kind == Kind.WORK, 1, pooled[:-1]),
            pool=self._places(records, launch, warp)[active],
            warps=np.stack([warp[starts], starts, np.append(starts[1:], count)], axis=1),
            blocks=np.stack(
                [records["block"][begins], records["line"][begins], np.searchsorted(starts, behind), pooled[behind]],
                axis=1,
            ),
        )
        self.touched.add(operations)
        self._statistics.add(operations, self._declared[launch], warps)
        self._instructions += np.bincount(opcode, minlength=len(self._opcodes))
        return operations

    def statistics(self) -> Statistics:
        """What was in the file."""
        self._statistics.at_zero = self._at_zero
        for opcode, count in zip(self._opcodes, self._instructions.tolist(), strict=True):
            if (kind := opcode.split(".")[0]) in self._known.unknown:
                self._statistics.unknown[kind] += count
        return self._statistics

    def sites(self) -> list[TraceSite]:
        """The sites that events come from, and the one at which shared memory is declared."""
        sites = [TraceSite(SHARED_SITE, "shared_array", "", 0, "shared memory")]
        for site in sorted(self._used):
            opcode = (site - 1) % len(self._opcodes)
            name = self._opcodes[opcode]
            sites.append(TraceSite(site, KINDS[self._kind[opcode]], "", 0, name, unused=gives_nothing(name)))
        return sites

    def _check(self, records: Records, warp: Integers, threads: Integers) -> None:
        """Refuse lanes that lie outside their block."""
        room = np.clip(threads - table.LANES * warp, 0, table.LANES)
        outside = np.flatnonzero(records["mask"].astype(np.int64) >> room)
        if len(outside):
            first = outside[np.argmin(records["line"][outside])]
            raise DamagedError(
                self._path,
                int(records["line"][first]),
                f"zero for lanes outside the thread block, which has {threads[first]} threads",
            )

    def _places(self, records: Records, launch: Integers, warp: Integers) -> Integers:
        """Where the lanes' accesses go to: int64[records, lanes], values as a trace has them."""
        address: Integers = records["address"].copy()
        space = self._space[records["opcode"]]
        shared = space == SHARED
        address[shared] = SHARED_SITE << 32 | address[shared] & table.WINDOW - 1
        local = np.flatnonzero(space == LOCAL)
        if len(local):
            row = self._launches[launch[local]]
            threads = row[:, lines.THREADS]
            all_threads = np.prod(row[:, lines.GRID_X : lines.GRID_Z + 1], axis=1) * threads
            first = (records["block"][local] - row[:, lines.FIRST_BLOCK]) * threads + table.LANES * warp[local]
            width = self._width[records["opcode"][local]]
            unit = np.maximum(4, 1 << np.ceil(np.log2(width)).astype(np.int64))[:, None]
            own = address[local] & table.LOCAL_BYTES - 1
            thread = first[:, None] + np.arange(table.LANES)
            address[local] = table.LOCAL_BASE + (own // unit * all_threads[:, None] + thread) * unit + own % unit
        return address

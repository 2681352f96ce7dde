"""Accel-Sim's kernel traces: `kernelslist.g` and the `.traceg` files that it lists,
versions 2 to 5 and newer ones that are like 5, plain or packed.

Read twice: first for the program counters, which are numbered in ascending order as sites, then for the rest.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError, shown
from simtmm.native import Rows
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.accelsim import parser_state as fields
from simtmm.trace.importers.accelsim.header import Header, open_kernel
from simtmm.trace.importers.accelsim.kernel_list import (
    LIST_NAME,
    KernelList,
    is_list,
    names_kernel,
    names_unprocessed,
    read_list,
    refuse_unprocessed,
)
from simtmm.trace.importers.accelsim.lines import read_lines
from simtmm.trace.importers.accelsim.program_counters import find_pcs, insert_pcs
from simtmm.trace.importers.blocks import BATCH_EVENTS, Blocks, Touched, TwiceError
from simtmm.trace.importers.chosen import ALL, Chosen
from simtmm.trace.importers.opcodes import Opcodes, check_opcode, gives_nothing
from simtmm.trace.importers.reading import Advance, DamagedError, Text, size_of, token, unpacked_name
from simtmm.trace.importers.statistics import Statistics
from simtmm.trace.importers.words import hash_of
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import KINDS, MOST_SITES, TraceArray, TraceLaunch, TraceSite

MOST_PCS = (MOST_SITES - 1) // 2  # one site is shared memory's, and each program counter has one for joins, one else
SHARED_SITE = 0
LONG_EVENTS = 1 << 21  # with so many, what has been read of a block is handed on before its end
WARP = table.LANES


@dataclass
class _Kernel:
    """What launches of one kernel have in common. The arrays have an element for each program counter."""

    name: str
    pcs: npt.NDArray[np.int64]
    first_site: int
    opcode: npt.NDArray[np.int64] = field(init=False)  # its number, -1 where the counter was never read
    line: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.opcode = np.full(len(self.pcs), -1, np.int64)
        self.line = np.zeros(len(self.pcs), np.int64)


def read(
    path: Path, recorder: TraceRecorder, advance: Advance, chosen: Chosen = ALL
) -> tuple[list[TraceLaunch], list[TraceArray], list[TraceSite], dict[str, Any]]:
    """Give a recorder the events of a `kernelslist.g`, or of one kernel's file, and the caller the rest of a trace."""
    listed = _listed(path)
    listed.tell_left_out(path)
    headers, kernels = _survey(chosen.of(listed.files), advance, chosen.registers)
    reader = _Reading(path, list(kernels.values()))
    launches = [
        TraceLaunch(header.kernel, header.grid, header.block, header.registers, header.shared_bytes)
        for header in headers
    ]
    with ExitStack() as stack:
        sink = stack.enter_context(Blocks(recorder, launches, replace(chosen, launches=None)))
        for header in headers:
            sink.begin_launch()
            reader.read(header, kernels[header.kernel], sink, advance)
    tracers = ", ".join(dict.fromkeys(header.tracer for header in headers))
    statistics = reader.statistics()
    made_by = {
        "recorder": "accelsim",
        "tracer": tracers,
        "statistics": statistics.to_dict(),
        "warnings": [*dict.fromkeys(doubt for header in headers for doubt in header.doubts), *statistics.doubts],
    }
    return launches, reader.touched.arrays(listed.copies), reader.sites(), made_by


def bytes_to_read(path: Path, chosen: Chosen = ALL) -> int:
    """How many bytes `read` will have advanced by in the end. Raises TraceError."""
    return 2 * sum(size_of(file) for file in chosen.of(_listed(path).files))


def recognise(name: str, text: str) -> bool:
    """Whether a file of this name that begins like this is of this format."""
    if unpacked_name(name) == LIST_NAME or names_kernel(name) or names_unprocessed(name):
        return True
    begins = ("-kernel name", "#traces format", "MemcpyHtoD,")
    lines = text.splitlines()
    return any(
        line.startswith(begins) or names_kernel(line.strip()) or names_unprocessed(line.strip()) for line in lines
    )


def _listed(path: Path) -> KernelList:
    """What a list of kernels names, which a kernel's file alone is one of."""
    if is_list(path):
        return read_list(path)
    refuse_unprocessed(path)
    return KernelList([path])


def _survey(files: list[Path], advance: Advance, registers: int | None) -> tuple[list[Header], dict[str, _Kernel]]:
    """Headers of all files, and kernels by name with all their program counters."""
    headers = []
    counters: dict[str, set[int]] = {}
    for file in files:
        header, text = open_kernel(file, advance, registers)
        headers.append(header)
        found, used = np.zeros(1 << 10, np.int64), np.zeros(1, np.int64)
        for piece, _ in text:
            done = 0
            while (done := done + find_pcs(piece[done:], header.words_before_pc, found, used)) < len(piece):
                found, old = np.zeros(2 * len(found), np.int64), found
                used[0] = insert_pcs(found, old)
        counters.setdefault(header.kernel, set()).update((found[found != 0] - 1).tolist())
        total = sum(len(pcs) for pcs in counters.values())
        if total > MOST_PCS:
            raise TraceError(
                f"{file}: kernel {shown(header.kernel)}: {total:,} program counters with those of earlier kernels: "
                f"a trace can hold {MOST_PCS:,}"
            )
    kernels = {}
    first = 1
    for name, pcs in counters.items():
        kernels[name] = _Kernel(name, np.array(sorted(pcs), np.int64), first)
        first += 2 * len(pcs)
    return headers, kernels


class _Reading:
    """Reads kernel files; keeps what is the same for all of them."""

    def __init__(self, source: Path, kernels: list[_Kernel]) -> None:
        self.touched = Touched()
        self._statistics = Statistics()
        self._shared_bytes = 0  # of a block of the launch that is read
        self._source = source
        self._kernels = kernels
        self._opcodes = Opcodes(str(source))
        self._names: list[str] = []  # of opcodes, by number
        nothing = np.zeros(0, np.int64)
        self._reader = fields.Reader(
            configuration=np.zeros(len(fields.Configuration), np.int64),
            state=np.zeros(len(fields.State), np.int64),
            pcs=nothing,
            pc_opcode=nothing,
            pc_line=nothing,
            site_kind=np.full(1 + 2 * sum(len(kernel.pcs) for kernel in kernels), fields.NO_SITE, np.uint8),
            opcode_hash=np.zeros(1 << 10, np.int64),
            opcode_number=np.full(1 << 10, -1, np.int64),
            opcode_class=np.zeros(1 << 9, np.int64),
            opcode_count=np.zeros(1 << 9, np.int64),
            bare=np.zeros(1 << 9, np.uint8),
            pending=np.zeros(256, np.int64),
            writer=np.zeros((256, WARP), np.int64),
            issued=np.zeros(WARP, np.int64),
            joined=np.zeros(WARP, np.int64),
            addresses=np.zeros(WARP, np.int64),
            registers=np.zeros((2, fields.MOST_REGISTERS), np.int64),
            operations=table.no_operations(),
        )

    def read(self, header: Header, kernel: _Kernel, sink: Blocks, advance: Advance) -> None:
        """Read one kernel's file."""
        _, text = open_kernel(header.path, advance, header.registers)
        self._shared_bytes = header.shared_bytes
        reader = self._reader
        reader.configuration[:] = _configuration(header, kernel)
        reader.state[:] = 0
        self._reader = reader._replace(pcs=kernel.pcs, pc_opcode=kernel.opcode, pc_line=kernel.line)
        state = reader.state
        line = 1
        try:
            for piece, first in text:
                state[fields.State.line] = first
                self._read_piece(header.path, piece, sink)
                line = int(state[fields.State.line])
            if state[fields.State.phase] != fields.OUTSIDE:
                raise DamagedError(header.path, line, f"{self._expected()}, not the end of the file")
            self._hand_over(sink)
        except TwiceError as twice:
            raise DamagedError(
                header.path, twice.line, "a thread block that has not come before, not its second end"
            ) from None
        if sink.missing < header.blocks:
            x, y, z = np.unravel_index(sink.missing, header.grid, order="F")
            raise DamagedError(header.path, line, f"thread block {x},{y},{z} of the grid, not the end of the file")

    def sites(self) -> list[TraceSite]:
        """The sites that events come from, and the one at which shared memory is declared."""
        used = self._reader.site_kind
        sites = [TraceSite(SHARED_SITE, "shared_array", "", 0, "shared memory")]
        for kernel in self._kernels:
            for index, pc in enumerate(kernel.pcs.tolist()):
                for site in (kernel.first_site + 2 * index, kernel.first_site + 2 * index + 1):
                    if used[site] != fields.NO_SITE:
                        name = self._names[kernel.opcode[index]]
                        kind, line, source = KINDS[used[site]], int(kernel.line[index]), f"/*{pc:04x}*/ {name}"
                        unused = kind == "atomic" and gives_nothing(name)
                        sites.append(TraceSite(site, kind, kernel.name, line, source, unused=unused))
        return sites

    def statistics(self) -> Statistics:
        """What was in the files."""
        for number, name in enumerate(self._names):
            kind = name.split(".")[0]
            if kind in self._opcodes.unknown:
                self._statistics.unknown[kind] += int(self._reader.opcode_count[number])
        return self._statistics

    def _read_piece(self, path: Path, piece: Text, sink: Blocks) -> None:
        position = 0
        while True:
            state = self._reader.state
            status = read_lines(self._reader, piece, position)
            position = int(state[fields.State.next])
            if status == fields.MORE_TEXT:
                self._complain_of_bare()
                return
            if status == fields.FULL:
                self._hand_over(sink)
            elif status == fields.MORE_ROOM and self._reader.operations.counts[table.Counts.events] >= LONG_EVENTS:
                self._hand_part(sink)
            elif status == fields.MORE_ROOM:
                self._reader = self._reader._replace(operations=table.twice_as_much(self._reader.operations))
            elif status == fields.NEW_OPCODE:
                self._learn(path, token(piece, int(state[fields.State.at])))
            else:
                expected = fields.EXPECTED[state[fields.State.error]].format(warp=state[fields.State.warp])
                raise DamagedError(
                    path, int(state[fields.State.line]), expected, token(piece, int(state[fields.State.at]))
                )

    def _hand_over(self, sink: Blocks) -> None:
        self.touched.add(self._reader.operations)
        self._statistics.add(self._reader.operations, self._shared_bytes)
        sink.add(self._reader.operations)

    def _hand_part(self, sink: Blocks) -> None:
        """Hand on the whole blocks that have been read, and what there is of the one that is being read."""
        operations, state = self._reader.operations, self._reader.state
        counts, warps = operations.counts, operations.warps
        self.touched.add(operations)
        blocks, first, events = int(counts[table.Counts.blocks]), 0, 0
        if blocks:
            first, events = operations.blocks[blocks - 1, [table.Block.warps, table.Block.events]].tolist()
        self._statistics.add(operations, self._shared_bytes, warps=first)
        last = int(counts[table.Counts.warps])
        if state[fields.State.phase] in (fields.IN_WARP, fields.INSTRUCTIONS):  # a warp is being read
            warps[last, table.Warp.last] = counts[table.Counts.operations]
            last += 1
        if blocks:
            sink.add(operations._replace(counts=_counts(first, blocks, events)))
        if last > first:
            own = _counts(last - first, 0, int(counts[table.Counts.events]) - events)
            sink.add_part(operations._replace(counts=own, warps=warps[first:last]))
        counts[:] = _counts(int(counts[table.Counts.warps]) - first, 0, 0)
        warps[: last - first] = warps[first:last]  # their numbers are known; what they do next has yet to come
        warps[: last - first, [table.Warp.first, table.Warp.last]] = 0

    def _learn(self, path: Path, opcode: str) -> None:
        """Give an opcode a number."""
        if not (opcode.isascii() and opcode.isprintable()):
            raise DamagedError(
                path, int(self._reader.state[fields.State.line]), fields.EXPECTED[fields.E_OPCODE], opcode
            )
        reader, number = self._reader, len(self._names)
        check_opcode(path, int(reader.state[fields.State.line]), opcode, number)
        self._names.append(opcode)
        if number == len(reader.opcode_class):
            reader = reader._replace(
                opcode_class=np.concatenate([reader.opcode_class, np.zeros_like(reader.opcode_class)]),
                opcode_count=np.concatenate([reader.opcode_count, np.zeros_like(reader.opcode_count)]),
                bare=np.concatenate([reader.bare, np.zeros_like(reader.bare)]),
                opcode_hash=np.zeros(2 * len(reader.opcode_hash), np.int64),
                opcode_number=np.full(2 * len(reader.opcode_number), -1, np.int64),
            )
            for earlier in range(number):
                _enter(reader, self._names[earlier], earlier)
        reader.opcode_class[number] = self._opcodes.class_of(opcode)
        _enter(reader, opcode, number)
        self._reader = reader

    def _complain_of_bare(self) -> None:
        for number in np.flatnonzero(self._reader.bare[: len(self._names)]):
            self._opcodes.without_address(self._names[number])

    def _expected(self) -> str:
        state = self._reader.state
        if state[fields.State.phase] == fields.INSTRUCTIONS:
            return f"{state[fields.State.left]} more instructions of warp {state[fields.State.warp]}"
        phrase = {
            fields.BEGUN: fields.E_BLOCK,
            fields.IN_BLOCK: fields.E_WARP,
            fields.IN_WARP: fields.E_INSTRUCTIONS,
        }[int(state[fields.State.phase])]
        return fields.EXPECTED[phrase]


def _counts(warps: int, blocks: int, events: int) -> npt.NDArray[np.int64]:
    """Counts of a table of so many warps."""
    counts = np.zeros(len(table.Counts), np.int64)
    counts[[table.Counts.warps, table.Counts.blocks, table.Counts.events]] = warps, blocks, events
    return counts


def _enter(reader: fields.Reader, opcode: str, number: int) -> None:
    word = hash_of(opcode)
    places = len(reader.opcode_hash) - 1
    at = word >> 20 & places
    while reader.opcode_number[at] >= 0:
        at = (at + 1) & places
    reader.opcode_hash[at], reader.opcode_number[at] = word, number


def _configuration(header: Header, kernel: _Kernel) -> npt.NDArray[np.int64]:
    configuration = np.zeros(len(fields.Configuration), np.int64)
    given = Rows(configuration, fields.Configuration)
    given.version, given.lineinfo = header.version, header.lineinfo
    given.grid_x, given.grid_y, given.grid_z = header.grid
    given.threads = header.threads
    given.first_site, given.shared_site = kernel.first_site, SHARED_SITE
    given.most_events = BATCH_EVENTS
    given.shared_base, given.local_window = header.shared_base, header.local_base
    given.shared_end = _window_end(header.shared_base, header.local_base)
    given.local_end = _window_end(header.local_base, header.shared_base)
    return configuration


def _window_end(base: int, other: int) -> int:
    """Where a window ends: behind WINDOW bytes, or where the other one begins; 0 where there is none."""
    if not base:
        return 0
    return min(base + table.WINDOW, other) if other > base else base + table.WINDOW

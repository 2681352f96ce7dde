"""The checks of a run: the launches whose logs are checked, and all findings."""

import contextlib
import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.checks import analysis, state
from simtmm.cuda.checks.descriptions import described
from simtmm.cuda.checks.findings import Finding, Found
from simtmm.cuda.checks.instructions import flags_of, unit_bits
from simtmm.cuda.checks.names import Checks
from simtmm.cuda.compilers import bare_name
from simtmm.cuda.execution.launches.launch import clusters_of, reserved_bytes_of
from simtmm.cuda.execution.layout import ALIGN
from simtmm.cuda.ptx.flow.steps import is_of_texture
from simtmm.errors import DeadlockError, SimtmmError

if TYPE_CHECKING:
    from simtmm.cuda.device import Device, DeviceLaunch
    from simtmm.cuda.function import KernelFunction

MOST_EVENTS = 1 << 16  # instructions of a kernel that access memory or synchronise
MOST_CELLS = 1 << 28  # of arrays and of shared memory, of a launch
_POISON = 0xA5


class Checker:
    """Takes the launches of a run, before each is run or recorded, and keeps what was found."""

    def __init__(self, checks: Checks) -> None:
        self.checks = checks
        self.launches = 0
        self.notes: list[str] = []
        self._found: dict[tuple[Any, ...], Finding] = {}
        self._unwritten: dict[int, _Unwritten] = {}  # by where its bytes lie

    def add(self, found: Found) -> None:
        """Take in what was found elsewhere."""
        self.launches += found.launches
        self.notes += found.notes
        self._take(list(found.findings))

    @property
    def found(self) -> Found:
        """What was found so far."""
        return Found(self.checks, tuple(self._found.values()), self.launches, tuple(dict.fromkeys(self.notes)))

    def launch(
        self,
        device: "Device",
        function: "KernelFunction",
        launch: "DeviceLaunch",
        blocks: int | None = None,
        seconds: float = math.inf,
    ) -> None:
        """Run a launch for the checks; memory is as before then. Raises what `Device.run` raises.

        blocks, seconds: as there.
        """
        number, self.launches = self.launches, self.launches + 1
        if function.program.allocates:
            self._note(function, "allocates memory, and can't be run twice")
            return
        checked = function.checked
        device.symbols(function.linked)  # its variables are placed, so that they are as before, too
        with _kept(device):
            if any(is_of_texture(instruction) for _, instruction in checked.program.accesses):
                self.notes.append(f"{bare_name(function.entry)} has textures or surfaces, which are not checked")
            if len(checked.program.accesses) >= MOST_EVENTS:
                self._note(function, f"has {MOST_EVENTS:,} or more instructions that access memory")
                return
            cluster = _cluster(checked, launch)
            if len(cluster):
                name = bare_name(function.entry)
                self.notes.append(f"{name} runs in clusters: of shared memory, what a block does to its own is checked")
            tables = self._tables(device, checked, launch, cluster)
            if tables is None:
                self._note(function, "has more memory and threads than the checks can hold")
                return
            running = device.run(checked, launch, True, blocks, lambda text: None, seconds)
            try:
                with contextlib.closing(running) as pieces:
                    for piece, _ in pieces:
                        analysis.ANALYSE(piece.view(np.int64), tables)
            except DeadlockError as error:
                self._take(described(checked, device, launch, tables, number))
                if not self.checks.synccheck:
                    raise
                self._take([Finding.of_deadlock(bare_name(function.entry), number, error)])
                return
            except SimtmmError:
                self._take(described(checked, device, launch, tables, number))
                raise
            self._take(described(checked, device, launch, tables, number))
            if tables.now[state.Now.dropped]:
                self._note(function, f"{int(tables.now[state.Now.dropped]):,} more findings than the checks can hold")
            self._remember(tables)

    def _note(self, function: "KernelFunction", why: str) -> None:
        self.notes.append(f"{bare_name(function.entry)} is not checked: {why}")

    def _take(self, findings: list[Finding]) -> None:
        for finding in findings:
            known = self._found.get(finding.key)
            self._found[finding.key] = finding if known is None else known.again(finding)

    def _tables(
        self, device: "Device", function: "KernelFunction", launch: "DeviceLaunch", cluster: npt.NDArray[np.int32]
    ) -> state.Tables | None:
        program = function.program
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
        slots = min(blocks, _RESIDENT + 1) if program.communicates else min(blocks, state.MOST_OF_CLUSTER + 1)
        slots = slots if program.communicates or len(cluster) else 1
        bits = unit_bits(program)
        events = np.zeros(max(1, len(program.accesses)), np.int64)
        events[: len(program.accesses)] = [flags_of(instruction) for _, instruction in program.accesses]
        reads = self.checks.initcheck
        proxy = bool((events & (state.BULK | state.PRODUCT | state.TRACKS)).any())
        copies = proxy or bool((events & state.COPIES).any())
        arrays, cells, written = self._arrays(device, bits)
        own_bytes = function.shared_bytes(launch.shared_bytes)
        own_bytes += -own_bytes % ALIGN
        shared = own_bytes + reserved_bytes_of(program)
        local = program.entry_code.local_bytes
        room = cells + slots * ((shared >> bits) + 1) + slots * threads * ((local >> bits) + 1) * self.checks.initcheck
        communicates = not program.is_independent
        if room > MOST_CELLS or (communicates and blocks * threads > MOST_CELLS) or threads > 1024:
            return None
        return state.tables(
            events, arrays, written, cells, blocks=blocks, threads=threads, slots=slots, unit_bits=bits,
            shared_bytes=shared, own_bytes=own_bytes, local_bytes=local, communicates=communicates, copies=copies,
            proxy=proxy, cluster=cluster,
            checks=(self.checks.racecheck, reads, self.checks.synccheck),
        )  # fmt: skip

    def _arrays(self, device: "Device", bits: int) -> tuple[npt.NDArray[np.int64], int, npt.NDArray[np.uint8]]:
        """Rows of arrays, how many cells they have, and which bytes of those that are not all written are."""
        pieces = sorted(device.memory.allocations, key=lambda each: each.base)
        rows = np.zeros((max(1, len(pieces)), 4), np.int64)
        rows[:, 3] = -1
        cells, total = 0, 0
        parts: list[npt.NDArray[np.uint8]] = []
        self._places: list[tuple[_Unwritten, int, int]] = []
        for row, piece in zip(rows, pieces, strict=False):
            row[:3] = piece.base, piece.bytes, -1 if piece.constant else cells
            if not piece.constant:
                cells += (piece.bytes + (1 << bits) - 1) >> bits
            unwritten = self._unwritten.get(piece.data.ctypes.data) if piece.bytes else None
            if unwritten is not None and unwritten.lives:
                part = unwritten.look(piece.data)
                if part is not None:
                    row[3] = total
                    self._places.append((unwritten, total, len(part)))
                    parts.append(part)
                    total += len(part)
        return rows, cells, np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def _remember(self, tables: state.Tables) -> None:
        for unwritten, first, count in self._places:
            unwritten.written = tables.written[first : first + count].copy()

    def allocated(self, array: npt.NDArray[Any], keeper: object = None, is_filled: bool = False) -> None:
        """Nobody has written an array, which is filled so that what the host writes to it is seen.

        keeper: what lives as long as its memory; the array that has it if left out. is_filled: whether that is done.
        array: of any shape, of bytes or numbers.
        """
        while isinstance(array.base, np.ndarray):
            array = array.base
        if not self.checks.initcheck or not array.size or not array.flags.forc or array.dtype.hasobject:
            return
        data = (array if array.flags.c_contiguous else array.T).reshape(-1).view(np.uint8)
        if not is_filled:
            data[:] = _pattern(len(data))
        self._unwritten[data.ctypes.data] = _Unwritten(weakref.ref(keeper or array), np.zeros(len(data), np.uint8))


_RESIDENT = 2048  # as simtmm.cuda.device has it


def _cluster(function: "KernelFunction", launch: "DeviceLaunch") -> npt.NDArray[np.int32]:
    """The blocks of each block's cluster, and its rank (Tables.cluster); no rows without clusters."""
    from simtmm.cuda.device import cluster_of  # which imports this room

    of = cluster_of(function, launch, launch.where) or (1, 1, 1)
    if of == (1, 1, 1):
        return np.zeros((0, state.MOST_OF_CLUSTER + 1), np.int32)
    rows = np.full((launch.grid[0] * launch.grid[1] * launch.grid[2], state.MOST_OF_CLUSTER + 1), -1, np.int32)
    for numbers in clusters_of(launch.grid, of):
        for rank, number in enumerate(numbers):
            rows[number, : len(numbers)] = numbers
            rows[number, state.MOST_OF_CLUSTER] = rank
    return rows


@dataclass
class _Unwritten:
    """An array that nobody has written at first. written: 1 for each byte that somebody has."""

    keeper: "weakref.ref[Any]"
    written: npt.NDArray[np.uint8]

    @property
    def lives(self) -> bool:
        """Whether it is still there."""
        return self.keeper() is not None

    def look(self, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8] | None:
        """What is written by now: what the host has changed, by words of 4 bytes, is. None where all of it is."""
        if len(data) != len(self.written):
            return None
        changed = (data != _pattern(len(data))).astype(np.uint8)
        whole = len(data) // 4 * 4
        words = changed[:whole].reshape(-1, 4).any(axis=1)
        changed[:whole] = np.repeat(words, 4)
        self.written |= changed
        return None if self.written.all() else self.written


def _pattern(size: int) -> npt.NDArray[np.uint8]:
    """Bytes that nobody writes by chance."""
    numbers = np.arange(size, dtype=np.uint32)
    return ((numbers * np.uint32(2654435761) >> np.uint32(13)) ^ np.uint32(_POISON)).astype(np.uint8)


@contextlib.contextmanager
def _kept(device: "Device") -> Iterator[None]:
    """Memory as it was, once the block is left."""
    device_arrays = [each.data for each in device.memory.allocations if not (each.constant or each.read_only)]
    before = [array.copy() for array in device_arrays]
    try:
        yield
    finally:
        for array, old in zip(device_arrays, before, strict=True):
            array[:] = old

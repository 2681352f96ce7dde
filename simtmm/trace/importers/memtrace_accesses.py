"""The second pass over NVBit's mem_trace: records of accesses become operations of warps."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.importers import memtrace_lines as lines
from simtmm.trace.importers import memtrace_records
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.blocks import Blocks, Touched
from simtmm.trace.importers.memtrace_order import Integers, LongStretch, Records, warps_of
from simtmm.trace.importers.memtrace_records import MemtraceRecords
from simtmm.trace.importers.opcodes import ACTIONS, GLOBAL, LOCAL, MEMORY, SHARED, Opcodes, gives_nothing, width_of
from simtmm.trace.importers.reading import DamagedError
from simtmm.trace.importers.statistics import Statistics
from simtmm.trace.schema import KINDS, Kind, TraceSite

SHARED_SITE = 0


MOST_SITES = 1 << 20  # each that is used stands in the metadata


_KINDS = {
    GLOBAL: (Kind.LOAD, Kind.STORE, Kind.ATOMIC),
    SHARED: (Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC),
}  # by action


class MemtraceAccesses:
    """The second pass: records become operations of warps.

    A site is an opcode and how many accesses of the warp lie between this one and the last one in which all lanes took
    part that had any left. So lockstep, which lets the lowest site go first, finds the order of the file again.
    """

    def __init__(self, path: Path, reading: MemtraceRecords) -> None:
        self.touched = Touched()
        self._path = path
        self._opcodes = reading.opcodes
        self._launches = reading.reader.launches[: len(reading.launches)]
        self._known = known = Opcodes(str(path))
        self._statistics = Statistics()
        self._at_zero = int(reading.reader.state[lines.State.at_zero])  # accesses that are left out
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
        warp = warps_of(records, new_block, new_warp, self._launches[launch, lines.Launch.threads])
        mask, each_warp = records["mask"].astype(np.int64), np.cumsum(new_warp) - 1
        depth, together = np.empty(len(records), np.int64), np.empty(len(records), np.uint8)
        lines.note_together(mask, each_warp, np.zeros(each_warp[-1] + 1, np.int64), together)
        lines.depths(each_warp, together, np.zeros(each_warp[-1] + 1, np.int64), depth)
        operations = self._operations(records, launch, warp, depth, new_warp)
        begins = np.flatnonzero(new_block)
        number = records["block"][begins] - self._launches[launch[begins], lines.Launch.first_block]
        sink.add_sorted(operations, launch[begins].astype(np.int32), number.astype(np.int32))

    def add_long(self, stretch: LongStretch, sink: Blocks) -> None:
        """Take the records of one block, piece by piece: a byte for each is all that is held of them."""
        together = np.empty(stretch.count, np.uint8)
        left: dict[int, int] = {}
        end = stretch.count
        for records in stretch.pieces_backwards(memtrace_records.RECORDS):
            own, place = np.unique(records["warp"].astype(np.int64), return_inverse=True)
            state = np.array([left.get(warp, 0) for warp in own.tolist()], np.int64)
            lines.note_together(records["mask"].astype(np.int64), place, state, together[end - len(records) : end])
            left |= zip(own.tolist(), state.tolist(), strict=True)
            end -= len(records)
        warps = np.array(sorted(left), np.int64)
        behind = np.zeros(len(warps), np.int64)
        for records in stretch.pieces(memtrace_records.RECORDS):
            launch = self._launch_of(records)
            threads = int(self._launches[launch[0], lines.Launch.threads])
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
        sink.end_sorted_part(
            int(launch[0]), int(records["block"][0] - self._launches[launch[0], lines.Launch.first_block])
        )

    def _launch_of(self, records: Records) -> Integers:
        launch: Integers = (
            np.searchsorted(self._launches[:, lines.Launch.first_block], records["block"], side="right") - 1
        )
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
        self._check(records, warp, self._launches[launch, lines.Launch.threads])
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
            threads = row[:, lines.Launch.threads]
            all_threads = np.prod(row[:, lines.Launch.grid_x : lines.Launch.grid_z + 1], axis=1) * threads
            first = (records["block"][local] - row[:, lines.Launch.first_block]) * threads + table.LANES * warp[local]
            width = self._width[records["opcode"][local]]
            unit = np.maximum(4, 1 << np.ceil(np.log2(width)).astype(np.int64))[:, None]
            own = address[local] & table.LOCAL_BYTES - 1
            thread = first[:, None] + np.arange(table.LANES)
            address[local] = LOCAL_BASE + (own // unit * all_threads[:, None] + thread) * unit + own % unit
        return address

"""Warps that are under way at once, each with a window of its next operations, which is filled anew when it is empty.

What an engine needs of a long trace: memory for the warps that are resident, however long they are. Where another
thread fills windows beside the engine, a warp has two of them: one that it goes through, and the one behind it.
"""

import numpy as np
import numpy.typing as npt

from simtmm.native import Bound, Loop
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.site_tables import SiteTables
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps.blocks import Ask, fill
from simtmm.trace.warps.layout import Output
from simtmm.trace.warps.load_store_units import MOST_COPIED
from simtmm.trace.warps.lowering import Integers, beside, empty_walk, lanes_of, most_chunks

ALL_OPERATIONS = 1 << 20  # of all windows together, about
FEWEST, MOST = 128, 4096  # operations of a window
MOST_ROWS = ALL_OPERATIONS // FEWEST  # that have two windows each

_FILL = Loop(fill, what="trace lowering")


class Windows:
    """Windows of so many rows, each of which may serve one warp after another.

    kind, amount, chunks, place, sectors: of all windows, one after another, those of a row beside one another.
    asks: int64[ASK] of each thread that fills, the request to its bound loop.
    """

    def __init__(
        self, specification: LoweringSpecification, tables: SiteTables, largest: int, rows: int, threads: int = 1
    ) -> None:
        """largest: threads of the largest block. threads: that fill windows at most, one or two: so many windows has a
        row, unless there are very many rows.
        """
        self.rows, self.threads = rows, threads if rows <= MOST_ROWS else 1
        threads = self.threads
        lanes = lanes_of(specification, largest)
        self._most = most_chunks(specification, lanes)
        self.operations = min(max(ALL_OPERATIONS // (rows * threads), FEWEST), MOST)
        self.chunks_of_window = self._most + MOST_COPIED + 2 * self.operations
        windows = rows * threads
        self.kind: npt.NDArray[np.uint8] = np.zeros(windows * self.operations, np.uint8)
        self.amount: Integers = np.zeros(windows * self.operations, np.int64)
        self.chunks: Integers = np.zeros(windows * self.chunks_of_window, np.int64)
        self.place = np.zeros(len(self.kind) if specification.places else 1, np.int32)
        self.sectors = np.zeros(len(self.chunks) if specification.sector_bytes else 1, np.uint32)
        walk = empty_walk(specification, tables, lanes, rows)
        self._walks = [walk, *(beside(walk) for _ in range(1, threads))]
        self._outputs = [
            Output(np.zeros(4, np.int64), self.kind, self.amount, self.chunks, self.place, self.sectors)
            for _ in range(threads)
        ]
        self.asks: list[Integers] = [np.zeros(len(Ask), np.int64) for _ in range(threads)]
        for ask in self.asks:
            ask[[Ask.operations, Ask.chunks]] = self.operations, self.chunks_of_window

    def bound(self, runs: Runs, region: int, stride: int, local_bytes: int, registers: int) -> tuple[Bound, ...]:
        """What fills windows of warps of these blocks, for each thread; the other arguments are those of
        `Lowering.lower`.
        """
        local, shape = np.array([region, stride, local_bytes, registers], np.int64), np.array(runs.shape, np.int64)
        return tuple(
            _FILL.bind(
                walk, runs.structures, runs.block, runs.structure, runs.values, runs.value_ends, shape, local,
                output, self._most, ask,
            )
            for walk, output, ask in zip(self._walks, self._outputs, self.asks, strict=True)
        )  # fmt: skip

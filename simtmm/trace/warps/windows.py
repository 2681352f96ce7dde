"""Warps that are under way at once, each with a window of its next operations, which is filled anew when it is empty.

What an engine needs of a long trace: memory for the warps that are resident, however long they are.
"""

import numpy as np
import numpy.typing as npt

from simtmm.native import Bound, Loop
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.site_tables import SiteTables
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps.blocks import ASK, ASK_CHUNKS, ASK_OPERATIONS, fill
from simtmm.trace.warps.layout import Output
from simtmm.trace.warps.lowering import Integers, empty_walk, lanes_of, most_chunks

ALL_OPERATIONS = 1 << 20  # of all windows together, about
FEWEST, MOST = 64, 4096  # operations of a window

_FILL = Loop(fill, what="what lowers traces")


class Windows:
    """Windows of so many rows, each of which may serve one warp after another.

    kind, amount, chunks, place: of all rows, one after another. ask: int64[ASK], the request to a bound loop that
    fills.
    """

    def __init__(self, specification: LoweringSpecification, tables: SiteTables, largest: int, rows: int) -> None:
        """largest: threads of the largest block."""
        self.rows = rows
        lanes = lanes_of(specification, largest)
        self._most = most_chunks(specification, lanes)
        self.operations = min(max(ALL_OPERATIONS // rows, FEWEST), MOST)
        self.chunks_of_window = self._most + 2 * self.operations
        self._walk = empty_walk(specification, tables, lanes, rows)
        self.kind: npt.NDArray[np.uint8] = np.zeros(rows * self.operations, np.uint8)
        self.amount: Integers = np.zeros(rows * self.operations, np.int64)
        self.chunks: Integers = np.zeros(rows * self.chunks_of_window, np.int64)
        self.ask: Integers = np.zeros(ASK, np.int64)
        self.ask[[ASK_OPERATIONS, ASK_CHUNKS]] = self.operations, self.chunks_of_window
        self.place = np.zeros(len(self.kind) if specification.places else 1, np.int32)
        self._output = Output(np.zeros(4, np.int64), self.kind, self.amount, self.chunks, self.place)

    def bound(self, runs: Runs, region: int, stride: int, local_bytes: int) -> Bound:
        """What fills windows of warps of these blocks; the other arguments are those of `Lowering.lower`."""
        local, shape = np.array([region, stride, local_bytes], np.int64), np.array(runs.shape, np.int64)
        return _FILL.bind(
            self._walk, runs.structures, runs.block, runs.structure, runs.values, runs.value_ends, shape, local,
            self._output, self._most, self.ask,
        )  # fmt: skip

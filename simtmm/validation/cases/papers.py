"""What the papers print of their machines, and parts of programs that their kernels are measured on."""

import tomllib
from typing import Any

import numpy as np

from simtmm.errors import StudyError
from simtmm.trace.counts import Counts
from simtmm.validation.cases.measured_files import measured_file
from simtmm.workload import Workload

FILE = "papers.toml"


def printed(table: str) -> dict[str, Any]:
    """A table of traces/measured/papers.toml. Raises StudyError where there is none."""
    path = measured_file(FILE)
    with path.open("rb") as file:
        tables = tomllib.load(file)
    if table not in tables:
        raise StudyError(f"{path}: {table}: is not there")
    found: dict[str, Any] = tables[table]
    return found


def of_launch(counts: Counts, launch: int) -> Counts:
    """The counts of one launch, as if the program had no other."""
    return Counts.of_launch(counts.launches[launch])


def first_blocks(workload: Workload, blocks: int) -> Workload:
    """The first blocks of a workload of one launch.

    Where a block's work does not depend on how many there are, it is the workload of a smaller grid.
    """
    warps = int(workload.block_warps[blocks])
    operations, chunks = int(workload.warp_operations[warps]), int(workload.warp_chunks[warps])
    return Workload(
        kind=workload.kind[:operations],
        amount=workload.amount[:operations],
        chunks=workload.chunks[:chunks],
        sectors=workload.sectors[:chunks],
        warp_operations=workload.warp_operations[: warps + 1],
        warp_chunks=workload.warp_chunks[: warps + 1],
        block_warps=workload.block_warps[: blocks + 1],
        launch_blocks=np.array([0, blocks], dtype=np.int64),
        launch_limits=workload.launch_limits,
        origin=workload.origin,
    )

"""The cost of launches, from times of an empty kernel over threads and blocks.

Nothing but starts takes time in it, so docs/machine.md, section 6, gives its time in closed form (`empty_cycles`), and
four values follow by least squares of the logarithm of times: `launch_overhead`, `block_launch`, `block_interval` and
`warp_launch`. Their errors are those of a jackknife: the fit again without a fifth of the rows at a time, those of
neighbouring sizes of a block, since what a fit leaves is alike there and no chance.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simtmm.calibration.least_squares import Fitted, Numbers, Parameter, least_squares
from simtmm.calibration.micro_rows import EmptyLaunch
from simtmm.calibration.values import Value
from simtmm.errors import StudyError
from simtmm.machine import Machine

# Cycles of an empty kernel's only instruction, EXIT: as compiled for sm_70 and later it stalls for 4 more. Less or more
# of them would count as block_launch.
EXIT_CYCLES = 5
STEPS = 40
FOLDS = 5
DETERMINED = 0.25  # standard error of a value over the value, at most, to be called determined
PARAMETERS = (
    Parameter("launch_overhead", 0, 1e9, 20),
    Parameter("block_launch", 0, 1e7, 20),
    Parameter("block_interval", 0, 1e7, 5),
    Parameter("warp_launch", 0, 1e6, 1),
)
SHOWN_BY = {
    "launch_overhead": "launches of few blocks, minus what starts them",
    "block_launch": "how soon the next block takes a finished block's place",
    "block_interval": "what each further block of a group adds",
    "warp_launch": "how both grow with the warps of a block",
}
BEGIN = (1000.0, 300.0, 50.0, 5.0)


def empty_cycles(costs: Sequence[float] | Numbers, warps: Numbers, blocks: Numbers, held: Numbers) -> Numbers:
    """Cycles of launches of an empty kernel, of the core group that has most blocks.

    costs: launch_overhead, block_launch, block_interval and warp_launch [cycles].
    warps: of a block.
    blocks: of that group, one after another.
    held: blocks that a group holds at once.

    Source: docs/machine.md, section 6. A block starts behind the one before it, and where all places are taken behind
    the end of the one that was as many before; of both ways the longer one counts.
    """
    launch_overhead, block_launch, block_interval, warp_launch = costs
    apart = np.maximum(warps * warp_launch, block_interval)
    alone = warps * warp_launch + block_launch + EXIT_CYCLES
    behind = blocks - 1
    last = np.maximum(behind * apart, behind // held * alone + behind % held * apart)
    return np.asarray(launch_overhead + last + alone)


def fit_launch_costs(machine: Machine, rows: Sequence[EmptyLaunch], called: str) -> tuple[list[Value], str]:
    """The four values, and how well they meet the rows, in words.

    machine: groups, limits and clock. called: the measurement. Raises StudyError where there is no clock, or the rows
    do not tell the values apart.
    """
    if machine.clock_hz is None:
        raise StudyError(f"machine {machine.name}: clock_hz: is required to count the cycles of an empty kernel")
    width = machine.cores.warp_width
    warps = np.array([-(-row.threads // width) for row in rows], dtype=np.float64)
    blocks = np.array([-(-row.blocks // machine.cores.groups) for row in rows], dtype=np.float64)
    held = np.array([machine.active_blocks(row.threads) for row in rows], dtype=np.float64)
    measured = np.log(np.array([row.seconds for row in rows]) * machine.clock_hz)

    def fit(kept: npt.NDArray[np.int64], begin: Sequence[float], steps: int) -> Fitted:
        def residuals(sets: Sequence[Numbers]) -> list[Numbers]:
            of_rows = warps[kept], blocks[kept], held[kept]
            return [np.log(empty_cycles(each, *of_rows)) - measured[kept] for each in sets]

        return least_squares(PARAMETERS, begin, residuals, steps)

    every = np.lexsort((blocks, np.array([row.threads for row in rows])))
    fold_of = np.arange(len(rows)) * FOLDS // len(rows)
    whole = fit(every, BEGIN, STEPS)
    if len(rows) < 2 * len(PARAMETERS) or np.linalg.matrix_rank(whole.slopes, tol=1e-6) < len(PARAMETERS):
        raise StudyError(
            f"{called}: {len(rows)} launches of an empty kernel can't separate launch_overhead, block_launch, "
            "block_interval and warp_launch: measure one and many blocks for each core group, of one and of many warps"
        )
    found = np.array(list(whole.values.values()))
    again = np.array(
        [list(fit(every[fold_of != fold], found.tolist(), STEPS).values.values()) for fold in range(FOLDS)]
    )
    errors = np.sqrt((FOLDS - 1) / FOLDS * np.sum((again - again.mean(axis=0)) ** 2, axis=0))
    values = [
        Value(
            f"scheduling.{name}", round(float(value), 2), "cycles", called,
            f"empty kernel, {len(rows)} launches: {SHOWN_BY[name]}", bool(error <= DETERMINED * value), float(error),
        )
        for name, value, error in zip(whole.values, found, errors, strict=True)
    ]  # fmt: skip
    off = np.abs(np.expm1(whole.residuals))
    return values, (
        f"empty kernel: mean absolute error {100 * off.mean():.1f} % over {len(rows)} launches, "
        f"{100 * off.max():.1f} % at most, by docs/machine.md, section 6, in closed form"
    )

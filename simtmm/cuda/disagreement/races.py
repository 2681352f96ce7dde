"""Whether threads of a block race in the blocks of a launch that are run to compare machine code with PTX.

Their warps run once more, in descending order. Where that leaves another value, racecheck says at which lines.
"""

import time

from simtmm.cuda.checks.names import Checks
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.disagreement.differences import differing, may_be_near
from simtmm.cuda.disagreement.memory import Changes, KeptMemory, are_equal, is_untyped
from simtmm.cuda.disagreement.variants import Variant
from simtmm.cuda.execution.launches.run import SlowError
from simtmm.cuda.execution.runtime.turn_order import DESCENDING
from simtmm.cuda.function import KernelFunction
from simtmm.errors import SimtmmError

SECONDS = 1.0  # that the blocks may have taken, to be run once more
CHECKED = 5.0  # seconds that racecheck may take
WARP = 32


def may_race(function: KernelFunction, launch: DeviceLaunch) -> bool:
    """Whether several warps of a block share memory whose races racecheck finds."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    return threads > WARP and function.shared_bytes(launch.shared_bytes) > 0 and not function.program.allocates


def race_of(
    device: Device, function: KernelFunction, launch: DeviceLaunch, blocks: int, memory: KeptMemory,
    usual: list[Changes], took: float,
) -> str:  # fmt: skip
    """The lines that race, in words, where the order of warps decides what is left in memory; "" where none was seen.

    function: the kernel as PTX. blocks: of the launch, that run. memory: as it was before. usual: what they changed,
    which took so many seconds.
    """
    if took > SECONDS or not may_race(function, launch):
        return ""
    try:
        variant = Variant(function, order=DESCENDING)
        assert variant.code  # not to be compiled in that time
        began = time.monotonic()
        other = memory.after(variant, launch, blocks, 2 * SECONDS)
        if time.monotonic() - began > SECONDS or not _differ(memory, usual, other):
            return ""
        return _by_racecheck(device, function, launch, blocks)
    except (SimtmmError, SlowError):  # the launch itself will tell
        return ""


def _by_racecheck(device: Device, function: KernelFunction, launch: DeviceLaunch, blocks: int) -> str:
    """Likewise, as racecheck sees them. Raises what `Checker.launch` raises."""
    from simtmm.cuda.checks.checker import Checker  # late: few kernels come so far
    from simtmm.cuda.checks.findings import ERROR
    from simtmm.cuda.disagreement.order_trial import HINT

    checker = Checker(Checks(racecheck=True))
    checker.launch(device, function, launch, blocks, CHECKED)
    wrong = next((each for each in checker.found.findings if each.severity == ERROR), None)
    if wrong is None:  # updates in another order, say
        return ""
    sides = sorted({(side.file, side.line) for side in wrong.sides if side.line})
    lines = " and ".join(f"{file}:{line}" for file, line in sides)
    races = f"{lines} race{'s' * (len(sides) == 1)}" if lines else "a race is likely"
    return f"the order of warps decides the result: {races}: {HINT}"


def _differ(memory: KeptMemory, usual: list[Changes], other: list[Changes]) -> bool:
    """Whether any array differs by more than rounding."""
    for number, allocation in enumerate(memory.allocations):
        if are_equal(memory.before[number], usual[number], other[number]):
            continue
        if not len(differing(memory, number, usual, other)):
            continue
        if not is_untyped(allocation) or not may_be_near(memory, number, usual, other):
            return True
    return False

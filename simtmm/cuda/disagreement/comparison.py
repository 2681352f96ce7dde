"""Whether a kernel's machine code and PTX do the same: the first blocks of a launch, run both ways."""

import time
from dataclasses import dataclass

from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.disagreement.differences import differing
from simtmm.cuda.disagreement.memory import Changes, KeptMemory, are_equal, bytes_of
from simtmm.cuda.disagreement.races import race_of
from simtmm.cuda.execution.launches.run import SlowError
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.machine_function import MachineFunction
from simtmm.errors import DeadlockError, NoProgressError, RecordingError

_WITHOUT_END = (DeadlockError, NoProgressError)
THREADS = 1 << 14  # of the first blocks, in which machine code and PTX are compared,
MOST_COMPARED = 1 << 29  # bytes of arrays that are, at most
SECONDS = 5.0  # that PTX may take; and machine code, beyond so many times what PTX has taken:
SLOWER = 20  # that of many lines is not optimised


@dataclass(frozen=True)
class Comparison:
    """What came of running a kernel both ways.

    differs: where, in words, with what explains it; None where it does not. blocks: that ran. is_fault: whether neither
    the order of threads nor rounding explains it, so that simtmm has misread either. report: of a fault, what is needed
    to repeat it, by headings. race: that the order of warps decides the values, and where, in words; "" for none seen.
    """

    differs: str | None
    blocks: int
    is_fault: bool = False
    report: tuple[tuple[str, str], ...] = ()
    race: str = ""


def compare(device: Device, machine: MachineFunction, plain: KernelFunction, launch: DeviceLaunch) -> Comparison | None:
    """Run the first blocks of a launch as machine code and as PTX, and compare all memory; which is as before then.

    Gives None where that can't be done: too much memory, a clock, blocks that wait for others which don't run, or that
    take too long as PTX. Raises RecordingError where a thread does what it must not, as PTX has it.

    machine, plain: the kernel as machine code and as PTX.
    """
    device.symbols(plain.linked)  # its variables are placed, so that they are compared, too
    if bytes_of(device) > MOST_COMPARED or machine.looks_at_time:
        return None
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    grid = launch.grid[0] * launch.grid[1] * launch.grid[2]
    blocks = min(grid, max(1, THREADS // threads))
    memory = KeptMemory(device)
    found: list[list[Changes]] = []
    allowed, took = 2 * SECONDS, 0.0  # compiled quickly, it runs half as fast
    for function in (plain.quick, machine):
        assert function.code  # not to be compiled in that time
        began = time.monotonic()
        try:
            found.append(memory.after(function, launch, blocks, allowed))
            took = took or time.monotonic() - began
            allowed = SECONDS + SLOWER * (time.monotonic() - began)
        except SlowError:
            # ptxas may release a lock behind where the lanes that want it are waited for, which hangs on a GPU as well.
            return Comparison(f"it did not end within {allowed:.0f} s", blocks) if function is machine else None
        except RecordingError as error:
            if function is machine:
                from simtmm.cuda.disagreement.explanation import Told, Ways, ended_alone  # late: they rarely differ

                ways = Ways(device, machine, plain, launch, blocks, memory, found[0], found[0], allowed)
                told = Told(str(error)) if isinstance(error, _WITHOUT_END) else ended_alone(ways, str(error))
                return Comparison(told.text, blocks, told.is_fault, told.report)
            if isinstance(error, _WITHOUT_END) and blocks < grid:  # they may wait for blocks that did not run
                return None
            raise
    expected, ours = found
    race = race_of(device, plain.quick, launch, blocks, memory, expected, took)
    suspects = {
        number: elements
        for number in range(len(memory.allocations))
        if not are_equal(memory.before[number], expected[number], ours[number])
        and len(elements := differing(memory, number, expected, ours))
    }
    if not suspects:
        return Comparison(None, blocks, race=race)
    from simtmm.cuda.disagreement.explanation import Ways, explained  # late, as above

    ways = Ways(device, machine, plain, launch, blocks, memory, expected, ours, allowed)
    why = explained(ways, suspects)
    if why is None:
        return Comparison(None, blocks, race=race)
    return Comparison(why.text, blocks, why.is_fault, why.report, race)

"""Why PTX and machine code leave different values in memory: order, rounding, addresses of local variables, a race of
the kernel, or a fault of simtmm.

Each is tried by running the kernel again in another way. An element that comes out the same in all ways of PTX and in
both orders of machine code, and still differs between the two, depends on neither: then one of them was misread.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.cuda.checks.checker import Checker
from simtmm.cuda.checks.findings import INFO
from simtmm.cuda.checks.names import Checks
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.disagreement.differences import may_be_near
from simtmm.cuda.disagreement.local_places import has_local_variables, moved
from simtmm.cuda.disagreement.memory import (
    Changes,
    KeptMemory,
    bits,
    element_type,
    elements_of,
    is_untyped,
)
from simtmm.cuda.disagreement.parting import parting
from simtmm.cuda.disagreement.rounding import LESS, MORE, nudged, rounds_freely
from simtmm.cuda.disagreement.variants import Variant
from simtmm.cuda.execution.launches.run import SlowError
from simtmm.cuda.execution.runtime.turn_order import DESCENDING
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.machine_function import MachineFunction
from simtmm.errors import RecordingError, SimtmmError


@dataclass(frozen=True)
class Ways:
    """A launch that was run both ways. expected, ours: what PTX and machine code changed. seconds: for another run."""

    device: Device
    machine: MachineFunction
    plain: KernelFunction
    launch: DeviceLaunch
    blocks: int
    memory: KeptMemory
    expected: list[Changes]
    ours: list[Changes]
    seconds: float

    def after(self, function: KernelFunction) -> list[Changes] | None:
        """What another way changes; None where it does not come to its end."""
        try:
            assert function.code
            return self.memory.after(function, self.launch, self.blocks, self.seconds)
        except (SimtmmError, SlowError):
            return None

    def ends_with_an_error(self, function: KernelFunction) -> bool:
        """Whether another way ends with an error of the kernel; not where simtmm refuses it, or it takes too long."""
        try:
            assert function.code
            self.memory.after(function, self.launch, self.blocks, self.seconds)
        except RecordingError:
            return True
        except (SimtmmError, SlowError):
            pass
        return False


@dataclass(frozen=True)
class Told:
    """A difference in words, whether it is a fault of simtmm, and what is needed to repeat that."""

    text: str
    is_fault: bool = False
    report: tuple[tuple[str, str], ...] = ()


def explained(ways: Ways, suspects: Mapping[int, npt.NDArray[np.int64]]) -> Told | None:
    """What explains elements that differ. None where rounding explains all those that may be real numbers.

    suspects: by the number of the allocation, elements that differ.
    """
    left = dict(suspects)
    noted: dict[int, str] = {}
    for reason, function, base in _trials(ways):
        if not left:
            break
        content = ways.after(function())
        for number in list(left):
            if content is None:
                stable = left[number][:0]
            else:
                kind = element_type(ways.memory.allocations[number])
                before, other = (bits(elements_of(ways.memory.content(number, each), kind)) for each in (base, content))
                stable = left[number][(before == other)[left[number]]]
            if len(stable) < len(left[number]):
                noted.setdefault(number, reason)
            left[number] = stable
            if not len(stable):
                del left[number]
    if left:
        number, element = next((number, int(elements[0])) for number, elements in left.items())
        race = _race(ways)
        if race:
            return Told(f"{_values(ways, number, element)}, which the checks may explain: {race}")
        return _fault(ways, number, element)
    # Of memory that may hold anything, what rounding explains is taken for real numbers.
    for number, elements in suspects.items():
        reason = noted.get(number, "")
        if (
            reason != ROUNDING
            or not is_untyped(ways.memory.allocations[number])
            or not may_be_near(ways.memory, number, ways.expected, ways.ours)
        ):
            return Told(f"{_values(ways, number, int(elements[0]))}, which depends on {reason}")
    return None


ROUNDING = "how real numbers are rounded"
ORDER = "the order of its threads"
PLACES = "where its local variables lie"


def _trials(ways: Ways) -> list[tuple[str, Callable[[], KernelFunction], list[Changes]]]:
    """Other ways to run the kernel, with what explains a change by each, and what it is compared with."""
    module, names = ways.plain.program.module, ways.plain.program.function_numbers
    found: list[tuple[str, Callable[[], KernelFunction], list[Changes]]] = []
    if rounds_freely(module, names):
        found += [
            (ROUNDING, lambda: Variant(ways.plain, nudged(module, MORE)), ways.expected),
            (ROUNDING, lambda: Variant(ways.plain, nudged(module, LESS)), ways.expected),
        ]
    if has_local_variables(module, names):
        found.append((PLACES, lambda: Variant(ways.plain, moved(module)), ways.expected))
    return [
        *found,
        (ORDER, lambda: Variant(ways.plain, order=DESCENDING), ways.expected),
        (ORDER, lambda: Variant(ways.machine, order=DESCENDING), ways.ours),
    ]


def _race(ways: Ways) -> str:
    """What the checks find in the launch, in a line; "" for nothing."""
    checker = Checker(Checks(racecheck=True, initcheck=True, synccheck=True))
    try:
        checker.launch(ways.device, ways.plain, ways.launch)
    except (SimtmmError, SlowError) as error:
        return str(error)
    wrong = [finding for finding in checker.found.findings if finding.severity != INFO]
    return f"{wrong[0].check}: {wrong[0].what}" if wrong else ""


def _values(ways: Ways, number: int, element: int) -> str:
    """An element with both its values."""
    allocation = ways.memory.allocations[number]
    kind = element_type(allocation)
    both = [
        ways.memory.content(number, made)[element * kind.itemsize : (element + 1) * kind.itemsize].view(kind)[0]
        for made in (ways.expected, ways.ours)
    ]
    of = "word" if is_untyped(allocation) and kind.itemsize == 4 else "element"
    return f"{allocation.name}, {of} {element}: {both[0]} as PTX, {both[1]} as machine code"


def ended_alone(ways: Ways, error: str) -> Told:
    """Why machine code ends with an error where PTX does not. ways: whose machine code has changed nothing."""
    for reason, function, _ in _trials(ways)[:-1]:
        if ways.ends_with_an_error(function()):
            return Told(f"{error}, which depends on {reason}")
    race = _race(ways)
    if race:
        return Told(f"{error}, which the checks may explain: {race}")
    return Told(error, True, _report(ways))


def _fault(ways: Ways, number: int, element: int) -> Told:
    allocation = ways.memory.allocations[number]
    kind = element_type(allocation)
    address = allocation.base + element * kind.itemsize
    text = _values(ways, number, element)
    place = parting(ways.device, ways.plain, ways.launch, ways.blocks, address, kind.itemsize, ways.seconds)
    return Told(f"{text}{place}", True, _report(ways))


def _report(ways: Ways) -> tuple[tuple[str, str], ...]:
    unit = ways.plain.linked.units[0]
    return (
        ("launch", f"grid {ways.launch.grid}, block {ways.launch.block}, first {ways.blocks} blocks"),
        (f"{unit.name}.ptx, for {unit.target}", unit.ptx),
        ("machine code", "\n".join(each.text for each in ways.machine.lifted.listing.instructions)),
    )

"""Whether the order in which warps take turns decides what a program computes: it is run again in other orders."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.disagreement.differences import differing, may_be_near
from simtmm.cuda.disagreement.memory import KeptMemory, are_equal, bytes_of, element_type, elements_of, is_untyped
from simtmm.cuda.disagreement.variants import Variant
from simtmm.cuda.execution.launches.run import SlowError
from simtmm.cuda.execution.runtime.turn_order import DESCENDING, SHUFFLED
from simtmm.cuda.function import KernelFunction
from simtmm.errors import SimtmmError

TRIED = (DESCENDING, SHUFFLED)
WORDS = {DESCENDING: "in reverse order", SHUFFLED: "in random order"}
MOST_COMPARED = 1 << 29  # bytes of memory, of which a comparison keeps a copy
SECONDS = 20.0  # for all comparisons of a program
HINT = "--check racecheck looks for it"


class OrderTrial:
    """Runs launches with warps in another order; compares what the first ones leave in memory with what they leave in
    ascending order.

    differs: the first difference, in words; "" where none was seen. is_compared: whether all launches were compared.
    """

    def __init__(self, order: str) -> None:
        """order: of simtmm.cuda.execution.runtime.turn_order.ORDERS."""
        self.order, self.differs, self.is_compared = order, "", True
        self._variants: dict[int, tuple[KernelFunction, Variant]] = {}
        self._launches = 0
        self._left = SECONDS

    def instead(self, device: Device, function: KernelFunction, launch: DeviceLaunch) -> KernelFunction:
        """The function in the order of the trial; see simtmm.cuda.instead."""
        known = self._variants.get(id(function))
        if known is None:
            known = self._variants[id(function)] = function, Variant(function, order=self.order)
        variant = known[1]
        number = self._launches
        self._launches += 1
        if not self.differs:
            if self._left <= 0 or function.program.times or function.program.allocates:
                self.is_compared = False
            else:
                self._compare(device, function, variant, launch, number)
        return variant

    def _compare(
        self, device: Device, function: KernelFunction, variant: Variant, launch: DeviceLaunch, number: int
    ) -> None:
        device.symbols(function.linked)  # its variables are placed, so that they are compared, too
        if bytes_of(device) > MOST_COMPARED:
            self.is_compared = False
            return
        began = time.monotonic()
        memory, blocks = KeptMemory(device), launch.grid[0] * launch.grid[1] * launch.grid[2]
        try:
            usual, other = (memory.after(each, launch, blocks, self._left) for each in (function.quick, variant))
        except (SimtmmError, SlowError):  # the launch itself will tell
            self.is_compared = False
            return
        finally:
            self._left -= time.monotonic() - began
        for place, allocation in enumerate(memory.allocations):
            if are_equal(memory.before[place], usual[place], other[place]):
                continue
            elements = differing(memory, place, usual, other)
            if not len(elements) or (is_untyped(allocation) and may_be_near(memory, place, usual, other)):
                continue  # sums in another order are rounded differently
            kind, element = element_type(allocation), int(elements[0])
            one, two = (elements_of(memory.content(place, each), kind)[element] for each in (usual, other))
            of = "word " if is_untyped(allocation) and kind.itemsize == 4 else ""
            self.differs = (
                f"launch {number} ({bare_name(function.entry)}) leaves {two} in {allocation.name}[{of}{element}], "
                f"where it left {one}"
            )
            return


@dataclass(frozen=True)
class InOrder:
    """A program in another order of its warps.

    order: of TRIED. is_as_before: whether its check says the same. outcome: what it says, in words, as in "the answer
    is right". differs: what a launch left that it did not leave in ascending order, in words; "" for nothing.
    """

    order: str
    is_as_before: bool
    outcome: str
    differs: str

    @property
    def tells(self) -> bool:
        """Whether results depend on the order."""
        return bool(self.differs) or not self.is_as_before

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class OrderFound:
    """What came of a program in other orders."""

    tried: tuple[InOrder, ...]

    @property
    def decides(self) -> bool:
        """Whether results depend on the order."""
        return any(each.tells for each in self.tried)

    @property
    def words(self) -> str:
        """One sentence; "" where nothing was tried."""
        if not self.tried:
            return ""
        telling = [each for each in self.tried if each.tells]
        if not telling:
            orders = " and ".join(WORDS[each.order] for each in self.tried)
            return f"With warps {orders}, {self.tried[0].outcome} as well: no race was seen to decide it."
        found = next((each for each in telling if not each.is_as_before), telling[0])
        what = f"{found.outcome}{' as well' if found.is_as_before else ''}"
        differs = f", and {found.differs}" if found.differs else ""
        return f"The order of warps decides: {WORDS[found.order]} {what}{differs}. A race is likely: {HINT}."

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"decides": self.decides, "words": self.words, "tried": [each.to_dict() for each in self.tried]}

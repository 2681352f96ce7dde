"""A kernel run in another way than it is: its warps and blocks in another order, or its module changed."""

from functools import cached_property

from simtmm.cuda.execution.runtime.turn_order import ASCENDING
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.ptx.syntax import Module


class Variant(KernelFunction):
    """A kernel whose program is made of another module, or runs in another order; everything else is as it was."""

    is_quick = True

    def __init__(self, of: KernelFunction, module: Module | None = None, order: str = ASCENDING) -> None:
        """of: the kernel, as PTX or as machine code. module: instead of its own. order: one of ORDERS, in which
        blocks, warps, and lanes of an atomic operation go on.
        """
        super().__init__(of.linked, of.entry)
        self._of, self._module, self._order = of, module, order

    @cached_property
    def program(self) -> Program:
        """Translated anew."""
        whole = self._of.program
        program = Program(
            self._module or whole.module, self.entry, whole.place, whole.fuel, order=self._order,
            watches=self.is_watched,
        )  # fmt: skip
        self._assembly = program.assembly()
        return program

    def shared_bytes(self, dynamic: int) -> int:
        """As of the kernel."""
        return self._of.shared_bytes(dynamic)

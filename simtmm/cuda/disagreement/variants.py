"""A kernel run in another way than it is: its warps and blocks in another order, or its module changed."""

from functools import cached_property

from simtmm.cuda.execution.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.ptx.syntax import Module


class Variant(KernelFunction):
    """A kernel whose program is made of another module, or runs backwards; everything else is as it was."""

    is_quick = True

    def __init__(self, of: KernelFunction, module: Module | None = None, backwards: bool = False) -> None:
        """of: the kernel, as PTX or as machine code. module: instead of its own. backwards: blocks, warps, and
        lanes of an atomic operation go on in descending order.
        """
        super().__init__(of.linked, of.entry)
        self._of, self._module, self._backwards = of, module, backwards

    @cached_property
    def program(self) -> Program:
        """Translated anew."""
        whole = self._of.program
        program = Program(
            self._module or whole.module, self.entry, whole.place, whole.fuel, backwards=self._backwards,
            watches=self.is_watched,
        )  # fmt: skip
        self._assembly = program.assembly()
        return program

    def shared_bytes(self, dynamic: int) -> int:
        """As of the kernel."""
        return self._of.shared_bytes(dynamic)

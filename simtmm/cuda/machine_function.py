"""A kernel from its machine code, ready to run."""

from functools import cached_property

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.sass.kernel import LiftedKernel, lifted_kernel
from simtmm.errors import CompilerError, PtxError, SassError

# A shuffle or a vote of machine code waits for nobody: the compiler has ensured that lanes are together. So lanes
# that go round a loop for long let the others of their warp go on much later than they do in PTX.
LONG_TURN = 1 << 26


class MachineFunction(KernelFunction):
    """A kernel whose program is lifted from its machine code; everything else is as of its PTX."""

    def __init__(self, plain: KernelFunction) -> None:
        """plain: the kernel as PTX.

        Raises SassError, and CompilerError where it can't be assembled.
        """
        super().__init__(plain.linked, plain.entry)
        units = plain.linked.units
        if len(units) > 1:
            raise SassError("is linked from several modules")
        unit = units[0]
        resources = plain.linked.resources_of(plain.entry)
        if resources is None:
            refused = plain.linked.complaint
            raise SassError("the assembler does not report its resources" if refused is None else str(refused))
        self._static_shared = resources.shared_bytes
        self.lifted: LiftedKernel = lifted_kernel(
            plain.linked.module, plain.entry, unit.disassembly, unit.architecture, resources.local_bytes
        )

    @cached_property
    def program(self) -> Program:
        """Translated."""
        program = Program(self.lifted.module, self.entry, self.linked.place, LONG_TURN, watches=self.is_watched)
        self._assembly = program.assembly()
        return program

    def shared_bytes(self, dynamic: int) -> int:
        """What the machine gives a block, without what is the driver's.

        dynamic: bytes that the launch adds.
        """
        return -(-self._static_shared // 16) * 16 + dynamic if dynamic else self._static_shared

    @property
    def at_once(self) -> list[str]:
        """Opcodes, but for loads, whose results a scoreboard signals: how long they take is not known."""
        return self.lifted.at_once

    @property
    def looks_at_time(self) -> bool:
        """Whether it reads a clock, so that no two runs are alike."""
        return self.program.times


_WAVES = "simtmm_wave"  # a name in the code of programs/include/hip/simtmm_wave.h


def machine_function(plain: KernelFunction) -> tuple[MachineFunction | None, str]:
    """A kernel as machine code; or None, and why it can't be had.

    plain: the kernel as PTX.

    Raises InternalError where lifting it, or translating what was lifted, fails other than by a refusal.
    """
    try:
        if plain.program.allocates:  # so that it can't be run both ways: what it frees would be gone
            return None, "allocates memory"
        if any(_WAVES in unit.ptx for unit in plain.linked.units):
            return None, "has waves of 64 lanes, each of which is two warps of its code"
        function = MachineFunction(plain)
        assert function.program
    except (SassError, PtxError, CompilerError) as error:
        return None, str(error)
    return function, ""

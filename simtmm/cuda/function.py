"""A kernel of a linked module, ready to run."""

import copy
from functools import cached_property
from typing import Self

from simtmm.cuda.execution.translation.kept_code import code_that_pays, label_of, machine_code
from simtmm.cuda.execution.translation.machine_code import MachineCode
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.ptx.syntax import Variable
from simtmm.cuda.signature import ParameterType, signature
from simtmm.errors import InternalError, PtxError, SimtmmError
from simtmm.own_faults import with_report


class KernelFunction:
    """A kernel: its program, its machine code, and its parameters."""

    is_quick = False
    is_checked = False
    is_watched = False

    def __init__(self, linked: LinkedModule, entry: str) -> None:
        """entry: as PTX has it.

        linked: the module that it is of.
        """
        self.linked, self.entry = linked, entry

    @cached_property
    def program(self) -> Program:
        """Translated.

        Raises PtxError for an instruction that is not known, and for what the assembler refuses; InternalError where
        the translation of PTX that it takes fails.
        """
        try:
            program = Program(
                self.linked.module, self.entry, self.linked.place, checks=self.is_checked, watches=self.is_watched
            )
            self._assembly = program.assembly()
        except InternalError as error:
            raise self._judged(error) from error.__cause__
        return program

    def _judged(self, error: InternalError) -> SimtmmError:
        """How a failed translation is reported: PTX that the assembler refuses is no fault of ours."""
        complaint = self.linked.complaint
        if complaint is not None:
            return PtxError(str(complaint))
        return with_report(error, {f"{unit.name}.ptx": unit.ptx for unit in self.linked.units})

    @cached_property
    def code(self) -> MachineCode:
        """Compiled, or from the cache."""
        assert self.program
        label = label_of(self.entry)
        return machine_code(self._assembly, label, True) if self.is_quick else code_that_pays(self._assembly, label)

    @cached_property
    def quick(self) -> Self:
        """The same kernel, for a moment's run: compiled in a third of the time, to run half as fast."""
        assert self.program
        twin = copy.copy(self)
        twin.__dict__.pop("code", None)
        twin.is_quick = True
        return twin

    @cached_property
    def checked(self) -> Self:
        """The same kernel, whose log holds all that the checks look at (simtmm/cuda/checks)."""
        twin = self._twin()
        twin.is_checked = True
        return twin

    @cached_property
    def watched(self) -> Self:
        """The same kernel, which a launch of this one may go on in (simtmm/cuda/execution/livelock)."""
        twin = self._twin()
        twin.is_watched = twin.is_quick = True
        return twin

    def _twin(self) -> Self:
        """The same kernel, to be translated anew."""
        twin = copy.copy(self)
        for name in ("program", "code", "quick", "checked", "watched"):
            twin.__dict__.pop(name, None)
        return twin

    def shared_bytes(self, dynamic: int) -> int:
        """Shared memory of a block, of a launch with so much of it in addition to what the kernel declares [bytes].

        dynamic: bytes that the launch adds.
        """
        return self.program.dynamic_offset + dynamic if dynamic else self.program.shared_bytes

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """What it takes, in order: type and bytes of each."""
        return self.linked.module.functions[self.entry].parameters

    @cached_property
    def declared(self) -> tuple[ParameterType, ...] | None:
        """Its parameters as the source declares them; None where nobody knows."""
        return signature(self.linked, self.entry)

    @property
    def most_threads(self) -> int | None:
        """Threads of a block by its launch bounds; None if it has none."""
        bounds = self.linked.module.functions[self.entry].bounds
        sizes = bounds.get("reqntid") or bounds.get("maxntid")
        if not sizes:
            return None
        most = 1
        for size in sizes:
            most *= size
        return most

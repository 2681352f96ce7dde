"""A kernel and the functions that it may call, translated to LLVM assembly: one function that runs a warp.

The code of a warp is a loop: of the lanes that can go on, those at the lowest block of code run, until they meet
others that wait there, part, wait or leave. Lanes that stay together go from block to block without a look back.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from simtmm.cuda.execution.control_flow.block_ends import end_block
from simtmm.cuda.execution.control_flow.edges import park_block, tired_block
from simtmm.cuda.execution.control_flow.gathering import gather_lanes
from simtmm.cuda.execution.layout import LAUNCH, LOG_FULL
from simtmm.cuda.execution.livelock.watched_code import watch_block, watch_instruction, watched_runtime
from simtmm.cuda.execution.runtime.assembly_file import assembly_file
from simtmm.cuda.execution.runtime.barrier_places import CallSite, counted
from simtmm.cuda.execution.runtime.check_log import checking_runtime, log_copies, log_fence
from simtmm.cuda.execution.runtime.device_clock import StepClock, clock_functions
from simtmm.cuda.execution.runtime.turn_order import ASCENDING, ordered_runtime
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Emitter, Value
from simtmm.cuda.execution.translation.function_code import FunctionCode, placed
from simtmm.cuda.execution.translation.reachable import mentioned_by, reachable
from simtmm.cuda.ptx.flow.basic_blocks import (
    RECONVERGE,
    Block,
    communicates,
    ends_block,
    gathers,
    looping,
    reaches_other_blocks,
)
from simtmm.cuda.ptx.flow.registers import reads_clocks
from simtmm.cuda.ptx.flow.steps import Step, states_waits
from simtmm.cuda.ptx.forms import complaint, takes
from simtmm.cuda.ptx.passing import prototype_of
from simtmm.cuda.ptx.syntax import Function, Instruction, Location, Module, Prototype, Register, Symbol
from simtmm.errors import PtxError, cut
from simtmm.own_faults import told_as_ours

Place = Callable[[str, Location | None], tuple[str, int, str]]  # of a function and a location: file, line, text

FUEL = 1 << 18  # rounds of loops that a warp may do in its turn


@dataclass(frozen=True)
class Site:
    """The meaning of a number in the log: a step of a function."""

    function: str
    step: Step


@dataclass(eq=False)
class Program:
    """A kernel, translated when `assembly` is first read.

    place: finds lines of source. fuel: rounds of loops that lanes do before others have their turn. shared: offsets of
    variables in shared memory. shared_bytes: of the static ones. checks: whether the log holds accesses and
    what orders them, for simtmm/cuda/checks, in the place of what a trace holds. order: of ORDERS (turn_order.py), in
    which blocks, warps, and lanes of an atomic operation have their turns. calls: for checks, those that lead to
    barriers. watches: whether what may let somebody go on is counted (livelock/watched_code.py). times: whether it
    reads a clock, so that warps have one each. clock_slots: of values that are under way for it, by register or
    scoreboard. symbols: variables whose addresses the launch supplies. accesses: the instructions that access memory,
    by their numbers in faults, with their functions. sites: by their numbers in the log.
    """

    module: Module
    entry: str
    place: Place | None = None
    fuel: int = FUEL
    shared: dict[str, int] = field(default_factory=dict)
    shared_bytes: int = 0
    symbols: list[str] = field(default_factory=list)
    accesses: list[tuple[str, Instruction]] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    function_numbers: dict[str, int] = field(default_factory=dict)
    codes: list[FunctionCode] = field(default_factory=list)
    helpers: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    has_calls: bool = False
    calls_host: bool = False
    allocates: bool = False
    meets_as_grid: bool = False
    parked: set[int] = field(default_factory=set)
    tired: set[int] = field(default_factory=set)
    checks: bool = False
    watches: bool = False
    order: str = ASCENDING
    times: bool = field(default=False, init=False)
    clock_slots: dict[str, int] = field(default_factory=dict, init=False)
    calls: list[CallSite] = field(default_factory=list)

    def __post_init__(self) -> None:
        functions = reachable(self.module, self.entry)
        if not functions:
            raise PtxError(f"kernel {self.entry}: is declared, and has no body")
        self._place_shared(functions)
        if self.checks:
            functions, self.calls = counted(functions)
        first = 0
        for number, function in enumerate(functions):
            self.function_numbers[function.name] = number
            code = FunctionCode(self, function, number, first)
            self.codes.append(code)
            first += len(code.flow.blocks)
            self.sites += [Site(function.name, step) for block in code.steps for step in block if step.is_recorded]
        self.blocks = first
        self.times = any(
            reads_clocks(instruction)
            for code in self.codes
            for block in code.flow.blocks
            for instruction in block.instructions
        )
        self.turn_ends = [code.first_block + number for code in self.codes for number in sorted(code.flow.turn_ends)]
        self.has_calls = len(functions) > 1
        self.reconverges = any(
            instruction.has(RECONVERGE)
            for code in self.codes
            for block in code.flow.blocks
            for instruction in block.instructions[:1]
        )
        self.states_waits = states_waits([code.flow for code in self.codes])
        seeing = self._through_calls(communicates)
        for code in self.codes if self.has_calls else ():
            code.flow = replace(code.flow, waiting=looping(code.flow.blocks, seeing))
        reaching = self._through_calls(reaches_other_blocks)
        self.communicates = any(looping(code.flow.blocks, reaching) for code in self.codes)
        self.is_independent = not any(
            communicates(instruction)
            for code in self.codes
            for block in code.flow.blocks
            for instruction in block.instructions
        )

    def _through_calls(self, does: Callable[[Instruction], bool]) -> Callable[[Instruction], bool]:
        """Whether an instruction does something, or calls what does."""
        seeing: set[str] = set()

        def sees(instruction: Instruction) -> bool:
            if instruction.opcode != "call":
                return does(instruction)
            targets = {each.name for each in instruction.operands if isinstance(each, Symbol)}
            is_indirect = any(isinstance(each, Register) for each in instruction.operands)
            return bool(seeing) if is_indirect else bool(seeing & targets)

        before = -1
        while len(seeing) > before:
            before = len(seeing)
            seeing |= {
                code.function.name
                for code in self.codes
                if any(sees(instruction) for block in code.flow.blocks for instruction in block.instructions)
            }
        return sees

    def _place_shared(self, functions: list[Function]) -> None:
        used = {operand_name for function in functions for operand_name in mentioned_by(function)}
        outer = [v for v in self.module.variables.values() if v.space == "shared" and v.name in used]
        every = {variable.name: variable for variable in outer}
        for function in functions:
            for variable in function.variables:
                if variable.space == "shared":
                    name = self.shared_name(function.name, variable.name) if variable.name in every else variable.name
                    every[name] = replace(variable, name=name)
        self.shared, self.shared_bytes = placed(v for v in every.values() if v.size)
        for variable in every.values():
            if not variable.size:
                self.shared[variable.name] = -(-self.dynamic_offset // variable.align) * variable.align

    @staticmethod
    def shared_name(function: str, name: str) -> str:
        """The name of a function's variable in shared memory if another has its name.

        function, name: of the function and the variable.
        """
        return f"{name}@{function}"

    @property
    def dynamic_offset(self) -> int:
        """The offset of dynamic shared memory, for a launch that has some [bytes]."""
        return -(-self.shared_bytes // 16) * 16

    @property
    def entry_code(self) -> FunctionCode:
        """The code of the kernel itself."""
        return self.codes[0]

    def symbol(self, name: str) -> int:
        """The number of a variable in the launch's table.

        name: of the variable.
        """
        if name not in self.symbols:
            self.symbols.append(name)
        return self.symbols.index(name)

    def refusal(self, function: str, instruction: Instruction, why: str) -> PtxError:
        """The error that an instruction of a function cannot run, with its source line.

        function: its name.
        why: the reason, as messages end.
        """
        return PtxError(f"{self.where(function, instruction)} {why}")

    def where(self, function: str, instruction: Instruction) -> str:
        """An instruction of a function with its places, as messages begin with it.

        function: its name.
        """
        where = f"PTX line {instruction.line}"
        if self.place is not None:
            file, line, _ = self.place(function, instruction.location)
            where = f"{file}:{line}: {where}" if line else f"{file}: {where}"
        return f"{where}: `{cut(instruction.text, 200)}`"  # a wgmma names 128 registers

    def prototype(self, name: str) -> Prototype | None:
        """The parameters and results of a function of the module; None if the module lacks it.

        name: as PTX has it.
        """
        return prototype_of(self.module, name)

    def code_of(self, number: int) -> FunctionCode:
        """The function that a block of code belongs to.

        number: the block's in the program.
        """
        return max((code for code in self.codes if code.first_block <= number), key=lambda code: code.first_block)

    def waiting_at(self, number: int, behind_barrier: bool) -> tuple[str, Instruction | None]:
        """The function and the instruction that lanes at a block of code wait for: its first, or the barrier before.

        number: the block's in the program.
        behind_barrier: whether lanes wait at the barrier before it.
        """
        code = self.code_of(number)
        blocks = code.flow.blocks
        if not behind_barrier:
            return code.function.name, next(iter(blocks[number - code.first_block].instructions), None)
        before = (b for b in blocks if b.behind == number - code.first_block and b.instructions)
        barriers = (b.instructions[-1] for b in before if b.instructions[-1].opcode in ("bar", "barrier"))
        return code.function.name, next(barriers, None)

    def helper(self, name: str, make: Callable[[], str]) -> None:
        """Add a helper function that the code needs, once.

        name: what the code calls it by.
        make: gives its text.
        """
        if name not in self.helpers:
            self.helpers[name] = make()

    def assembly(self) -> str:
        """The whole of it as LLVM assembly. Raises PtxError for what is not known."""
        emit = Emitter(self.declared)
        if self.times:
            clock_functions(self)
        for code in self.codes:
            for block in code.flow.blocks:
                self._block(emit, code, block)
        for number in sorted(self.parked):
            park_block(emit, number)
        for number in sorted(self.tired):
            tired_block(emit, number)
        basis = ordered_runtime(assembly_file("runtime.ll"), self.order)
        basis = checking_runtime(basis) if self.checks else basis
        runtime = "\n".join((watched_runtime(basis) if self.watches else basis, *self.helpers.values()))
        declared = "\n".join(text for name, text in self.declared.items() if f"@{name}(" not in runtime)
        return "\n".join((runtime, declared, self._head(), *emit.lines, "}", ""))

    def _block(self, emit: Emitter, code: FunctionCode, block: Block) -> None:
        from simtmm.cuda.execution.instructions import HANDLERS  # late: code that is stored needs none of them

        emit.label(f"B{(number := code.first_block + block.number)}")
        if block.instructions and gathers(block.instructions[0]):
            gather_lanes(emit, code, block)
        self._check_log(emit, number)
        mask = emit.load("i32", "%mask")
        frame = emit.load("ptr", "%frame").name
        context = Context(emit, code, mask, frame)
        context.number = number
        if self.watches:
            watch_block(context)
        sites = count(code.first_sites[block.number])
        for step in code.steps[block.number]:
            site = next(sites) if step.is_recorded else -1
            if step.is_recorded and step.access is None:
                emit.call("log.work", "void", Value("%launch", "ptr"), Value(str(site), "i32"), mask)
            clock = StepClock(context, step) if self.times else None
            for instruction in step.instructions:
                if clock is not None:
                    clock.before(instruction)
                if self.watches and instruction.opcode:
                    context.begin(instruction)
                    watch_instruction(context, instruction)
                context.site = site if instruction is step.access else -1
                if not instruction.opcode or ends_block(instruction) or code.is_constant(instruction):
                    continue
                handler = HANDLERS.get(instruction.opcode)
                if handler is None:
                    context.begin(instruction)
                    raise context.refuse()
                with self._translated(context, instruction):
                    if self.checks:
                        log_fence(context, instruction)
                        log_copies(context, instruction)
                    handler(context, instruction)
            if clock is not None:
                clock.end()
        with self._translated(context, block.instructions[-1] if block.instructions else None):
            end_block(context, block)

    @contextmanager
    def _translated(self, context: Context, instruction: Instruction | None) -> Iterator[None]:
        """Raises PtxError where the instruction's operands are of no form that it takes.

        Raises InternalError where its translation fails other than by a refusal.
        """
        if instruction is None:
            yield
            return
        context.begin(instruction)
        if instruction.issue is None:  # written as PTX, not lifted from machine code, which has forms of its own
            wrong = complaint(instruction, context.code.registers)
        else:
            wrong = None if takes(instruction) else "has operands that it does not take"
        if wrong:
            raise context.refuse(wrong)
        with told_as_ours(f"{self.where(context.code.function.name, instruction)} was not translated"):
            yield

    def _check_log(self, emit: Emitter, number: int) -> None:
        """Come back where the log is nearly full: an access at once, and the others of the block, must fit."""
        at = emit.field("i64", "%launch", int(LAUNCH.fields["log"][1]))  # type: ignore[index]
        limit = emit.field("i64", "%launch", int(LAUNCH.fields["log_limit"][1]))  # type: ignore[index]
        full = emit.compare("icmp ugt", at, limit)
        emit.do(f"br {full}, label %full{number}, label %go{number}")
        emit.label(f"full{number}")
        emit.call("park", "void", Value("%warp", "ptr"), emit.load("i32", "%mask"), Value(str(number), "i32"))
        emit.do(f"ret i32 {LOG_FULL}")
        emit.label(f"go{number}")

    def _head(self) -> str:
        cases = "\n".join(f"    i32 {number}, label %B{number}" for number in range(self.blocks))
        group = assembly_file("activations.ll") if self.has_calls else "  %group = bitcast <32 x i1> %same to i32"
        return assembly_file("warp.ll").replace("    ; BLOCKS", cases).replace("; GROUP", group)

"""A kernel's machine code as a function of PTX, which runs as any other and records what the machine issues."""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from simtmm.cuda.compilers.binaries.disassembly import Disassembly
from simtmm.cuda.execution.runtime.built_in import BUILT_IN
from simtmm.cuda.ptx.flow.steps import COPIES
from simtmm.cuda.ptx.renaming import renamed
from simtmm.cuda.ptx.syntax import Function, Instruction, Issue, Module, Variable
from simtmm.cuda.sass.clusters import knows_clusters
from simtmm.cuda.sass.environment import with_plain_environment
from simtmm.cuda.sass.families import HANDLERS
from simtmm.cuda.sass.forms import takes
from simtmm.cuda.sass.launch_constants import HEAD_FROM, SHARED_HEAD, LaunchConstants
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.listing import parse_listing, with_lines_of_calls, with_lines_of_textures
from simtmm.cuda.sass.register_banks import BANKED_FROM, cycles_of_operands
from simtmm.cuda.sass.sources import Banks
from simtmm.cuda.sass.stack import stack_of
from simtmm.cuda.sass.syntax import Boards, Listing, MachineInstruction, MachineLabel, Number, Word
from simtmm.cuda.sass.work import class_of, result_class
from simtmm.cuda.sass.writing import functions_of
from simtmm.errors import SassError
from simtmm.own_faults import told_as_ours

COMMITS = "LDGDEPBAR"  # makes a group of the copies so far, which its scoreboard counts until they are there
_LOADS = re.compile(r"LDG|LD|LDL|LDS|LDSM|LDC|ULDC|LDCU|ATOM|ATOMG|LDGSTS|TEX|TLD4?|SULD")


@dataclass(frozen=True)
class LiftedKernel:
    """A kernel lifted to PTX.

    module: that its function stands in, by the kernel's name. listing: what it was lifted from.
    """

    module: Module
    listing: Listing

    @property
    def at_once(self) -> list[str]:
        """Opcodes that set a scoreboard, load nothing from memory and are of no class that latencies are known of."""
        found = {
            each.opcode
            for each in self.listing.instructions
            if each.control.written is not None
            and not _LOADS.fullmatch(each.opcode)
            and each.opcode != COMMITS
            and result_class(each) is None
        }
        return sorted(found)


def lifted_kernel(
    module: Module, entry: str, disassembly: Disassembly, architecture: int, stack_bytes: int
) -> LiftedKernel:
    """A kernel, lifted from its machine code.

    module: the PTX that was assembled. stack_bytes: of a thread's local memory, as the assembler says.

    Raises SassError for an instruction that is not known.
    """
    function = module.functions[entry]
    listing = parse_listing(disassembly.code_of(entry), entry)
    sources = dict.fromkeys([entry, *module.functions_at({each.ptx_line for each in listing.instructions})])
    instructions = [
        item for name in sources for item in module.functions[name].body or () if isinstance(item, Instruction)
    ]
    _check_maps(instructions)
    locations = {each.line: each.location for each in instructions}
    listing = with_lines_of_textures(with_lines_of_calls(listing, locations), instructions)
    listing = with_plain_environment(listing)
    stack_bytes = stack_of(listing, functions_of(listing), stack_bytes)
    constants = LaunchConstants(architecture, stack_bytes, function.parameters)
    banks = Banks(
        constants,
        tuple(sorted((offset, size, name) for name, (offset, size) in disassembly.variables.items())),
        {
            int(found[1]): content
            for section, content in disassembly.constants.items()
            if (found := re.fullmatch(rf"\.nv\.constant([125-9])(?:\.{re.escape(entry)})?", section))
        },
        {
            offset: (name, added)
            for offset, (name, added) in disassembly.addresses.items()
            if name in module.variables or name in BUILT_IN
        },
    )
    lifting = Lifting(banks, listing, locations, architecture >= HEAD_FROM and knows_clusters(instructions))
    targets = _targets(lifting, listing)
    boards = {each.control.written for each in listing.instructions if each.opcode == COMMITS} - {None}
    operand_cycles = cycles_of_operands(listing) if architecture >= BANKED_FROM else {}
    for instruction in listing.instructions:
        if instruction.address in targets:
            lifting.begin_place(instruction.address)
        handler = HANDLERS.get(instruction.opcode)
        if handler is None:
            raise SassError(f"`{instruction.text}` is not supported")
        if not takes(instruction):
            raise SassError(f"`{instruction.text}` has unsupported operands")
        lifting.begin(instruction, _issue(instruction, boards, operand_cycles.get(instruction.address, 0)))
        with told_as_ours(f"`{instruction.text}` was not lifted"):
            handler(lifting, instruction)
            lifting.end()
    shared = max(disassembly.shared_bytes.get(entry, 0), SHARED_HEAD if architecture >= HEAD_FROM else 0)
    aligned = max((v.align for v in module.variables.values() if v.space == "shared"), default=1)
    shared = -(-shared // aligned) * aligned  # where dynamic shared memory begins
    variables = [Variable("stack", "local", "b8", 16, stack_bytes)] if stack_bytes else []
    variables += lifting.variables.values()
    if shared:
        variables.append(Variable("shared", "shared", "b8", 16, shared))
    lifted = Function(
        entry,
        True,
        (),
        (Variable("parameters", "param", "b8", 16, constants.parameter_bytes),),
        dict(lifting.registers),
        tuple(variables),
        tuple(lifting.body),
        lifting.tables,
        bounds=function.bounds,
        line=function.line,
    )
    known = {name: variable for name, variable in module.variables.items() if variable.space != "shared"}
    lifted_module = Module(module.version, module.target, module.files, known, {entry: renamed(lifted)})
    return LiftedKernel(lifted_module, listing)


def _check_maps(instructions: Iterable[Instruction]) -> None:
    """Machine code replaces a field of a tensor map by writing the bits that it has in NVIDIA's own format."""
    if any(each.opcode == "tensormap" and each.has("replace") for each in instructions):
        raise SassError("machine code of tensormap.replace writes NVIDIA's own format of tensor maps, not simtmm's")


def _issue(instruction: MachineInstruction, boards: Set[int | None], operand_cycles: int) -> Issue:
    """What the instruction costs its warp, waits for, and gives.

    boards: scoreboards that count groups of copies. operand_cycles: see Issue.
    """
    control = instruction.control
    gives: tuple[str, ...] = ()
    result = None
    if control.written is not None and _LOADS.fullmatch(instruction.opcode):
        gives = (_scoreboard(control.written),)
    elif control.written is not None and (name := result_class(instruction)):
        result = name, _scoreboard(control.written)
    if instruction.opcode in ("LDGSTS", "UBLKCP"):
        gives = (*gives, COPIES)
    needs = (*map(_scoreboard, control.waits), *((COPIES,) if boards & set(control.waits) else ()))
    awaited, in_flight = _waited_for(instruction, {_scoreboard(each) for each in boards if each is not None})
    work, stall = class_of(instruction), max(0, control.stall - 1)
    return Issue(
        work,
        stall,
        (*needs, *awaited),
        gives,
        commits=instruction.opcode == COMMITS,
        in_flight=in_flight,
        result=result,
        operand_cycles=operand_cycles,
        recorded=True,
        address=instruction.address,
    )


def _waited_for(instruction: MachineInstruction, counted: Set[str]) -> tuple[tuple[str, ...], int | None]:
    """What DEPBAR waits for, and how many of the latest groups of copies it leaves where it waits for the others.

    counted: scoreboards that count groups. DEPBAR names one of those and a number, or some scoreboards that are to be
    clear, or both. All that they count is waited for, loads of the latest, too; at 0 all copies, as where several
    scoreboards count groups.
    """
    if instruction.opcode != "DEPBAR":
        return (), None
    clear = tuple(_scoreboard(each) for of in instruction.operands if isinstance(of, Boards) for each in of.numbers)
    copies = (COPIES,) if counted & set(clear) else ()
    match [each for each in instruction.operands if not isinstance(each, Boards)]:
        case [Word(board), Number(left)]:
            if not isinstance(left, int) or left < 0:
                raise SassError(f"`{instruction.text}` does not give a whole number of copies")
            if left and counted == {board} and not copies:
                return (board, *clear), left
            return (board, *clear, *(copies if left and board not in counted else (COPIES,))), None
        case _:
            return (*clear, *copies), None


def _scoreboard(number: int) -> str:
    """What a scoreboard is called among what steps need and give."""
    return f"SB{number}"


def _targets(lifting: Lifting, listing: Listing) -> set[int]:
    """Addresses that something may jump to."""
    labels = {item.address for item in listing.items if isinstance(item, MachineLabel)}
    return labels | set(lifting.places_behind_calls)

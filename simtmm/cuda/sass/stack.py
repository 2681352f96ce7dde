"""How much local memory a thread needs: the assembler tells, but for functions that call themselves, or by pointers."""

from bisect import bisect_right
from collections.abc import Mapping

from simtmm.cuda.execution.launches.launch import LOCAL_STACK
from simtmm.cuda.sass.syntax import Listing, MachineLabel, Reg, Target

ALIGNED = 16  # bytes: the stack ends at a multiple, as what is aligned in a frame counts from there


def stack_of(listing: Listing, functions: Mapping[str, int], known: int) -> int:
    """Bytes of a thread's local memory.

    functions: addresses of those that are called, by name. known: what the assembler says, without what nobody can know
    before the kernel runs.

    Where a function calls itself, or calls are by pointers, PTX's functions have as much beside it.
    """
    bytes_of_all = known + LOCAL_STACK if _is_deeper(listing, functions) else known
    return -(-bytes_of_all // ALIGNED) * ALIGNED


def _is_deeper(listing: Listing, functions: Mapping[str, int]) -> bool:
    """Whether calls may lie within each other without end, or lead where a register says."""
    starts = sorted({0, *functions.values()})
    labels = {item.name: item.address for item in listing.items if isinstance(item, MachineLabel)}
    called: dict[int, set[int]] = {start: set() for start in starts}
    for each in listing.instructions:
        if each.opcode != "CALL":
            continue
        target = each.operands[0] if each.operands else None
        if isinstance(target, Reg) and each.has("REL"):
            return True
        # To another place than the begin of a function it is a jump: ptxas ends loops so, where nothing comes back.
        if isinstance(target, Target) and labels.get(target.name) in functions.values():
            called[_function_of(starts, each.address)].add(_function_of(starts, labels[target.name]))
    while called:  # those that call no others are done
        done = {start for start, others in called.items() if not others}
        if not done:
            return True
        called = {start: others - done for start, others in called.items() if start not in done}
    return False


def _function_of(starts: list[int], address: int) -> int:
    """Where the function begins that an address lies in."""
    return starts[bisect_right(starts, address) - 1]

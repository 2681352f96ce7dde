"""What is known of a line, of a change that may help it, and what is advised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simtmm.analysis.source_changes.operations import Flags, Operations, firsts
from simtmm.machine import Machine
from simtmm.workload import Workload

WORTH_TRYING = 0.03  # of the time, or of the chunks
VECTOR_BYTES = 16  # that a thread accesses at once, at most
NEARLY_ALL = 0.9  # of the bytes of chunks
SIMULATED, BOUND, ESTIMATE, COMPILED = "simulated", "bound", "estimate", "compiled"


@dataclass(frozen=True)
class Candidate:
    """A change before it is tried. weight: what makes it likely to help. numbers: of its places; none for blocks."""

    change: str
    words: str
    at: tuple[str, int, str]
    weight: float
    how: str
    numbers: tuple[int, ...]
    make: Callable[[Operations, Flags], Workload]


@dataclass(frozen=True)
class Advice:
    """A change of the source.

    change: which, a word of docs/why.md. words: what to do, and why.
    file, line, array: where; "" and 0 if that is the launch.
    gain: the time as it is over the time with the change.
    how: "simulated" where the changed operations are those that the changed source would do, "bound" where they leave
    out something that it takes: the gain is at most this then; "compiled" where the changed source was compiled, run,
    compared and simulated.
    part: what of the run was simulated for it; "" for all.
    """

    change: str
    words: str
    file: str
    line: int
    array: str
    gain: float
    how: str
    part: str

    @property
    def where(self) -> str:
        """The place, as in "sgemm.cu:9 (A)"."""
        at = f"{self.file}:{self.line}" if self.line else ""
        return f"{at} ({self.array})" if self.array and at else at


def all_of(
    several: Sequence[Candidate], change: str, words: str, at: tuple[str, int, str], weight: float, how: str
) -> Candidate:
    """Several changes made one after another."""

    def make(of: Operations, _: Flags) -> Workload:
        for each in several:
            of = Operations(each.make(of, of.at(each.numbers)))
        return of.workload

    return Candidate(change, words, at, weight, how, tuple(number for each in several for number in each.numbers), make)


def chunk_name(machine: Machine) -> str:
    """What a chunk is called where bytes of that size move."""
    return {32: "sector", 64: "line", 128: "line"}.get(machine.chunk_bytes, "chunk")


def rows_of_warp(machine: Machine, across: int) -> int:
    """Rows of a block that the threads of a warp are of. across: threads of a row."""
    return max(1, machine.cores.warp_width // max(1, across))


def ideal_chunks(machine: Machine, of_request: float, across: int) -> int:
    """Chunks of a request whose threads access consecutive elements: those of each row of a block do.

    of_request: bytes that its threads ask for. across: threads of a row.
    """
    rows = rows_of_warp(machine, across)
    return rows * max(1, round(-(-of_request // (rows * machine.chunk_bytes))))


@dataclass
class Line:
    """What was counted of the places of a line at which one array is accessed in one way."""

    at: tuple[str, int, str]
    kind: str
    numbers: list[int]
    ticks: int = 0
    requests: int = 0
    chunks: int = 0
    conflicts: int = 0
    executions: int = 0
    threads: int = 0
    bytes_asked: int = 0


def times_again(machine: Machine, line: Line, of: Operations, chosen: Flags) -> float:
    """How often a warp accesses the same bytes at a line, which are whole chunks each time; 0 where they are not.

    chosen: the line's operations.
    """
    whole = line.chunks * machine.chunk_bytes
    if not whole or not NEARLY_ALL * whole <= line.bytes_asked <= whole:
        return 0.0
    here = of.chunks_of(chosen)
    return len(here) / max(1, int(firsts(of.warp[of.of_chunk[here]], of.workload.chunks[here]).sum()))

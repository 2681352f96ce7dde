"""The code of compiled kernels as text: which instructions a line of source became, and which site recorded them."""

from collections.abc import Iterable
from dataclasses import dataclass

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from simtmm.cuda.ptx.syntax import Instruction, Location, Symbol
from simtmm.trace.schedule import NO_SITE, Listing

MOST = 20_000  # instructions of a trace,
LONGEST = 200  # characters of each

Row = tuple[str, tuple[str, int], int]  # text, place, site


@dataclass
class Room:
    """What there is room for. left: instructions."""

    left: int = MOST

    def listing(self, kernel: str, code: str, rows: list[Row]) -> Listing:
        """Of as many rows as there is room for."""
        kept = rows[: self.left]
        self.left -= len(kept)
        texts, places, sites = zip(*kept, strict=True) if kept else ((), (), ())
        return Listing(kernel, code, texts, places, sites, len(rows) - len(kept))


def machine_listing(function: MachineFunction, first: int | None, room: Room) -> Listing:
    """A kernel as machine code. first: the number of its first site, None if it was not run."""
    of_addresses: dict[int, tuple[int, Location | None]] = {}
    for code in function.program.codes:
        for block in code.flow.blocks:
            for instruction in block.instructions:
                if instruction.issue is not None and instruction.issue.address >= 0:
                    of_addresses[instruction.issue.address] = (NO_SITE, instruction.location)
    if first is not None:
        for number, site in enumerate(function.program.sites):
            for instruction in site.step.instructions:
                if instruction.issue is not None and instruction.issue.address >= 0:
                    of_addresses[instruction.issue.address] = (first + number, instruction.location)
    rows: list[Row] = []
    for each in function.lifted.listing.instructions:
        recorded, location = of_addresses.get(each.address, (NO_SITE, None))
        rows.append((each.text[:LONGEST], _place(function.linked, function.entry, location), recorded))
    return room.listing(bare_name(function.entry), "sass", rows)


def ptx_listing(function: KernelFunction, first: int | None, room: Room) -> Listing:
    """A kernel as PTX, with the functions that it calls. first: as above."""
    of_lines: dict[tuple[str, int], int] = {}
    if first is not None:
        for number, site in enumerate(function.program.sites):
            for instruction in site.step.instructions:
                of_lines[site.function, instruction.line] = first + number
    rows = []
    for name, instruction in _instructions(function.linked, function.entry):
        place = _place(function.linked, name, instruction.location)
        rows.append((instruction.text[:LONGEST], place, of_lines.get((name, instruction.line), NO_SITE)))
    return room.listing(bare_name(function.entry), "ptx", rows)


def _instructions(linked: LinkedModule, entry: str) -> Iterable[tuple[str, Instruction]]:
    """Those of a kernel and of what it calls by name, function by function."""
    functions = linked.module.functions
    known = [entry]
    for name in known:  # grows
        for item in functions[name].body or ():
            if not isinstance(item, Instruction):
                continue
            yield name, item
            if item.opcode == "call":
                called = [part.name for part in item.operands if isinstance(part, Symbol)]
                known += [other for other in called if other in functions and other not in known]


def _place(linked: LinkedModule, function: str, location: Location | None) -> tuple[str, int]:
    """The file and line of source, as sites have them."""
    if location is None:
        return "", 0
    file, line, _ = linked.place(function, linked.readable_location(function, location))
    return (file, line) if line else ("", 0)

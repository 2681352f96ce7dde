"""What the instructions of a compiled kernel's trace are: their order and waits as far as known, and their texts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KINDS = ("machine code", "ptx")
CODES = ("sass", "ptx")
NO_SITE = -1


@dataclass(frozen=True)
class Schedule:
    """Of a kernel.

    instructions: "machine code", the machine's own in their order, with stalls and waits as the assembler set them; or
        "ptx", in the order of PTX, an issue slot an instruction.
    target: what it was assembled for, such as "sm_90".
    compared_blocks: blocks whose results were compared with those of PTX; 0 if none could be.
    at_once: instructions whose latency their code does not give; here their results are ready at once.
    why: why PTX's order was taken; "" for machine code.
    compiler: releases that compiled and assembled it, in words; "" where nobody knows.
    fault: of simtmm, that was met when its machine code was lifted or compared, in words; "" for none.
    """

    kernel: str
    instructions: str
    target: str
    compared_blocks: int = 0
    at_once: tuple[str, ...] = ()
    why: str = ""
    compiler: str = ""
    fault: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Schedule":
        """From `to_dict`'s form.

        table: what `to_dict` gave.

        Raises KeyError, TypeError or ValueError where it is not of that form.
        """
        if table["instructions"] not in KINDS:
            raise ValueError(f"instructions = {table['instructions']!r}: must be {' or '.join(KINDS)}")
        return cls(
            str(table["kernel"]),
            str(table["instructions"]),
            str(table["target"]),
            int(table["compared_blocks"]),
            tuple(str(name) for name in table["at_once"]),
            str(table["why"]),
            str(table.get("compiler", "")),  # which traces recorded before have not, nor
            str(table.get("fault", "")),
        )

    @property
    def summary(self) -> str:
        """What is exact and what is estimated, in a line."""
        if self.instructions == "ptx":
            return "PTX's instructions, an issue slot each, in PTX's order; waits where a value is first needed"
        exact = f"{self.target}: instructions, order, stall cycles and waits for loads are the assembler's"
        left = f"; results of {', '.join(self.at_once)} are available at once" if self.at_once else ""
        blocks = f"{self.compared_blocks:,} block{'s' * (self.compared_blocks != 1)}"
        checked = f"results equal PTX's on {blocks}" if self.compared_blocks else "results not compared with PTX's"
        by = f"; compiled by {self.compiler}" if self.compiler else ""
        return f"{exact}{left}; {checked}{by}"


@dataclass(frozen=True)
class Listing:
    """The text of a kernel's code, in its order.

    code: "sass" or "ptx". texts: of instructions. places: of each the file and line of source that it belongs to, ("",
    0) for none. sites: of each the site of the trace that it was recorded in, NO_SITE for none. left: instructions that
    there was no room for.
    """

    kernel: str
    code: str
    texts: tuple[str, ...]
    places: tuple[tuple[str, int], ...]
    sites: tuple[int, ...]
    left: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON, each place once."""
        known = list(dict.fromkeys(self.places))
        numbers = {place: number for number, place in enumerate(known)}
        return {
            "kernel": self.kernel,
            "code": self.code,
            "texts": list(self.texts),
            "known": [list(place) for place in known],
            "places": [numbers[place] for place in self.places],
            "sites": list(self.sites),
            "left": self.left,
        }

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Listing":
        """From `to_dict`'s form.

        table: what `to_dict` gave.

        Raises KeyError, TypeError, ValueError or IndexError where it is not of that form.
        """
        if table["code"] not in CODES:
            raise ValueError(f"code = {table['code']!r}: must be {' or '.join(CODES)}")
        known = [(str(file), int(line)) for file, line in table["known"]]
        numbers = [int(number) for number in table["places"]]
        texts, sites = tuple(map(str, table["texts"])), tuple(map(int, table["sites"]))
        if not len(texts) == len(numbers) == len(sites) or any(number < 0 for number in numbers):
            raise ValueError("texts, places and sites: must be as many")
        places = tuple(known[number] for number in numbers)
        return cls(str(table["kernel"]), str(table["code"]), texts, places, sites, int(table["left"]))

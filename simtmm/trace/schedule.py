"""What the instructions of a compiled kernel's trace are, and what is known of their order and their waits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KINDS = ("machine code", "ptx")


@dataclass(frozen=True)
class Schedule:
    """Of a kernel.

    instructions: "machine code", the machine's own in their order, with stalls and waits as the assembler set them; or
        "ptx", in the order of PTX, an issue slot an instruction.
    target: what it was assembled for, such as "sm_90".
    compared_blocks: blocks whose results were compared with those of PTX; 0 if none could be.
    at_once: instructions whose results take a time that their code does not tell; here they are there at once.
    why: why PTX's order was taken; "" for machine code.
    """

    kernel: str
    instructions: str
    target: str
    compared_blocks: int = 0
    at_once: tuple[str, ...] = ()
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Schedule":
        """From `to_dict`'s form. Raises KeyError, TypeError or ValueError where it is not of that form."""
        if table["instructions"] not in KINDS:
            raise ValueError(f"instructions = {table['instructions']!r}: must be {' or '.join(KINDS)}")
        return cls(
            str(table["kernel"]),
            str(table["instructions"]),
            str(table["target"]),
            int(table["compared_blocks"]),
            tuple(str(name) for name in table["at_once"]),
            str(table["why"]),
        )

    @property
    def told(self) -> str:
        """What is exact and what is estimated, in a line."""
        if self.instructions == "ptx":
            return "PTX's instructions, an issue slot each, in PTX's order; waits where a value is first needed"
        exact = f"{self.target}: instructions, order, stall cycles and waits for loads are the assembler's"
        left = f"; results of {', '.join(self.at_once)} are there at once" if self.at_once else ""
        blocks = f"{self.compared_blocks:,} block{'s' * (self.compared_blocks != 1)}"
        checked = f"results equal PTX's on {blocks}" if self.compared_blocks else "results not compared with PTX's"
        return f"{exact}{left}; {checked}"

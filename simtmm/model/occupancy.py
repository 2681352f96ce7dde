"""Occupancy: how many blocks and warps of a launch a core group holds at once.

Source: Ma, dissertation (2014), section 5.1.1, Eq (5.1) and (5.2), Tables 5.1 and 5.2.
"""

from dataclasses import dataclass
from typing import Any

from simtmm.machine import Machine
from simtmm.trace.schema import TraceLaunch


@dataclass(frozen=True)
class Occupancy:
    """active_blocks: B_a, blocks of a group; terms: what each resource allows, None for no limit; bound: the
    resource that allows fewest; warps, most_warps: of a group, resident and at most.
    """

    active_blocks: int
    terms: dict[str, int | None]
    bound: str
    warps: int
    most_warps: int

    @property
    def fraction(self) -> float:
        """Resident warps over the most a group can hold: what profilers call theoretical occupancy."""
        return self.warps / self.most_warps

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "active_blocks": self.active_blocks,
            "bound": self.bound,
            "terms": self.terms,
            "warps": self.warps,
            "most_warps": self.most_warps,
            "fraction": self.fraction,
        }


def occupancy(machine: Machine, launch: TraceLaunch) -> Occupancy:
    """The occupancy of a launch: B_a = min(Z / Z_B, R / (R_T T_r), B_max / (P / Q), T_maxMP / T_r), each rounded down.

    A fifth term, warps, is what whole warps take where T_r is no multiple of W (machine rules, section 6). Raises
    MachineError where no block fits.
    """
    T_r, R_T, Z_B = launch.threads_per_block, launch.registers_per_thread, launch.local_memory_bytes
    B_a = machine.active_blocks(T_r, R_T, Z_B)  # Eq. (5.2)
    terms = machine.block_limits(T_r, R_T, Z_B)
    bound = next(resource for resource, blocks in terms.items() if blocks == B_a)
    warps = -(-T_r // machine.cores.warp_width)
    return Occupancy(B_a, terms, bound, B_a * warps, machine.warps_per_group)

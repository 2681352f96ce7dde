"""The loops of a function: its strongly connected blocks, and recursively those inside each, without its header."""

from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.cuda.ptx.flow.basic_blocks import Block, components


@dataclass(frozen=True)
class Loop:
    """A loop. header: the block that each trip begins with. members: all of its blocks. entered_from: blocks outside
    that lead into it.
    """

    header: int
    members: frozenset[int]
    entered_from: tuple[int, ...]


def loops(blocks: Sequence[Block]) -> list[Loop]:
    """Those of a function, outer ones first."""
    edges = [block.targets for block in blocks]
    found: list[Loop] = []
    pending = [list(range(len(blocks)))]
    while pending:
        nodes = pending.pop(0)
        inside = set(nodes)
        for component in components(nodes, edges, inside, nodes[0]):
            members = frozenset(component)
            if len(component) == 1 and component[0] not in edges[component[0]]:
                continue
            entered_from = tuple(n for n in range(len(blocks)) if n not in members and members & set(edges[n]))
            entered = [n for n in component if n == 0 or any(n in edges[other] for other in entered_from)]
            header = min(entered or component)
            found.append(Loop(header, members, entered_from))
            if rest := sorted(members - {header}):
                pending.append(rest)
    return found

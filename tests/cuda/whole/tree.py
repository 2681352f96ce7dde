"""A drawn source as a tree, from which parts can be taken."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Node:
    """A statement or a declaration: lines that stand or fall together, or blocks behind heads.

    head: its text; in front of blocks, empty. blocks: each a head, as "if (a) {", and what stands in it. tail: behind
    them.
    """

    head: str = ""
    blocks: tuple[tuple[str, tuple["Node", ...]], ...] = ()
    tail: str = "}"

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Its text, line by line."""
        for line in self.head.splitlines():
            yield "  " * depth + line
        for head, nodes in self.blocks:
            yield "  " * depth + head
            for node in nodes:
                yield from node.lines(depth + 1)
        if self.blocks:
            yield "  " * depth + self.tail

    def smaller(self) -> Iterator[tuple["Node", ...]]:
        """What may stand in its place, with less in it: nothing, what is in its blocks, or it with a smaller block."""
        yield ()
        for _, nodes in self.blocks:
            yield nodes
        for at, (head, nodes) in enumerate(self.blocks):
            for fewer in smaller(nodes):
                yield (replace(self, blocks=(*self.blocks[:at], (head, fewer), *self.blocks[at + 1 :])),)


def smaller(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Nodes with less in them: the most taken out first."""
    size = len(nodes) // 2
    while size > 1:
        for at in range(0, len(nodes), size):
            yield nodes[:at] + nodes[at + size :]
        size //= 2
    for at in reversed(range(len(nodes))):
        for instead in nodes[at].smaller():
            yield nodes[:at] + instead + nodes[at + 1 :]


@dataclass
class Body:
    """Nodes that are being written, one behind the other."""

    nodes: list[Node] = field(default_factory=list)

    def line(self, *texts: str) -> None:
        """Lines that stand or fall together."""
        self.nodes.append(Node("\n".join(texts)))

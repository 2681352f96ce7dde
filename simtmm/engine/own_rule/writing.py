"""The text that is written for a rule: lines, names that are free, and what goes wrong as Python would raise it."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType

from simtmm.engine.own_rule.columns import MOST_TURNS, Asking
from simtmm.engine.own_rule.operands import NotCompiledError, Operand

MOST_LINES = 20_000  # of one rule: helpers are written where they are called


@dataclass
class Frame:
    """A function under way. variables: of its own, by name. names: what others stand for. outer: of a nested function,
    the one around it. function: of which the names of its module are looked up.
    """

    function: FunctionType
    outer: "Frame | None" = None
    variables: dict[str, Operand] = field(default_factory=dict)
    names: dict[str, Operand] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    result: Operand | None = None
    left: str = ""  # the variable that says that the function is left, where a return stands in a loop
    loops: int = 0  # around the statement under way
    definition: ast.FunctionDef | None = None
    is_wrapped: bool = False  # in a loop of one turn, which a return leaves


class Writing:
    """Lines of the text, of the part of Python that simtmm/native compiles."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.of_lines: list[int] = []  # of each the line of the rule that it is written for
        self.frames: list[Frame] = []
        self.lists = 0  # rows of `lists` that are taken
        self.line = 0
        self._depth = 1
        self._names = 0

    @property
    def file(self) -> str:
        """The name of the file of the function under way."""
        return Path(self.frame.function.__code__.co_filename).name if self.frames else ""

    @property
    def frame(self) -> Frame:
        """The function under way."""
        return self.frames[-1]

    def refused(self, node: ast.AST, why: str) -> NotCompiledError:
        """What to raise for a part of a rule."""
        return NotCompiledError(
            getattr(node, "lineno", self.line), why, ast.unparse(node).partition("\n")[0], self.file
        )

    def fresh(self, prefix: str = "t") -> str:
        """A name that is not taken."""
        self._names += 1
        return f"{prefix}{self._names}"

    def write(self, text: str) -> None:
        """A line more."""
        if len(self.lines) >= MOST_LINES:
            raise NotCompiledError(self.line, f"more than {MOST_LINES} steps", "the rule")
        self.lines.append("    " * self._depth + text)
        self.of_lines.append(self.line)

    def keep(self, kind: str, text: str, sure: bool = False) -> Operand:
        """What an expression of the text gives, under a name of its own."""
        name = self.fresh()
        self.write(f"{name} = {text}")
        return Operand(kind, name, sure=sure)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines behind a head, as `if ...:`."""
        self.write(head)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.write("pass_by = 0")
        self._depth -= 1

    def raise_if(self, condition: str) -> None:
        """Where that holds Python raises, or needs more than 64 bits: the run ends here."""
        with self.block(f"if {condition}:"):
            self.write(f"s.asking[{Asking.fault}] = {max(1, self.line)}")

    def count_turn(self) -> None:
        """One more turn of a loop that may have any number of them; too many are left to Python, which can be ended."""
        self.write(f"s.asking[{Asking.turns}] += 1")
        with self.block(f"if s.asking[{Asking.turns}] > {MOST_TURNS}:"):
            self.write(f"s.asking[{Asking.fault}] = {max(1, self.line)}")
            self.write("break")

    def list_row(self) -> int:
        """A row of `lists` that is free."""
        self.lists += 1
        return self.lists - 1

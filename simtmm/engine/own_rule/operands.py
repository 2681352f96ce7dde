"""What expressions of a rule stand for while it is translated."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simtmm.errors import EngineError, SimtmmError

INTEGER, TRUTH, WARP, STATE, OPERATION = "a number", "a truth", "a warp", "a state", "an operation"
NOTHING, TEXT, TUPLE, LIST, ANSWER = "None", "a text", "a tuple", "a list", "an answer"
GROUP, SELF, CALLABLE, MODULE, RANGE = "the group", "the rule", "a function", "a module", "a range"
NUMBERS = (INTEGER, TRUTH, WARP, STATE, OPERATION)  # what is one int64 or truth, and may lie in a variable
WIDEST = 1 << 63
CHANGES = "changes"  # the value of a list that lies in a variable, to which another may be assigned


class NotCompiledError(SimtmmError):
    """A rule is not compiled. line: of its file, 0 where that is not known. word: what stands there."""

    def __init__(self, line: int, why: str, word: str, file: str = "") -> None:
        where = f"{file}, line {line}: " if file and line else f"line {line}: " if line else ""
        super().__init__(f"{where}{why}: {word}")
        self.line, self.why, self.word = line, why, word


class RuleLeftError(EngineError):
    """A compiled rule came to where Python would raise, or needs more than 64 bits."""


@dataclass(frozen=True)
class Operand:
    """What an expression stands for.

    kind: INTEGER and so on. text: a name or a number of the text that is written; of a list, how an element is read,
    with {} for its index; of a WARP its row, -1 for None. value: of what is known when the rule is compiled; of a
    list CHANGES or None. items: of
    a TUPLE; of an ANSWER its row or -1 or -2, and the tick of an Idle; of a RANGE its bounds. count, element: of a
    LIST, the text of its length and the kind of its elements. sure: of a WARP, that it is not None.
    """

    kind: str
    text: str = ""
    value: Any = None
    items: tuple["Operand", ...] = ()
    count: str = ""
    element: str = ""
    sure: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether it is a number or a truth that is known when the rule is compiled."""
        return self.kind in (INTEGER, TRUTH) and self.value is not None

    @property
    def shape(self) -> Any:
        """What a variable that holds it holds: its kind, and of what it has its items' or elements'."""
        return self.kind, tuple(item.shape for item in self.items), self.element

    def flat(self) -> Iterator["Operand"]:
        """It, or the items of a tuple, of its tuples too."""
        if self.kind != TUPLE:
            yield self
        for item in self.items if self.kind == TUPLE else ():
            yield from item.flat()


NONE = Operand(NOTHING, "-1")


def number(value: int) -> Operand:
    """A number that is known."""
    return Operand(INTEGER, str(value), value)


def truth(value: bool) -> Operand:
    """A truth that is known."""
    return Operand(TRUTH, str(bool(value)), bool(value))


def known(value: Any) -> Operand | None:
    """What a value of Python's stands for; None for what can't be told when a rule is compiled."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return truth(value)
    if type(value) is int:
        return number(value) if -WIDEST < value < WIDEST else None
    if isinstance(value, str):
        return Operand(TEXT, value=value)
    if type(value) in (tuple, frozenset):
        items = [known(each) for each in value]
        if None not in items:
            return Operand(TUPLE, items=tuple(item for item in items if item is not None))
    if type(value).__name__ == "module":
        return Operand(MODULE, value=value)
    return Operand(CALLABLE, value=value) if callable(value) else None

"""Names and attributes of a rule: its variables, what its module has, and what it sees of warps and of the group."""

import ast
from types import ModuleType

from simtmm.engine.own_rule.columns import Asking, Seen
from simtmm.engine.own_rule.lookups import MISSING, Lookups
from simtmm.engine.own_rule.operands import (
    ANSWER,
    CALLABLE,
    CHANGES,
    GROUP,
    INTEGER,
    LIST,
    MODULE,
    NOTHING,
    NUMBERS,
    OPERATION,
    SELF,
    STATE,
    TRUTH,
    TUPLE,
    WARP,
    Operand,
    known,
)
from simtmm.engine.own_rule.writing import Frame, Writing
from simtmm.timeline import WarpState
from simtmm.workload import OPERATIONS

NO_OPERATION = len(OPERATIONS)  # of a warp that is not ready
OF_WARPS = {
    "number": Seen.number, "age": Seen.age, "slot": Seen.slot, "ready_time": Seen.ready_time, "block": Seen.block,
    "issued": Seen.issued, "hits": Seen.hits, "misses": Seen.misses,
}  # fmt: skip
OF_GROUPS = {"number": Asking.group, "now": Asking.now, "cycle": Asking.cycle}


class Names(Writing):
    """Names and attributes. fields: of the rule's object, by name: their places, and whether each is a truth. lookups:
    what was found in Python.
    """

    def __init__(self, of: type | None, fields: dict[str, bool]) -> None:
        super().__init__()
        self.of = of
        self.fields = fields
        self.lookups = Lookups()

    # Names

    def found(self, node: ast.Name) -> Operand:
        """What a name stands for."""
        frame: Frame | None = self.frame
        while frame is not None:
            if node.id in frame.variables:
                return frame.variables[node.id]
            if node.id in frame.names:
                return frame.names[node.id]
            if node.id in frame.assigned:
                raise self.refused(node, "may have no value here")
            frame = frame.outer
        value = self.lookups.look(self.frame.function, node.id)
        stands_for = None if value is MISSING else known(value)
        if stands_for is None:
            why = "no such name" if value is MISSING else f"is {type(value).__name__}, which is not compiled"
            raise self.refused(node, why)
        return stands_for

    def put(self, node: ast.AST, name: str, value: Operand, often: bool = True) -> None:
        """Assign to a name. often: whether more is assigned to it than this, or this more than once."""
        if value.kind not in (*NUMBERS, NOTHING, TUPLE, LIST, ANSWER):
            if name in self.frame.variables or self.frame.names.get(name, value) != value:
                raise self.refused(node, f"{name} has been something else")
            self.frame.names[name] = value
            return
        if value.kind == LIST and not often and value.value != CHANGES:
            self.frame.variables[name] = value
            return
        have = self.frame.variables.get(name)
        if have is None:
            have = self.frame.variables[name] = self.place_for(value)
        self.move(node, have, value)

    def place_for(self, value: Operand) -> Operand:
        """A variable for values of that kind."""
        if value.kind == LIST:
            row = self.list_row()
            return Operand(LIST, f"s.lists[{row}, {{}}]", CHANGES, count=self.fresh("n"), element=value.element)
        if value.kind in (TUPLE, ANSWER):
            return Operand(value.kind, items=tuple(self.place_for(item) for item in value.items))
        return Operand(WARP if value.kind == NOTHING else value.kind, self.fresh("v"))

    def move(self, node: ast.AST, place: Operand, value: Operand) -> None:
        """Give a variable a value."""
        value = self.as_kind(node, value, place.kind)
        if len(value.items) != len(place.items) or value.element != place.element:
            raise self.refused(node, "has been something else")
        if place.kind == LIST:
            index = self.fresh("i")
            count = self.keep(INTEGER, value.count).text
            self.write(f"{index} = 0")
            with self.block(f"while {index} < {count}:"):
                self.write(f"{place.text.format(index)} = {value.text.format(index)}")
                self.write(f"{index} += 1")
            self.write(f"{place.count} = {count}")
        elif place.items:
            copies = [self.copy(item) for item in value.items]
            for inner, item in zip(place.items, copies, strict=True):
                self.move(node, inner, item)
        else:
            self.write(f"{place.text} = {value.text}")

    def copy(self, value: Operand) -> Operand:
        """A value under a name of its own, which no assignment changes."""
        if value.kind == LIST and value.value == CHANGES:
            place = self.place_for(value)
            self.move(ast.Pass(), place, value)
            return place
        if value.items:
            return Operand(value.kind, items=tuple(self.copy(item) for item in value.items))
        return value if value.value is not None or value.kind not in NUMBERS else self.keep(value.kind, value.text)

    def as_kind(self, node: ast.AST, value: Operand, kind: str) -> Operand:
        """A value where one of that kind is needed."""
        if value.kind == kind:
            return value
        if value.kind == NOTHING and kind == WARP:
            return Operand(WARP, "-1")
        if value.kind == TRUTH and kind == INTEGER:
            return self.integer(node, value)
        if kind == ANSWER and value.kind in (WARP, NOTHING):
            return Operand(ANSWER, items=(Operand(INTEGER, value.text), Operand(INTEGER, "0", 0)))
        raise self.refused(node, f"{value.kind} where {kind} was")

    def integer(self, node: ast.AST, value: Operand) -> Operand:
        """A number; a truth is 0 or 1."""
        if value.kind == INTEGER:
            return value
        if value.kind != TRUTH:
            raise self.refused(node, f"{value.kind} where a number is needed")
        if value.value is not None:
            return Operand(INTEGER, str(int(value.value)), int(value.value))
        return self.keep(INTEGER, f"np.int64({value.text})")

    # Attributes

    def attribute(self, node: ast.Attribute, of: Operand) -> Operand:
        """What `of.name` stands for."""
        if of.kind == WARP:
            return self._of_warp(node, of)
        if of.kind == GROUP:
            return self._of_group(node)
        if of.kind == SELF:
            return self._of_rule(node)
        if of.kind == MODULE and isinstance(of.value, ModuleType):
            found = self.lookups.look(of.value, node.attr)
            stands_for = None if found is MISSING else known(found)
            if stands_for is not None:
                return stands_for
        raise self.refused(node, "no such attribute is compiled")

    def _of_warp(self, node: ast.Attribute, of: Operand) -> Operand:
        if node.attr not in (*OF_WARPS, "state", "operation"):
            raise self.refused(node, "a rule sees no such thing of a warp")
        row = of.text if of.sure else self.warp_row(of)
        if node.attr == "state":
            return self.keep(STATE, f"s.seen[{row}, {Seen.state}]")
        if node.attr == "operation":
            operation = self.keep(OPERATION, f"s.seen[{row}, {Seen.operation}]")
            with self.block(f"if s.seen[{row}, {Seen.state}] != {int(WarpState.READY)}:"):
                self.write(f"{operation.text} = {NO_OPERATION}")
            return operation
        return self.keep(INTEGER, f"s.seen[{row}, {OF_WARPS[node.attr]}]")

    def warp_row(self, of: Operand) -> str:
        """The row of a warp, which may be None: then Python raises, and it is 0 here."""
        self.raise_if(f"{of.text} < 0")
        return self.keep(INTEGER, f"max({of.text}, np.int64(0))").text

    def _of_group(self, node: ast.Attribute) -> Operand:
        if node.attr in OF_GROUPS:
            return self.keep(INTEGER, f"s.asking[{OF_GROUPS[node.attr]}]")
        if node.attr == "granted_last":
            return self.keep(WARP, f"s.asking[{Asking.last}]")
        if node.attr == "warps":
            group = f"s.asking[{Asking.group}]"
            return Operand(
                LIST, f"s.living[{group}, {{}}]", count=f"s.asking[{Asking.living}]", element=WARP, sure=True
            )
        raise self.refused(node, "a rule sees no such thing of a core group")

    def _of_rule(self, node: ast.Attribute) -> Operand:
        if node.attr in self.fields:
            is_truth = self.fields[node.attr]
            field = self.keep(INTEGER, self.field(node.attr))
            return self.keep(TRUTH, f"{field.text} != 0") if is_truth else field
        assert self.of is not None
        value = self.lookups.look(self.of, node.attr)
        stands_for = None if value is MISSING else known(value)
        if stands_for is None or (stands_for.kind == CALLABLE and isinstance(value, type)):
            raise self.refused(node, "no number that __init__ sets")
        return stands_for

    def field(self, name: str) -> str:
        """A field of the rule's object."""
        return f"s.fields[{list(self.fields).index(name)}]"

    def put_field(self, node: ast.Attribute, of: Operand, value: Operand) -> None:
        """Assign to a field of the rule's object."""
        if of.kind != SELF or node.attr not in self.fields:
            raise self.refused(node, "no number that __init__ sets" if of.kind == SELF else "can't be assigned to")
        is_truth = self.fields[node.attr]
        if value.kind != (TRUTH if is_truth else INTEGER):
            raise self.refused(node, f"{value.kind}, and {'a truth' if is_truth else 'a number'} in __init__")
        text = f"np.int64({value.text})" if is_truth else value.text
        self.write(f"{self.field(node.attr)} = {text}")

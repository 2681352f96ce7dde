"""Lists of a rule: the ready and the living warps, parts of them, and what is looked for in them."""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from simtmm.engine.own_rule.expressions import Expressions
from simtmm.engine.own_rule.operands import (
    ANSWER,
    INTEGER,
    LIST,
    NOTHING,
    NUMBERS,
    RANGE,
    TRUTH,
    TUPLE,
    WARP,
    Operand,
    number,
)
from simtmm.engine.own_rule.writing import Frame

MOST_WRITTEN = 64  # elements of a list that is written out

Generated = ast.GeneratorExp | ast.ListComp


class Sequences(Expressions):
    """Lists, and loops over them."""

    @contextmanager
    def turns(self, node: ast.AST, over: Operand) -> Iterator[Operand]:
        """A loop of the text over a list or a range; gives its element."""
        if over.kind == RANGE:
            begin, end, step = over.items
            at, stop = self.keep(INTEGER, begin.text).text, self.keep(INTEGER, end.text).text
            with self.block(f"while {at} {'<' if step.value > 0 else '>'} {stop}:"):
                self.count_turn()
                element = self.keep(INTEGER, at)
                self.raise_if(f"sum_overflows({at}, {step.value})")
                self.write(f"{at} += {step.value}")
                yield element
            return
        if over.kind != LIST:
            raise self.refused(node, f"a loop over {over.kind}")
        at, stop = self.keep(INTEGER, "0").text, self.keep(INTEGER, over.count).text
        with self.block(f"while {at} < {stop}:"):
            element = self.element(over, at)
            self.write(f"{at} += 1")
            yield element

    def element(self, of: Operand, index: str) -> Operand:
        """An element of a list, by an index that is inside."""
        found = self.keep(INTEGER, of.text.format(index))
        if of.element == TRUTH:
            return self.keep(TRUTH, f"{found.text} != 0")
        return Operand(of.element, found.text, sure=of.sure and of.element == WARP)

    def stored(self, node: ast.AST, value: Operand) -> str:
        """A value as an element of a list."""
        if value.kind == TRUTH:
            return f"np.int64({value.text})"
        if value.kind not in (*NUMBERS, NOTHING):
            raise self.refused(node, f"a list of {value.kind}")
        return value.text

    # Lists that are made

    def _list(self, node: ast.List) -> Operand:
        values = [self.copy(self.evaluate(each)) for each in node.elts]
        kinds = {WARP if value.kind == NOTHING else value.kind for value in values}
        if len(kinds) != 1 or len(values) > MOST_WRITTEN:
            raise self.refused(node, "a list of nothing, of several kinds, or too long")
        row = self.list_row()
        for index, value in enumerate(values):
            self.write(f"s.lists[{row}, {index}] = {self.stored(node, value)}")
        sure = all(value.sure for value in values)
        return Operand(LIST, f"s.lists[{row}, {{}}]", count=str(len(values)), element=kinds.pop(), sure=sure)

    def _set(self, node: ast.Set) -> Operand:
        return Operand(TUPLE, items=tuple(self.copy(self.evaluate(each)) for each in node.elts))

    def _listcomp(self, node: ast.ListComp) -> Operand:
        return self.listed(node)

    def listed(self, node: Generated) -> Operand:
        """What a comprehension gives, as a list."""
        row, count = self.list_row(), self.keep(INTEGER, "0").text
        elements: list[Operand] = []

        def add(value: Operand) -> None:
            elements.append(Operand(WARP) if value.kind == NOTHING else value)
            self.write(f"s.lists[{row}, {count}] = {self.stored(node, value)}")
            self.write(f"{count} += 1")

        self.over(node, add)
        (element,) = elements
        return Operand(LIST, f"s.lists[{row}, {{}}]", count=count, element=element.kind, sure=element.sure)

    def over(self, node: Generated, each: Callable[[Operand], None]) -> None:
        """Do something with each element that a comprehension gives."""
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self.refused(node, "one loop in a comprehension only")
        (generator,) = node.generators
        sequence = self.evaluate(generator.iter)
        if sequence.kind == RANGE:
            raise self.refused(node, "a comprehension over a range")
        with self.turns(generator.iter, sequence) as element:
            names = frozenset(part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name))
            self.frames.append(Frame(self.frame.function, self.frame, assigned=names))
            self.put_into(generator.target, element)
            self._filtered(node, list(generator.ifs), each)
            self.frames.pop()

    def put_into(self, target: ast.expr, element: Operand) -> None:
        """Have a name stand for the element of a loop."""
        if not isinstance(target, ast.Name):
            raise self.refused(target, "a loop of one name only")
        self.frame.variables[target.id] = element

    def _filtered(self, node: Generated, conditions: list[ast.expr], each: Callable[[Operand], None]) -> None:
        if not conditions:
            each(self.copy(self.evaluate(node.elt)))
            return
        condition = self.condition(conditions[0])
        with self.block(f"if {condition.text}:"):
            self._filtered(node, conditions[1:], each)

    def as_list(self, node: ast.expr) -> Operand:
        """An expression that is a list; a generator's elements become one."""
        found = self.listed(node) if isinstance(node, ast.GeneratorExp) else self.evaluate(node)
        if found.kind != LIST:
            raise self.refused(node, f"{found.kind} where a list is needed")
        return found

    # Parts of lists

    def _subscript(self, node: ast.Subscript) -> Operand:
        of = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._part(node, of, node.slice)
        index = self.number(node.slice)
        if of.kind == TUPLE:
            if not index.is_constant or not -len(of.items) <= index.value < len(of.items):
                raise self.refused(node, "an item of a tuple by a number that is written")
            item: Operand = of.items[index.value]
            return item
        if of.kind != LIST:
            raise self.refused(node, f"an element of {of.kind}")
        count = self.keep(INTEGER, of.count).text
        at = self.keep(INTEGER, index.text).text
        with self.block(f"if {at} < 0:"):
            self.write(f"{at} += {count}")
        outside = self.keep(TRUTH, f"{at} < 0 or {at} >= {count}").text
        self.raise_if(outside)
        with self.block(f"if {outside}:"):
            self.write(f"{at} = 0")
        return self.element(of, at)

    def _part(self, node: ast.Subscript, of: Operand, part: ast.Slice) -> Operand:
        if of.kind != LIST or part.step is not None:
            raise self.refused(node, "no such part of a list is compiled")
        count = self.keep(INTEGER, of.count).text
        begin = self._bound(part.lower, count, "0")
        end = self._bound(part.upper, count, count)
        length = self.keep(INTEGER, f"max({end} - {begin}, np.int64(0))").text
        inner = of.text.format(f"{begin} + {{}}")
        return Operand(LIST, inner, of.value, count=length, element=of.element, sure=of.sure)

    def _bound(self, node: ast.expr | None, count: str, otherwise: str) -> str:
        """An end of a part of a list: counted from behind where it is below 0, and inside in any case."""
        if node is None:
            return self.keep(INTEGER, otherwise).text
        at = self.keep(INTEGER, self.number(node).text).text
        with self.block(f"if {at} < 0:"):
            self.write(f"{at} += {count}")
        return self.keep(INTEGER, f"min(max({at}, np.int64(0)), {count})").text

    # What is looked for

    def is_in_list(self, node: ast.AST, left: Operand, right: Operand) -> Operand:
        """Whether a list has a value."""
        found = self.keep(TRUTH, "False")
        with self.turns(node, right) as element:
            equal = self.compared(node, left, "Eq", element)
            with self.block(f"if {equal.text}:"):
                self.write(f"{found.text} = True")
                self.write("break")
        return found

    def counted(self, node: ast.AST, of: Operand, value: Operand) -> Operand:
        """How often a list has a value."""
        count = self.keep(INTEGER, "0")
        with self.turns(node, of) as element:
            equal = self.compared(node, element, "Eq", value)
            with self.block(f"if {equal.text}:"):
                self.write(f"{count.text} += 1")
        return count

    def summed(self, node: ast.Call, argument: ast.expr, begin: Operand) -> Operand:
        """The sum of what a generator gives, or of a list."""
        total = self.keep(INTEGER, begin.text)

        def add(value: Operand) -> None:
            each = self.integer(node, value)
            self.raise_if(f"sum_overflows({total.text}, {each.text})")
            self.write(f"{total.text} += {each.text}")

        if isinstance(argument, ast.GeneratorExp):
            self.over(argument, add)
        else:
            with self.turns(argument, self.as_list(argument)) as element:
                add(element)
        return total

    def any_or_all(self, argument: ast.expr, wanted: bool) -> Operand:
        """Whether one, or each, of what a generator gives holds. wanted: what ends the search."""
        found = self.keep(TRUTH, str(not wanted))

        def look(value: Operand) -> None:
            condition = self.holds(argument, value)
            with self.block(f"if {condition.text}:" if wanted else f"if not {condition.text}:"):
                self.write(f"{found.text} = {wanted}")
                self.write("break")

        if isinstance(argument, ast.GeneratorExp):
            self.over(argument, look)
        else:
            with self.turns(argument, self.as_list(argument)) as element:
                look(element)
        return found

    def first(self, node: ast.Call, argument: ast.expr, otherwise: Operand | None) -> Operand:
        """The first of what a generator gives; Python raises where it gives nothing, unless there is something else."""
        if not isinstance(argument, ast.GeneratorExp):
            raise self.refused(node, "`next` of a generator only")
        has = self.keep(TRUTH, "False")
        places: list[Operand] = []
        start, depth = len(self.lines), self._depth

        def take(value: Operand) -> None:
            kinds = {value.kind, value.kind if otherwise is None else otherwise.kind}
            kind = WARP if kinds <= {WARP, NOTHING} else value.kind
            if kind == ANSWER or kind not in NUMBERS:
                raise self.refused(node, f"{value.kind} from a generator")
            places.append(Operand(kind, self.fresh("v")))
            self.move(node, places[0], value)
            self.write(f"{has.text} = True")
            self.write("break")

        self.over(argument, take)
        (place,) = places
        self.lines.insert(start, "    " * depth + f"{place.text} = {'False' if place.kind == TRUTH else '0'}")
        self.of_lines.insert(start, self.line)
        if otherwise is None:
            self.raise_if(f"not {has.text}")
            return place
        with self.block(f"if not {has.text}:"):
            self.move(node, place, otherwise)
        return place

    def range_of(self, node: ast.Call) -> Operand:
        """A range, for loops."""
        bounds = [self.copy(self.number(argument)) for argument in node.args]
        begin, end = (number(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else number(1)
        if not step.is_constant or step.value == 0 or len(bounds) > 3 or abs(step.value) > 1 << 32:
            raise self.refused(node, "a range by a step that is written")
        return Operand(RANGE, items=(begin, end, step))

    def extreme_of_list(
        self, node: ast.Call, of: Operand, key: Callable[[Operand], Operand], least: bool, otherwise: Operand | None
    ) -> Operand:
        """The element of the least or greatest key, the first of equals."""
        kind = of.element
        best = Operand(kind, self.fresh("v"), sure=of.sure and otherwise is None)
        self.write(f"{best.text} = {'False' if kind == TRUTH else '0'}")
        is_first = self.keep(TRUTH, "True").text
        start, depth = len(self.lines), self._depth
        with self.turns(node, of) as element:
            keys = self.keys_of(node, key(element))
            bests = [Operand(INTEGER, self.fresh("k")) for _ in keys]
            better = self.keep(TRUTH, is_first).text
            with self.block(f"if not {better}:"):
                self.write(f"{better} = {self.precedes(keys, bests, least)}")
            with self.block(f"if {better}:"):
                self.write(f"{is_first} = False")
                self.move(node, best, element)
                for place, part in zip(bests, keys, strict=True):
                    self.write(f"{place.text} = {part.text}")
        self.lines[start:start] = ["    " * depth + f"{place.text} = 0" for place in bests]
        self.of_lines[start:start] = [self.line] * len(bests)
        if otherwise is None:
            self.raise_if(is_first)
            return best
        if kind == WARP and otherwise.kind in (WARP, NOTHING):
            with self.block(f"if {is_first}:"):
                self.move(node, best, otherwise)
            return best
        if otherwise.kind == NOTHING:
            raise self.refused(node, f"{kind} or None")
        with self.block(f"if {is_first}:"):
            self.move(node, best, otherwise)
        return best

    def keys_of(self, node: ast.AST, value: Operand) -> list[Operand]:
        """The numbers that a key consists of."""
        keys = [self.integer(node, part) for part in value.flat()]
        if not keys:
            raise self.refused(node, "an empty key")
        return keys

    def precedes(self, first: list[Operand], second: list[Operand], least: bool) -> str:
        """The text of whether keys come before others, compared in turn."""
        sign = "<" if least else ">"
        text = f"{first[-1].text} {sign} {second[-1].text}"
        for one, other in reversed(list(zip(first[:-1], second[:-1], strict=True))):
            text = f"({one.text} {sign} {other.text} or ({one.text} == {other.text} and ({text})))"
        return text

    def in_order(self, node: ast.Call, of: Operand, key: Callable[[Operand], Operand], least: bool) -> Operand:
        """A list sorted by insertion; of equals those that came first come first."""
        row, count = self.list_row(), self.keep(INTEGER, "0").text
        with self.turns(node, of) as element:
            keys = self.keys_of(node, key(element))
            rows = [self.list_row() for _ in keys]
            at = self.keep(INTEGER, count).text
            with self.block(f"while {at} > 0:"):
                before = [self.keep(INTEGER, f"s.lists[{each}, {at} - 1]") for each in rows]
                goes_before = self.keep(TRUTH, self.precedes(keys, before, least)).text
                with self.block(f"if not {goes_before}:"):
                    self.write("break")
                for each in (row, *rows):
                    self.write(f"s.lists[{each}, {at}] = s.lists[{each}, {at} - 1]")
                self.write(f"{at} -= 1")
            self.write(f"s.lists[{row}, {at}] = {self.stored(node, element)}")
            for each, part in zip(rows, keys, strict=True):
                self.write(f"s.lists[{each}, {at}] = {part.text}")
            self.write(f"{count} += 1")
        return Operand(LIST, f"s.lists[{row}, {{}}]", count=count, element=of.element, sure=of.sure)

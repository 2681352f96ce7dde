"""Statements of one thread: what it assigns, and where it goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.cuda.whole.expressions import Expressions
from tests.cuda.whole.tree import Body, Node
from tests.cuda.whole.types import U32, U64, Type, Variable

NESTED = 3  # statements in statements
LONGEST = 5  # statements of a block


class Statements(Expressions):
    """Draws them, into `body`."""

    def __init__(self, random: Random, features: frozenset[str]) -> None:
        super().__init__(random, features)
        self.body = Body()
        self.left = 70 if "large" in features else random.randint(8, 30)  # statements that may still be drawn
        self.named = 0
        self.may_break = False  # is in a loop that some threads may leave
        self.mask: str | None = None  # of the lanes that are here together; None where nobody knows
        self.all_here = False  # and all threads of the block are
        self.warp_functions: list[tuple[str, Type]] = []
        self.by_pointer: list[tuple[str, Type]] = []  # functions that take a pointer, a reference and a number
        self.result: Type | None = None  # of the function that this is in; None of the kernel
        self.may_return = True  # before its end: not where those who are left would wait for who is gone

    def name(self, letter: str) -> str:
        """A new name."""
        self.named += 1
        return f"{letter}_{self.named}"

    @contextmanager
    def block(self, mask: str | None, all_here: bool = False, may_break: bool | None = None) -> Iterator[Body]:
        """Statements that go into a block of their own; what is declared there ends with it."""
        kept = self.body, self.mask, self.all_here, self.may_break
        scope = len(self.variables), len(self.functions)
        self.body, self.mask, self.all_here = Body(), mask, all_here
        self.may_break = self.may_break if may_break is None else may_break
        yield self.body
        del self.variables[scope[0] :], self.functions[scope[1] :]
        self.body, self.mask, self.all_here, self.may_break = kept

    def nest(self, *blocks: tuple[str, Body], tail: str = "}") -> None:
        """A statement of blocks."""
        self.body.nodes.append(Node("", tuple((head, tuple(body.nodes)) for head, body in blocks), tail))

    def statements(self, nested: int, count: int | None = None) -> None:
        """Some of them."""
        for _ in range(count or self.random.randint(1, LONGEST)):
            if self.left <= 0:
                return
            self.left -= 1
            self.random.choice(self._makers(nested))(nested)

    def _makers(self, nested: int):
        makers = [self._declare, self._assign, self._assign, self._assign, self._note]
        makers += [self._array] if "arrays" in self.features else []
        makers += [self._point] if "pointers" in self.features else []
        makers += [self._call_by_pointer] if self.by_pointer else []
        if nested > 0:
            makers += [self._if, self._if]
            makers += [self._loop, self._while] if "loops" in self.features else []
            makers += [self._switch] if "switch" in self.features else []
            makers += [self._goto] if "goto" in self.features else []
        if self.may_break:
            makers += [self._break]
        if self.result is not None and self.mask is None and self.may_return:
            makers += [self._return]
        return makers

    def declare(self, type_: Type, text: str, word: str = "") -> Variable:
        """A new variable."""
        variable = Variable(self.name("v"), type_)
        self.body.line(f"{word}{type_.name} {variable.text} = {text};")
        self.variables.append(variable)
        return variable

    def _declare(self, _) -> None:
        type_ = self.a_type()
        word = "volatile " if "volatile" in self.features and type_.is_integer and type_.bits <= 64 else ""
        self.declare(type_, self.of(type_), word if self.chance(0.5) else "")

    def target(self) -> Variable:
        """A variable that may be assigned."""
        return self.random.choice([each for each in self.variables if each.writable])

    def _assign(self, _) -> None:
        self.assign(self.target())

    def assign(self, variable: Variable) -> None:
        """Give a variable another value."""
        type_, text = variable.type, self.read(variable)
        if type_.is_integer and type_.kind == "u" and self.chance(0.3):
            sign = self.random.choice("+-&|^") if type_.bits < 32 else self.random.choice("+-*&|^")
            self.body.line(f"{text} {sign}= {self.of(type_)};")
        elif type_.kind == "u" and "volatile" not in self.features and self.chance(0.1):
            self.body.line(f"{text}{self.random.choice(('++', '--'))};")
        else:
            self.body.line(f"{text} = {self.of(type_)};")

    def _note(self, _) -> None:
        if self.is_pure:
            return self._assign(0)
        variable = self.random.choice(self.variables)
        return self.body.line(f"NOTE({self.read(variable)})")

    def _array(self, _) -> None:
        type_, length = self.a_type(), self.random.choice((2, 4, 8, 16))
        name, at = self.name("a"), self.name("i")
        if "constants" in self.features and type_.name != "f16" and self.chance(0.5):
            values = ", ".join(self.literal(type_) for _ in range(length))
            self.body.line(f"const {type_.name} {name}[{length}] = {{{values}}};")
            self.variables.append(Variable(f"{name}[{{}}]", type_, writable=False, length=length))
            return
        with self.block(None):
            self.variables.append(Variable(at, U32, writable=False))
            value = self.of(type_, 2)
        self.body.line(
            f"{type_.name} {name}[{length}];", f"for (u32 {at} = 0; {at} < {length}; ++{at}) {name}[{at}] = {value};"
        )
        self.variables.append(Variable(f"{name}[{{}}]", type_, length=length))

    def _point(self, _) -> None:
        first = self.target()
        fitting = [
            each for each in self.variables if each.writable and each.type == first.type and "." not in each.text
        ]
        if "volatile" in self.features or "." in first.text:
            return self._assign(0)
        name, second = self.name("p"), self.random.choice(fitting)
        condition, places = self.condition(1), (self.read(first), self.read(second))
        if self.chance(0.5):
            kind, value = f"{first.type.name}& {name}", f"{condition} ? {places[0]} : {places[1]}"
            found = name
        else:
            kind, value = f"{first.type.name}* {name}", f"{condition} ? &{places[0]} : &{places[1]}"
            found = f"(*{name})"
        self.body.line(f"{kind} = {value};")
        return self.variables.append(Variable(found, first.type))

    def _call_by_pointer(self, _) -> None:
        name, type_ = self.random.choice(self.by_pointer)
        fitting = [each for each in self.variables if each.writable and each.type == type_ and "." not in each.text]
        if len(fitting) < 2 or "volatile" in self.features:
            return self._assign(0)
        first, second = (self.read(self.random.choice(fitting)) for _ in range(2))
        return self.body.line(f"{name}(&{first}, {second}, {self.of(U32, 1)});")

    def _if(self, nested: int) -> None:
        blocks = []
        for head in (f"if ({self.condition()}) {{", "} else {")[: self.random.randint(1, 2)]:
            with self.block(None) as body:
                self.statements(nested - 1)
            blocks.append((head, body))
        self.nest(*blocks)

    def _loop(self, nested: int) -> None:
        name = self.name("i")
        stays = self.mask is not None and self.chance(0.5)  # all go round alike, and together
        most = str(self.random.randint(1, 4)) if stays or self.chance(0.4) else f"({self.index(4)}) + 1"
        unrolled = self.random.choice(("", "", "#pragma unroll 1\n", "#pragma unroll\n"))
        with self.block(self.mask if stays else None, stays and self.all_here, not stays) as body:
            self.variables.append(Variable(name, U32, writable=False))
            self.statements(nested - 1)
        down = self.chance(0.2) and not stays
        head = (
            f"for (u32 {name} = {most}; {name}-- > 0;) {{"
            if down
            else f"for (u32 {name} = 0; {name} < {most}; ++{name}) {{"
        )
        self.nest((unrolled + head, body))

    def _while(self, nested: int) -> None:
        name, most = self.name("w"), self.random.randint(1, 6)
        with self.block(None, may_break=True) as body:
            self.statements(nested - 1)
        if self.chance(0.5):
            condition = self.condition(1)
            self.nest(
                (
                    f"for (u32 {name} = 0; {name} < {most} && {condition}; {name} += {self.random.randint(1, 2)}) {{",
                    body,
                )
            )
        else:
            outer = Body()
            condition = self.condition(1)  # of what stands outside
            outer.line(f"u32 {name} = 0;")
            outer.nodes.append(
                Node("", (("do {", tuple(body.nodes)),), f"}} while (++{name} < {most} && {condition});")
            )
            self.nest(("{", outer))

    def _break(self, _) -> None:
        self.body.line(f"if ({self.condition()}) {self.random.choice(('break', 'continue'))};")

    def _return(self, _) -> None:
        self.body.line(f"if ({self.condition()}) return {self.of(self.result)};")

    def _switch(self, nested: int) -> None:
        count = self.random.randint(2, 7)
        values = list(range(count))
        chosen = f"(u32)({self.of(U32)}) % {count + 1}"
        if self.chance(0.4):
            values = sorted(self.random.sample((0, 1, 2, 5, 31, 77, 100, 1000, 65536, 0x7FFFFFFF), count))
            chosen = "(u32)(" + self.of(U32) + ") % 102" if self.chance(0.5) else self.of(U64)
        if self.chance(0.4):
            self.random.shuffle(values)
        blocks = []
        kept = self.may_break
        for at, value in enumerate(values):
            with self.block(None, may_break=False) as body:
                self.statements(nested - 1, self.random.randint(1, 2))
                if self.chance(0.75):
                    body.line("break;")
            ends = "} " if at else f"switch ({chosen}) {{ "
            blocks.append((f"{ends}case {value}: {{", body))
        if self.chance(0.6):
            with self.block(None, may_break=False) as body:
                self.statements(nested - 1, 1)
            blocks.append(("} default: {", body))
        self.may_break = kept
        self.nest(*blocks, tail="} }")

    def _goto(self, nested: int) -> None:
        label = self.name("l")
        with self.block(None, may_break=False) as outer:
            with self.block(None, may_break=False) as body:
                self.statements(nested - 1)
                body.line(f"if ({self.condition()}) goto {label};")
                self.statements(nested - 1, 2)
            most = self.random.randint(1, 3)
            at = self.name("g")
            self.nest((f"for (u32 {at} = 0; {at} < {most}; ++{at}) {{", body))
            self.statements(nested - 1, 1)
        self.nest(("{", outer), tail=f"}}\n{label}:;")

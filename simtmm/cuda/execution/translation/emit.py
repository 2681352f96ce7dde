"""Emits LLVM assembly, line by line."""

from collections.abc import Sequence
from typing import NamedTuple

from simtmm.cuda.execution.layout import LANES


class Value(NamedTuple):
    """An LLVM value: its text and its type."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def lanes(element: str) -> str:
    """The type of a vector with one element for each lane."""
    return f"<{LANES} x {element}>"


def element_of(type_name: str) -> str:
    """The element type of a vector type; another type itself."""
    return type_name[1:-1].split(" x ", 1)[1] if type_name.startswith("<") else type_name


def count_of(type_name: str) -> int:
    """The number of elements of a vector type; 0 for other types."""
    return int(type_name[1:].split(" x ", 1)[0]) if type_name.startswith("<") else 0


def with_element(type_name: str, element: str) -> str:
    """The same type with another element type."""
    count = count_of(type_name)
    return f"<{count} x {element}>" if count else element


def bits(type_name: str) -> int:
    """The width of an element [bits]."""
    element = element_of(type_name)
    return {"float": 32, "double": 64, "half": 16, "bfloat": 16}.get(element) or int(element[1:])


ONE_BIT = lanes("i1")
LAUNCH_POINTER, BLOCK_POINTER, WARP_POINTER = (Value(name, "ptr") for name in ("%launch", "%block", "%warp"))
NUMBERED = ("B", "park", "tired", "gather", "gathered", "full", "go")


class Emitter:
    """The lines of a function, with names for values, and the functions of LLVM that it needs."""

    def __init__(self, declared: dict[str, str]) -> None:
        """declared: declarations by the function's name, added to."""
        self.lines: list[str] = []
        self._declared = declared
        self._count = 0

    def name(self, stem: str = "v") -> str:
        """A new name, which no label of a block has: those are one of NUMBERED and the block's number."""
        assert stem not in NUMBERED
        self._count += 1
        return f"%{stem}{self._count}"

    def do(self, line: str) -> None:
        """Emit a line without a result."""
        self.lines.append(f"  {line}")

    def label(self, name: str) -> None:
        """Begin a new LLVM block."""
        self.lines.append(f"{name}:")

    def value(self, line: str, type_name: str) -> Value:
        """Emit a line with a result, and return it."""
        name = self.name()
        self.lines.append(f"  {name} = {line}")
        return Value(name, type_name)

    def binary(self, operation: str, a: Value, b: Value) -> Value:
        """An operation on two values of one type."""
        return self.value(f"{operation} {a.type} {a.name}, {b.name}", a.type)

    def compare(self, how: str, a: Value, b: Value) -> Value:
        """how: "icmp ult", "fcmp oeq"."""
        return self.value(f"{how} {a.type} {a.name}, {b.name}", with_element(a.type, "i1"))

    def cast(self, operation: str, a: Value, element: str) -> Value:
        """Convert to another element type; no code if it is the same."""
        to = with_element(a.type, element)
        return a if to == a.type else self.value(f"{operation} {a} to {to}", to)

    def as_type(self, a: Value, type_name: str) -> Value:
        """The same bits as another type."""
        return a if a.type == type_name else self.value(f"bitcast {a} to {type_name}", type_name)

    def resize(self, a: Value, element: str, signed: bool) -> Value:
        """An integer in another width."""
        have, want = bits(a.type), bits(element)
        if have == want:
            return a
        return self.cast("trunc" if want < have else "sext" if signed else "zext", a, element)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """a where the condition holds, else b."""
        return self.value(f"select {condition}, {a}, {b}", a.type)

    def constant(self, number: int | str, type_name: str) -> Value:
        """A constant, the same in all lanes."""
        if count_of(type_name):
            return Value(f"splat ({element_of(type_name)} {number})", type_name)
        return Value(str(number), type_name)

    def iota(self, element: str) -> Value:
        """The numbers of the lanes, 0 to 31."""
        return Value(f"<{', '.join(f'{element} {n}' for n in range(LANES))}>", lanes(element))

    def splat(self, scalar: Value) -> Value:
        """One value in all lanes."""
        of = lanes(scalar.type)
        one = self.value(f"insertelement {of} poison, {scalar}, i32 0", of)
        return self.value(f"shufflevector {one}, {of} poison, {lanes('i32')} zeroinitializer", of)

    def mask(self, condition: Value) -> Value:
        """A condition as a mask, with a bit for each lane."""
        return self.as_type(condition, "i32")

    def lanes_of(self, mask: Value) -> Value:
        """A mask as a condition, with an i1 for each lane."""
        return self.as_type(mask, ONE_BIT)

    def invert(self, a: Value) -> Value:
        """The value with all bits inverted."""
        return self.binary("xor", a, self.constant(-1 if element_of(a.type) != "i1" else "true", a.type))

    def load(self, type_name: str, pointer: str, align: int = 0) -> Value:
        """Load a value."""
        return self.value(f"load {type_name}, ptr {pointer}" + (f", align {align}" if align else ""), type_name)

    def store(self, a: Value, pointer: str, align: int = 0) -> None:
        """Store a value."""
        self.do(f"store {a}, ptr {pointer}" + (f", align {align}" if align else ""))

    def at(self, pointer: str, offset: int | Value) -> str:
        """A pointer plus an offset [bytes]."""
        if isinstance(offset, Value):
            return self.value(f"getelementptr i8, ptr {pointer}, {offset}", "ptr").name
        return pointer if offset == 0 else self.value(f"getelementptr i8, ptr {pointer}, i64 {offset}", "ptr").name

    def field(self, type_name: str, pointer: str, offset: int) -> Value:
        """Load the value at a pointer plus an offset [bytes]."""
        return self.load(type_name, self.at(pointer, offset))

    def intrinsic(self, name: str, result: str, *arguments: Value) -> Value:
        """Call an LLVM intrinsic, named without its types: "llvm.fma"."""
        return self.call(f"{name}.{mangled(result)}", result, *arguments)

    def call(self, name: str, result: str, *arguments: Value) -> Value:
        """Call a function. The call declares it if it is an LLVM intrinsic."""
        if name.startswith("llvm."):
            self._declared[name] = f"declare {result} @{name}({', '.join(argument.type for argument in arguments)})"
        text = f'call {result} @"{name}"({", ".join(map(str, arguments))})'
        if result == "void":
            self.do(text)
            return Value("", "void")
        return self.value(text, result)

    def shuffle(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        """A shuffle of the elements of two vectors, by index."""
        of = f"<{len(places)} x {element_of(a.type)}>"
        chosen = ", ".join(f"i32 {place}" for place in places)
        return self.value(f"shufflevector {a}, {b}, <{len(places)} x i32> <{chosen}>", of)


def mangled(type_name: str) -> str:
    """A type as the names of LLVM's functions have it: v32f32."""
    element, count = element_of(type_name), count_of(type_name)
    short = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}.get(element, element)
    return f"v{count}{short}" if count else short

"""Sums of products as a tensor core makes them: an H100's, bit for bit, of all floating-point types but f64.

All products of a sum and the number they are added to are cut off, toward zero, KEPT bits below the largest exponent
among them, and then summed exactly. Exponents of products are sums of the factors' exponents, whatever the mantissas'
product is; those of subnormal numbers are the least that a normal one has, and zeros have none. An f32 sum is rounded
toward zero, an f16 sum to nearest.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtmm.cuda.execution.instructions.matrices.fragments import EIGHT_BITS, TILE_ROWS, Writing
from simtmm.cuda.execution.instructions.numbers import half
from simtmm.cuda.execution.layout import LANES
from simtmm.cuda.execution.translation.emit import Emitter, Value, element_of, with_element

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

ROWS_AT_ONCE = 4  # of the result, summed up side by side: sums don't wait for each other
KEPT = 25  # bits behind the point of a number with the largest exponent
_NONE, _SPECIAL = -4096, 16384  # exponents of zeros; of infinities and NaNs
_LEAST_SPECIAL = 512  # more than sums of two exponents of finite numbers are
_BOUND = 300  # what exponents are held within where f64 scales: beyond all of finite numbers
_LOW, _HIGH = -60, 120  # exponents whose sums f32 scales without loss; what is too small for it is cut off anyhow
_LOWEST = -100  # the same of zeros alone
_FIELDS = {"float": (23, 127), "double": (52, 1023)}  # bits of the mantissa, and what is added to an exponent
_LEAST = {"f16": -14, "e4m3": -14, "e5m2": -14, "bf16": -126, "tf32": -126, "f32": -126}
_I32, _FLOAT, _DOUBLE = (f"<{TILE_ROWS} x {each}>" for each in ("i32", "float", "double"))


@dataclass(frozen=True)
class Steps:
    """How a matrix product is split into sums. depth: products in each.

    pairs: each sum takes two of four in turn; the sums begin with 0, and what they are added to follows, rounded to
    nearest.
    """

    count: int
    depth: int
    pairs: bool = False

    def first(self, step: int) -> int:
        """The first product of a sum."""
        return 2 * step if self.pairs else self.depth * step


def steps_of(kind: str, depth: int, short: bool) -> Steps:
    """short: whether tf32 is summed by fours, which wmma does.

    Machines of sm_90 have no products of 8 bits: the assembler makes two of f16, and adds.
    """
    if kind in EIGHT_BITS:
        return Steps(2, depth // 2, pairs=True)
    return Steps(depth // 4, 4) if short and kind == "tf32" else Steps(1, depth)


def exponents_function(program: "Program", kind: str) -> str:
    """The name of void(values, exponents, count), of floats that are numbers of a type."""
    name = f"exponents.{kind}"
    program.helper(name, lambda: _exponents_function(program.declared, name, kind))
    return name


def _exponents_function(declared: dict[str, str], name: str, kind: str) -> str:
    emit = Emitter(declared)
    emit.label("entry")
    emit.do("br label %some")
    emit.label("some")
    emit.do("%n = phi i64 [ 0, %entry ], [ %n.next, %some ]")
    emit.do("%from = getelementptr float, ptr %values, i64 %n")
    emit.do("%to = getelementptr i32, ptr %exponents, i64 %n")
    emit.store(_exponents(emit, emit.load(f"<{LANES} x float>", "%from", 4), kind), "%to", 4)
    emit.do(f"%n.next = add i64 %n, {LANES}")
    emit.do("%more = icmp ult i64 %n.next, %count")
    emit.do("br i1 %more, label %some, label %end")
    emit.label("end")
    emit.do("ret void")
    body = "\n".join(emit.lines)
    return f'define internal void @"{name}"(ptr %values, ptr %exponents, i64 %count) noinline {{\n{body}\n}}\n'


def _exponents(emit: Emitter, values: Value, kind: str) -> Value:
    """Of floats that are numbers of a type."""
    bits, bias = _FIELDS["float"]
    of = with_element(values.type, "i32")

    def number(value: int) -> Value:
        return emit.constant(value, of)

    moved = emit.binary("lshr", emit.as_type(values, of), number(bits))
    field = emit.binary("and", moved, number(2 * bias + 1))
    found = emit.intrinsic("llvm.smax", of, emit.binary("sub", field, number(bias)), number(_LEAST[kind]))
    special = emit.compare("icmp eq", field, number(2 * bias + 1))
    found = emit.select(special, number(_SPECIAL), found)
    zero = emit.compare("fcmp oeq", values, emit.constant("0.0", values.type))
    return emit.select(zero, number(_NONE), found)


@dataclass(frozen=True)
class Block:
    """Some rows and 8 columns of a product, to which functions add one sum.

    kind: of the sum. row, columns: numbers in a row of A, of B and C.
    """

    kind: str
    row: int
    columns: int
    steps: Steps

    @property
    def name(self) -> str:
        """The name of the function."""
        return f"tensor.{self.kind}.{self.row}.{self.columns}.{'pairs' * self.steps.pairs}{self.steps.depth}"

    @property
    def halves(self) -> bool:
        """Whether sums are f16."""
        return self.kind == "f16"

    def functions(self, declared: dict[str, str]) -> str:
        """Two void(a, its exponents, b, its exponents, c), each at the first number: of f32, and of f64 for any."""
        wide = f"{self.name}.wide"
        given = "ptr %a, ptr %ea, ptr %b, ptr %eb, ptr %c"
        return "".join(
            f'define internal void @"{name}"({given}) noinline {{\n{self._body(Emitter(declared), wide_name)}\n}}\n'
            for name, wide_name in ((self.name, wide), (wide, ""))
        )

    def _body(self, emit: Emitter, otherwise: str) -> str:
        """otherwise: the function for what f32 loses."""
        emit.label("entry")
        places = [emit.at("%c", n * self.columns * 4) for n in range(ROWS_AT_ONCE)]
        given = [emit.load(_FLOAT, place, 4) for place in places]
        begins = [_exponents(emit, each, self.kind) for each in given]
        largest = self._loop(emit, "largest", "entry", begins)
        finish = self._narrow if otherwise else self._wide
        for place, total in zip(places, finish(emit, given, largest, otherwise), strict=True):
            emit.store(total, place, 4)
        emit.do("ret void")
        return "\n".join(emit.lines)

    def _narrow(self, emit: Emitter, given: list[Value], largest: list[Value], otherwise: str) -> list[Value]:
        """Sums of numbers that f32 has room for."""
        emit.do(f"br i1 {_any(emit, [_is_beyond(emit, each) for each in largest])}, label %wide, label %narrow")
        emit.label("wide")
        emit.call(otherwise, "void", *(Value(name, "ptr") for name in ("%a", "%ea", "%b", "%eb", "%c")))
        emit.do("ret void")
        emit.label("narrow")
        scales = [emit.intrinsic("llvm.smax", _I32, each, emit.constant(_LOWEST, _I32)) for each in largest]
        factors = [_power(emit, each, "float", 1) for each in scales]
        zeros = [emit.constant(0, _I32)] * ROWS_AT_ONCE
        sums = self._loop(emit, "sums", "narrow", zeros, factors)
        totals = []
        for products, number, factor, scale in zip(sums, given, factors, scales, strict=True):
            cut = emit.cast("fptosi", emit.binary("fmul", number, factor), "i32")
            whole = emit.binary("fadd", *(emit.cast("sitofp", each, "double") for each in (products, cut)))
            near = (
                half.to_odd(Writing(emit), whole) if self.halves else emit.cast("fptrunc", _cut(emit, whole), "float")
            )
            total = emit.binary("fmul", near, _power(emit, scale, "float", -1))
            totals.append(_as_half(emit, total) if self.halves else total)
        return totals

    def _wide(self, emit: Emitter, given: list[Value], largest: list[Value], _: str) -> list[Value]:
        """Sums of any numbers."""
        special = [emit.compare("icmp sge", each, emit.constant(_LEAST_SPECIAL, _I32)) for each in largest]
        scales = [_held(emit, each) for each in largest]
        factors = [_power(emit, each, "double", 1) for each in scales]
        zeros = [emit.constant(0, _I32)] * ROWS_AT_ONCE
        sums = self._loop(emit, "sums", "largest.end", zeros, factors)
        wide = [emit.cast("fpext", each, "double") for each in given]
        plain = self._loop(emit, "ieee", "sums.end", wide)
        totals = []
        for n, products in enumerate(sums):
            cut = emit.intrinsic("llvm.trunc", _DOUBLE, emit.binary("fmul", wide[n], factors[n]))
            whole = emit.binary("fadd", emit.cast("sitofp", products, "double"), cut)
            total = emit.binary("fmul", whole, _power(emit, scales[n], "double", -1))
            total = emit.select(special[n], plain[n], total)
            odd = half.to_odd(Writing(emit), total) if self.halves else None
            totals.append(_as_half(emit, odd) if odd else _to_zero(emit, total))
        return totals

    def _loop(
        self, emit: Emitter, what: str, before: str, begins: list[Value], factors: list[Value] | None = None
    ) -> list[Value]:
        """Over the products of a sum: "largest" exponents, "sums" of products times factors, or of all, as "ieee"."""
        of = begins[0].type
        emit.do(f"br label %{what}")
        emit.label(what)
        emit.do(f"%{what}.n = phi i64 [ 0, %{before} ], [ %{what}.next, %{what} ]")
        head = len(emit.lines)
        number = f"%{what}.n"
        if self.steps.pairs:
            emit.do(f"%{what}.even = and i64 {number}, -2")
            emit.do(f"%{what}.k = add i64 {number}, %{what}.even")
            number = f"%{what}.k"
        held, a, b = ("i32", "%ea", "%eb") if what == "largest" else ("float", "%a", "%b")
        emit.do(f"%{what}.a = getelementptr {held}, ptr {a}, i64 {number}")
        emit.do(f"%{what}.row = mul i64 {number}, {self.columns}")
        emit.do(f"%{what}.b = getelementptr {held}, ptr {b}, i64 %{what}.row")
        row = emit.load(f"<{TILE_ROWS} x {held}>", f"%{what}.b", 4)
        results = []
        for n in range(ROWS_AT_ONCE):
            one = _everywhere(emit, emit.load(held, emit.at(f"%{what}.a", n * self.row * 4), 4))
            results.append(_added(emit, what, Value(f"%{what}.{n}", of), one, row, factors[n] if factors else None))
        emit.lines[head:head] = [
            f"  %{what}.{n} = phi {of} [ {begins[n].name}, %{before} ], [ {results[n].name}, %{what} ]"
            for n in range(ROWS_AT_ONCE)
        ]
        emit.do(f"%{what}.next = add i64 %{what}.n, 1")
        emit.do(f"%{what}.more = icmp ult i64 %{what}.next, {self.steps.depth}")
        emit.do(f"br i1 %{what}.more, label %{what}, label %{what}.end")
        emit.label(f"{what}.end")
        return results


def _everywhere(emit: Emitter, one: Value) -> Value:
    of = f"<{TILE_ROWS} x {one.type}>"
    first = emit.value(f"insertelement {of} poison, {one}, i32 0", of)
    return emit.value(f"shufflevector {first}, {of} poison, {_I32} zeroinitializer", of)


def _added(emit: Emitter, what: str, before: Value, one: Value, row: Value, factor: Value | None) -> Value:
    """What a loop's step makes of what it had."""
    if what == "largest":
        return emit.intrinsic("llvm.smax", _I32, before, emit.binary("add", one, row))
    element = element_of(factor.type) if factor else "double"
    a, b = (each if element == "float" else emit.cast("fpext", each, "double") for each in (one, row))
    if factor is None:
        return emit.intrinsic("llvm.fma", _DOUBLE, a, b, before)
    scaled = emit.binary("fmul", emit.binary("fmul", a, b), factor)
    return emit.binary("add", before, emit.cast("fptosi", scaled, "i32"))


def _is_beyond(emit: Emitter, largest: Value) -> Value:
    """Whether a sum is none for f32: of numbers too large or too small, and not of zeros alone."""
    high, low, none = (
        emit.compare(f"icmp {how}", largest, emit.constant(bound, _I32))
        for how, bound in (("sgt", _HIGH), ("slt", _LOW), ("sgt", _NONE // 2))
    )
    return emit.binary("or", high, emit.binary("and", low, none))


def _any(emit: Emitter, conditions: list[Value]) -> str:
    found = conditions[0]
    for each in conditions[1:]:
        found = emit.binary("or", found, each)
    bits = emit.as_type(found, f"i{TILE_ROWS}")
    return emit.compare("icmp ne", bits, emit.constant(0, bits.type)).name


def _held(emit: Emitter, exponent: Value) -> Value:
    """Exponents that a factor may have: those of infinities, NaNs and sums of zeros alone do not matter."""
    low = emit.intrinsic("llvm.smax", _I32, exponent, emit.constant(-_BOUND, _I32))
    return emit.intrinsic("llvm.smin", _I32, low, emit.constant(_BOUND, _I32))


def _power(emit: Emitter, exponent: Value, element: str, way: int) -> Value:
    """What numbers are multiplied by to have whole ones (way 1), and these to have their size again (-1)."""
    bits, bias = _FIELDS[element]
    field = emit.binary("sub" if way > 0 else "add", emit.constant(bias + way * KEPT, _I32), exponent)
    wide = emit.resize(field, "i32" if element == "float" else "i64", False)
    return emit.as_type(emit.binary("shl", wide, emit.constant(bits, wide.type)), with_element(wide.type, element))


def _cut(emit: Emitter, total: Value) -> Value:
    """f64 with as many bits as f32 has, the others cut off."""
    raw = emit.as_type(total, with_element(total.type, "i64"))
    return emit.as_type(emit.binary("and", raw, emit.constant(-(1 << 29), raw.type)), total.type)


def _to_zero(emit: Emitter, total: Value) -> Value:
    """f64 as f32, rounded toward zero; what is beyond its largest number's next is infinite."""
    cut = _cut(emit, total)
    near = emit.cast("fptrunc", cut, "float")  # exact, but for subnormal numbers
    sizes = [emit.intrinsic("llvm.fabs", _DOUBLE, each) for each in (emit.cast("fpext", near, "double"), cut)]
    beyond = emit.compare("fcmp ogt", *sizes)
    small = emit.compare("fcmp olt", sizes[1], emit.constant("1.0", _DOUBLE))
    bits = emit.as_type(near, _I32)
    less = emit.binary("sub", bits, emit.constant(1, _I32))
    return emit.as_type(emit.select(emit.binary("and", beyond, small), less, bits), _FLOAT)


def _as_half(emit: Emitter, value: Value) -> Value:
    """f32 rounded to f16."""
    return half.widen(Writing(emit), half.narrow(Writing(emit), value, False), False)

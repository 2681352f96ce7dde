"""Expressions without side effects, of a type each, whose value C++ defines."""

from collections.abc import Callable
from random import Random

from tests.cuda.whole import types
from tests.cuda.whole.types import F16, F32, F64, I32, I64, U32, U64, U128, WORDS, Function, Type, Variable

DEEP = 3  # expressions in expressions
_SPECIAL = (0, 1, 2, 3, 5, 7, 10, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 0x7FFF, 0x8000, 0xFFFF,
            0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
            0xFFFFFFFFFFFFFFFF)  # fmt: skip
_REAL = ("0.0", "1.0", "-1.0", "0.5", "1.5", "-2.75", "3.0", "10.0", "0.1", "1e-3", "-123.456", "65504.0",
         "16777216.0", "1e10", "-1e-10", "3.4e38", "1e-40", "-7e-39", "1.17549435e-38", "4e-8", "6.1e-5")  # fmt: skip
# Of 32 bits: name and arguments, u unsigned and i signed; the first letter is the result's
_CALLS_32 = (
    ("__popc", "iu"), ("__clz", "ii"), ("__ffs", "ii"), ("__brev", "uu"), ("__byte_perm", "uuuu"),
    ("__funnelshift_l", "uuuu"), ("__funnelshift_r", "uuuu"), ("__funnelshift_lc", "uuuu"),
    ("__funnelshift_rc", "uuuu"), ("__mulhi", "iii"), ("__umulhi", "uuu"), ("__mul24", "iii"), ("__umul24", "uuu"),
    ("__sad", "uiiu"), ("__usad", "uuuu"), ("__hadd", "iii"), ("__rhadd", "iii"), ("__uhadd", "uuu"),
    ("__urhadd", "uuu"), ("__dp4a", "iiii"), ("__dp4a", "uuuu"), ("__vadd4", "uuu"), ("__vsub2", "uuu"),
    ("__vmaxu4", "uuu"), ("__vmins2", "uuu"), ("__vabsdiffu4", "uuu"), ("__vcmpgts4", "uuu"), ("__popcll", "iU"),
    ("__clzll", "iI"), ("__ffsll", "iI"),
)  # fmt: skip
_CALLS_64 = (("__brevll", "UU"), ("__mul64hi", "III"), ("__umul64hi", "UUU"))
_LETTERS = {"u": U32, "i": I32, "U": U64, "I": I64}
_ROUNDINGS = ("rn", "rz", "ru", "rd")


class Expressions:
    """Draws them from variables and functions in scope."""

    def __init__(self, random: Random, features: frozenset[str]) -> None:
        self.random, self.features = random, features
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self.is_pure = False  # in a function, which has what it takes alone
        self.types = [*WORDS, U32, I32]
        self.types += types.SMALL if "small" in features else ()
        self.types += (U128, types.I128) if "int128" in features else ()
        self.types += (F32, F32, F32) if "float" in features else ()
        self.types += (F64, F64) if "double" in features else ()
        self.types += (F16, F16) if "half" in features else ()

    def chance(self, share: float) -> bool:
        """Whether something is so."""
        return self.random.random() < share

    def a_type(self) -> Type:
        """A type that the kernel has."""
        return self.random.choice(self.types)

    def an_integer(self) -> Type:
        """An integer type that the kernel has."""
        return self.random.choice([each for each in self.types if each.is_integer])

    def of(self, type_: Type, depth: int = DEEP) -> str:
        """An expression of exactly that type."""
        if depth <= 0 or self.chance(0.15):
            return self._leaf(type_)
        called = [each for each in self.functions if each.type == type_]
        if called and self.chance(0.25):
            function = self.random.choice(called)
            return function.text.format(*(self.of(each, depth - 2) for each in function.taken))
        if self.chance(0.12):
            return f"({self.condition(depth - 1)} ? {self.of(type_, depth - 1)} : {self.of(type_, depth - 1)})"
        if self.chance(0.12):
            return self.cast(type_, self.a_type(), depth - 1)
        return {"f16": self._half}.get(type_.name, self._integer if type_.is_integer else self._real)(type_, depth)

    def condition(self, depth: int = 2) -> str:
        """An expression of type bool."""
        if depth > 0 and self.chance(0.2):
            joined = self.random.choice(("&&", "||", "!="))
            return f"({self.condition(depth - 1)} {joined} {self.condition(depth - 1)})"
        type_ = self.a_type()
        if type_ == F16:
            return f"{self.random.choice(('__hlt', '__heq'))}({self.of(F16, depth - 1)}, {self.of(F16, depth - 1)})"
        left = self.of(type_, depth - 1)
        if type_.is_integer and self.chance(0.4):
            return f"(({left}) % {self.random.randint(2, 7)} == {self.random.randint(0, 2)})"
        if type_.is_integer and self.chance(0.3):
            return f"(({left}) >> {self.random.randrange(min(type_.bits, 8))} & 1)"
        return f"({left} {self.random.choice(('<', '<=', '>', '>=', '==', '!='))} {self.of(type_, depth - 1)})"

    def index(self, length: int, depth: int = 1) -> str:
        """An index below a power of two."""
        return f"(u32)({self.of(self.an_integer(), depth)}) & {length - 1}"

    def cast(self, to: Type, source: Type, depth: int) -> str:
        """An expression of another type as one of this."""
        text = self.of(source, depth)
        if to == source:
            return text
        if to == F16:
            single = text if source == F32 else f"(f32)({text})"
            return (
                f"__float2half_rn({single})" if self.chance(0.7) or source == U128 else f"__double2half((f64)({text}))"
            )
        if source == F16:
            text, source = f"__half2float({text})", F32
        if to.is_integer and not source.is_integer:
            if to == I32 and source == F32 and self.chance(0.5):
                return f"__float2int_{self._rounding()}({text})"
            if to in (I32, I64) and source == F64 and self.chance(0.5):  # NaN is told of floats of 32 bits alone
                word = "int" if to == I32 else "ll"
                return f"__double2{word}_{self._rounding()}({text} == {text} ? {text} : 1.0)"
            inner = "i64" if to.bits == 128 else to.name
            return f"({to.name})whole<{inner}>({text})"
        if to == F32 and source == I32 and "rounding" in self.features:
            return f"__int2float_{self._rounding()}({text})"
        if to == F32 and source == F64 and "rounding" in self.features:
            return f"__double2float_{self._rounding()}({text})"
        return f"({to.name})({text})"

    def _rounding(self) -> str:
        return self.random.choice(_ROUNDINGS) if "rounding" in self.features else "rz"

    def _leaf(self, type_: Type) -> str:
        fitting = [each for each in self.variables if each.type == type_]
        if fitting and self.chance(0.75):
            return self.read(self.random.choice(fitting))
        if self.chance(0.4):
            return self.literal(type_)
        others = [each for each in self.variables if each.type.is_integer and not each.length]
        if not others:
            return self.literal(type_)
        if type_ == F16:
            return f"__int2half_rn((i32)({self.read(self.random.choice(others))}) & 0xfff)"
        if not self.is_pure and self.chance(0.3):
            return f"({type_.name})({self.random.choice(('tid', 'slot', 'lane', 'size'))})"
        if not self.is_pure and self.chance(0.3):
            word = f"in[({self.read(self.random.choice(others))}) % 64 & 63]"
            return self.cast_word(type_, word)
        return f"({type_.name})({self.read(self.random.choice(others))})"

    def cast_word(self, type_: Type, word: str) -> str:
        """A word of 64 bits as a value of a type: a float's bits, at times."""
        if type_ == F32 and self.chance(0.7):
            return f"__uint_as_float((u32)({word}))"
        if type_ == F64 and self.chance(0.7):
            return f"__longlong_as_double((i64)({word}))"
        return f"({type_.name})({word})"

    def read(self, variable: Variable) -> str:
        """A variable's value."""
        return variable.text.format(self.index(variable.length, 0)) if variable.length else variable.text

    def literal(self, type_: Type) -> str:
        """A constant."""
        if type_ == F16:
            return f"__float2half_rn({self.random.choice(_REAL)}f)"
        if not type_.is_integer:
            return f"({type_.name}){self.random.choice(_REAL)}{'f' if type_ == F32 else ''}"
        value = (
            self.random.choice(_SPECIAL) if self.chance(0.6) else self.random.getrandbits(self.random.randint(1, 64))
        )
        if type_.bits == 128 and self.chance(0.3):
            return f"(({type_.name})((u128){value:#x}ull << {self.random.randint(1, 64)}))"
        return f"(({type_.name}){value:#x}ull)"

    def _integer(self, type_: Type, depth: int) -> str:
        name, wide = type_.name, type_.computing
        makers: list[Callable[[], str]] = [self._sum, self._sum, self._sum, self._shift, self._negated, self._least]
        makers += [self._quotient, self._quotient] if "divide" in self.features else []
        if "intrinsics" in self.features:
            makers += [self._rotated]
            if type_ in WORDS:
                makers += [self._intrinsic, self._intrinsic]
        if not name.endswith("128") and self.chance(0.1):
            return f"({name})bits_of({self.of(self.a_type(), depth - 1)})"
        assert wide
        self._at = type_, depth - 1
        return self.random.choice(makers)()

    def _sum(self) -> str:
        type_, depth = self._at
        wide, sign = type_.computing, self.random.choice(("+", "-", "*", "&", "|", "^"))
        return f"({type_.name})(({wide}){self.of(type_, depth)} {sign} ({wide}){self.of(type_, depth)})"

    def _shift(self) -> str:
        type_, depth = self._at
        by = f"((u32)({self.of(self.an_integer(), depth)}) & {type_.bits - 1})"
        by = str(self.random.randrange(type_.bits)) if self.chance(0.5) else by
        if self.chance(0.5):
            return f"({type_.name})(({type_.computing}){self.of(type_, depth)} << {by})"
        # A bit-field is promoted by its width: cast first, as it might be shifted by all of its bits
        return f"({type_.name})(({type_.name})({self.of(type_, depth)}) >> {by})"

    def _negated(self) -> str:
        type_, depth = self._at
        return f"({type_.name})({self.random.choice('-~')}({type_.computing}){self.of(type_, depth)})"

    def _least(self) -> str:
        type_, depth = self._at
        if type_ in WORDS and self.chance(0.6):
            return f"{self.random.choice(('min', 'max'))}({self.of(type_, depth)}, {self.of(type_, depth)})"
        return f"({type_.name})({self.condition(depth)})"

    def _quotient(self) -> str:
        type_, depth = self._at
        sign = self.random.choice("/%")
        if self.chance(0.5):
            by = self.random.choice((2, 3, 5, 7, 8, 10, 12, 100, 1000, 641, 65537))
            if type_.bits == 8:
                by %= 127
            elif type_.bits == 16:
                by %= 32000
            return f"({type_.name})({self.of(type_, depth)} {sign} ({type_.name}){by})"
        called = "quotient" if sign == "/" else "remains"
        return f"{called}<{type_.name}>({self.of(type_, depth)}, {self.of(type_, depth)})"

    def _rotated(self) -> str:
        type_, depth = self._at
        unsigned = Type(f"u{type_.bits}")
        return f"({type_.name})rotated<{unsigned.name}>({self.of(unsigned, depth)}, (u32)({self.of(U32, depth)}))"

    def _intrinsic(self) -> str:
        type_, depth = self._at
        name, letters = self.random.choice(_CALLS_32 if type_.bits == 32 else _CALLS_64)
        taken = ", ".join(self.of(_LETTERS[letter], depth) for letter in letters[1:])
        return f"({type_.name}){name}({taken})"

    def _real(self, type_: Type, depth: int) -> str:
        name, end = type_.name, "f" if type_ == F32 else ""

        def some() -> str:
            return self.of(type_, depth - 1)

        kind = self.random.randrange(12)
        if kind < 5:
            return f"({some()} {self.random.choice(('+', '-', '*', '*', '/'))} {some()})"
        if kind == 5:
            return f"fma{end}({some()}, {some()}, {some()})"
        if kind == 6:
            return f"sqrt{end}({some()})"
        if kind == 7:
            return f"{self.random.choice(('fmin', 'fmax'))}{end}({some()}, {some()})"
        if kind == 8:
            return f"{self.random.choice(('floor', 'ceil', 'trunc', 'rint'))}{end}({some()})"
        if kind == 9 and "rounding" in self.features:
            called = self.random.choice(("fadd", "fmul", "fdiv") if type_ == F32 else ("dadd", "dmul"))
            return f"__{called}_{self._rounding()}({some()}, {some()})"
        if kind == 10 and "fmod" in self.features:
            return f"fmod{end}({some()}, {some()})"
        signs = (f"-({some()})", f"fabs{end}({some()})", f"copysign{end}({some()}, ({name}){self.literal(F64)})")
        return self.random.choice(signs)

    def _half(self, type_: Type, depth: int) -> str:
        def some() -> str:
            return self.of(type_, depth - 1)

        kind = self.random.randrange(8)
        if kind < 3:
            return f"{self.random.choice(('__hadd_rn', '__hsub_rn', '__hmul_rn'))}({some()}, {some()})"
        if kind == 3:
            return f"__hfma({some()}, {some()}, {some()})"
        if kind == 4:
            return f"{self.random.choice(('__hneg', '__habs'))}({some()})"
        if kind == 5:
            return f"{self.random.choice(('__hmin', '__hmax'))}({some()}, {some()})"
        half = self.random.choice(("__low2half", "__high2half"))
        called = self.random.choice(("__hadd2_rn", "__hmul2_rn"))
        pair = f"__halves2half2({some()}, {some()})"
        return f"{half}({called}({pair}, __halves2half2({some()}, {some()})))"

"""What stands in front of a kernel, or at its begin: functions, tables, structures."""

from tests.cuda.whole.together import Together
from tests.cuda.whole.tree import Body, Node
from tests.cuda.whole.types import SMALL, U32, U64, WORDS, Function, Type, Variable


class Declarations(Together):
    """Draws them."""

    def outside(self) -> Body:
        """What stands in front of the kernel; `variables` and `functions` have it then."""
        self.body = outside = Body()
        features = self.features
        for _ in range("tables" in features and self.random.randint(1, 3)):
            self._table()
        if "globals" in features:
            type_ = self.a_type() if "half" not in features else U64
            self.body.line(f"__device__ {type_.name} own[4 * 96];")
            # It is written before it is read: else a thread would find what it is at first.
            self.variables.append(Variable("own[slot]", type_))
        in_kernel = self.variables
        self.variables = [each for each in in_kernel if each.text != "own[slot]"]
        for _ in range("calls" in features and self.random.randint(1, 3)):
            self._function()
        for name, draw in (
            ("templates", self._template), ("recursion", self._recursion),
            ("pointers_to_functions", self._pointers), ("virtual", self._virtual),
            ("warp_functions", self._warp_function), ("by_pointer", self._function_by_pointer),
        ):  # fmt: skip
            if name in features:
                draw()
        self.variables = in_kernel
        return outside

    def _table(self) -> None:
        type_ = self.random.choice([each for each in self.types if each.name != "f16"])
        name, length = self.name("t"), self.random.choice((4, 8, 16, 32))
        word = self.random.choice(("__constant__", "__device__"))
        values = ", ".join(self.literal(type_) for _ in range(length))
        self.body.line(f"{word} {type_.name} {name}[{length}] = {{{values}}};")
        self.variables.append(Variable(f"{name}[{{}}]", type_, writable=False, length=length))

    def _written(self, head: str, taken: tuple[Type, ...], result: Type, last: str = "") -> str:
        """A function's node; the names of what it takes are a, b, ... last: what it gives at its end."""
        names = "abcd"[: len(taken)]
        scope, functions = self.variables, list(self.functions)
        self.variables = [each for each in scope if not each.writable]
        self.variables += [Variable(name, type_) for name, type_ in zip(names, taken, strict=True)]
        self.result, self.is_pure, left = result, True, self.left
        self.left = min(self.random.randint(1, 8), left)
        with self.block(None, may_break=False) as body:
            self.statements(2)
            if "RECURSES" in last:
                last = last.replace("RECURSES", self.of(U32, 1))
            body.line(f"return {last or self.of(result)};")
        self.result, self.is_pure, self.left = None, False, left
        self.variables, self.functions = scope, functions
        self.nest((head, body))

    def _takes(self, types: tuple[Type, ...]) -> str:
        return ", ".join(f"{type_.name} {name}" for type_, name in zip(types, "abcd", strict=False))

    def _function(self) -> None:
        name, result = self.name("f"), self.a_type()
        taken = tuple(self.a_type() for _ in range(self.random.randint(1, 4)))
        how = self.random.choice(("__noinline__", "__forceinline__", ""))
        self._written(f"__device__ {how} {result.name} {name}({self._takes(taken)}) {{", taken, result)
        self.functions.append(Function(f"{name}({', '.join(['{}'] * len(taken))})", taken, result))

    def _template(self) -> None:
        name, turns = self.name("t"), self.random.randint(1, 4)
        sign, other = self.random.choice("+-^|&"), self.random.choice("+-^")
        by = self.random.randint(1, 7)
        step = self.random.choice((
            f"a = T(rotated<T>(a, {by}) {sign} b)", f"a = T((a << {by}) {sign} (b >> {by}))",
            f"a = T(a {sign} quotient<T>(b, T(a | 1)))", f"a = T(b {sign} T((u64)a * (u64)a))",
        ))  # fmt: skip
        self.body.line(
            "template <class T, int N> struct S" + name + " { static __device__ T of(T a, T b) {",
            f"  for (int i = 0; i < N; ++i) {{ {step}; b = T(b {other} T(i + 1)); }}", "  return a;", "} };",
        )  # fmt: skip
        for bits in (8, 16, 32, 64, 128):
            type_ = Type(f"u{bits}")
            if type_ in self.types and self.chance(0.7):
                self.functions.append(
                    Function(f"S{name}<{type_.name}, {turns}>::of({{}}, {{}})", (type_, type_), type_)
                )

    def _recursion(self) -> None:
        name, type_ = self.name("r"), self.random.choice(WORDS)
        deeper = f"{name}({type_.name}(a {self.random.choice('^|&')} 5), b - 1)"
        again = f"({type_.name})(({type_.computing}){deeper} + (RECURSES))"
        head = f"__device__ __noinline__ {type_.name} {name}({type_.name} a, u32 b) {{"
        head += "\n  if (b == 0 || b > 3) return a;"
        self._written(head, (type_,), type_, again)
        self.functions.append(Function(f"{name}({{}}, ({{}}) & 3)", (type_, U32), type_))

    def _warp_function(self) -> None:
        """Lanes that are together call it, each with the mask of all."""
        name, type_ = self.name("w"), self.random.choice(WORDS)
        how = self.random.choice(("__noinline__", "__forceinline__"))
        head = f"__device__ {how} {type_.name} {name}(u32 mask, {type_.name} a) {{"
        scope, self.variables = self.variables, [Variable("a", type_)]
        self.result, self.is_pure, self.may_return, left = type_, True, False, self.left
        self.left = min(self.random.randint(1, 6), left)
        with self.block("mask", may_break=False) as body:
            for _ in range(self.random.randint(1, 3)):
                self.random.choice((self._shuffle, self._vote, self._reduce))(0)
                self.statements(1, 1)
            body.line(f"return {self.of(type_)};")
        self.result, self.is_pure, self.may_return, self.left, self.variables = None, False, True, left, scope
        self.nest((head, body))
        self.warp_functions.append((name, type_))

    def _function_by_pointer(self) -> None:
        name, type_ = self.name("p"), self.random.choice(WORDS)
        how = self.random.choice(("__noinline__", ""))
        head = f"__device__ {how} void {name}({type_.name}* a, {type_.name}& b, u32 c) {{"
        scope, self.variables = self.variables, [Variable("(*a)", type_), Variable("b", type_), Variable("c", U32)]
        self.is_pure = True
        with self.block(None, may_break=False) as body:
            self.statements(1, 2)
            self._assign(0)
        self.is_pure, self.variables = False, scope
        self.nest((head, body))
        self.by_pointer.append((name, type_))

    def _pointers(self) -> None:
        name, type_, count = self.name("n"), self.random.choice(WORDS), self.random.choice((2, 4))
        for number in range(count):
            head = f"__device__ {type_.name} {name}_{number}({type_.name} a, {type_.name} b) {{"
            self._written(head, (type_, type_), type_)
        names = ", ".join(f"{name}_{number}" for number in range(count))
        self.body.line(f"__device__ {type_.name} (*{name}[{count}])({type_.name}, {type_.name}) = {{{names}}};")
        taken = (U32, type_, type_)
        self.functions.append(Function(f"{name}[({{}}) & {count - 1}]({{}}, {{}})", taken, type_))

    def _virtual(self) -> None:
        name, type_ = self.name("C"), self.random.choice(WORDS)
        word = type_.name
        self.body.line(
            f"struct {name} {{ {word} own; __device__ {name}({word} own) : own(own) {{}}",
            f"  virtual __device__ {word} of({word} a) const = 0; }};",
        )
        for number in range(2):
            self.body.line(
                f"struct {name}_{number} : {name} {{ using {name}::{name};",
                f"  __device__ {word} of({word} a) const override; }};",
            )
            self.variables.append(Variable("own", type_, writable=False))
            self._written(f"__device__ {word} {name}_{number}::of({word} a) const {{", (type_,), type_)
            self.variables.pop()
        self.body.line(
            f"__device__ __noinline__ {word} of_{name}(const {name}* which, {word} a) {{ return which->of(a); }}",
            f"__device__ {word} either_{name}(u32 which, {word} a, {word} b) {{",
            f"  {name}_0 first(b); {name}_1 second(a);",
            f"  return of_{name}(which % 2 ? (const {name}*)&first : (const {name}*)&second, a);", "}",
        )  # fmt: skip
        self.functions.append(Function(f"either_{name}({{}}, {{}}, {{}})", (U32, type_, type_), type_))

    def inside(self) -> None:
        """What stands at the kernel's begin."""
        features = self.features
        if "globals" in features and any(each.text == "own[slot]" for each in self.variables):
            own = next(each for each in self.variables if each.text == "own[slot]")
            self.variables.remove(own)
            self.body.line(f"own[slot] = {self.of(own.type, 1)};")
            self.variables.append(own)
        for _ in range(self.random.randint(2, 4)):
            self.declare(self.a_type(), self._of_input())
        if "own_cells" in features:  # which others read between two barriers alone, where nobody writes any
            self.variables += [Variable("cells_u32[tid]", U32), Variable("cells_u64[tid]", U64)]
        for name, draw in (
            ("structs", self._struct), ("unions", self._union), ("bit_fields", self._bit_fields),
            ("vectors", self._vector), ("lambdas", self._lambda),
        ):  # fmt: skip
            if name in features:
                draw()

    def _of_input(self) -> str:
        return f"in[(slot * {self.random.choice((1, 3, 5, 7))} + {self.random.randrange(64)}) % 64]"

    def declare(self, type_: Type, text: str, word: str = "") -> Variable:
        """A new variable; of an input's word, as the type takes it."""
        if text.startswith("in["):
            text = f"__ushort_as_half((u16){text})" if type_.name == "f16" else self.cast_word(type_, text)
        return super().declare(type_, text, word)

    def _struct(self) -> None:
        name, variable = self.name("S"), self.name("s")
        types = [self.a_type() for _ in range(self.random.randint(2, 5))]
        members = " ".join(f"{type_.name} m{at};" for at, type_ in enumerate(types))
        values = "; ".join(f"{variable}.m{at} = {self.of(type_, 1)}" for at, type_ in enumerate(types))
        how = self.random.choice(("__noinline__", "__forceinline__"))
        given = types[0].name
        self.outside_nodes.append(Node("\n".join((
            f"struct {name} {{ {members} }};",
            f"__device__ {how} {name} given_{name}({name} a, {given} b) {{",
            f"  {given} c = a.m0; a.m0 = b; b = c; return a;", "}",
        ))))  # fmt: skip
        self.body.line(f"{name} {variable}; {values};")
        self.variables += [Variable(f"{variable}.m{at}", type_) for at, type_ in enumerate(types)]
        self.functions.append(Function(f"given_{name}({variable}, {{}}).m{len(types) - 1}", (types[0],), types[-1]))

    def _union(self) -> None:
        name, variable = self.name("U"), self.name("u")
        self.outside_nodes.append(Node(f"union {name} {{ u64 d; u32 w[2]; u16 h[4]; u8 b[8]; i8 c[8]; }};"))
        self.body.line(f"{name} {variable}; {variable}.d = {self.of(U64)};")
        self.variables += [Variable(f"{variable}.d", U64), Variable(f"{variable}.w[{{}}]", U32, length=2)]
        for letter, type_, length in (("h", "u16", 4), ("b", "u8", 8), ("c", "i8", 8)):
            if "small" in self.features:
                self.variables.append(Variable(f"{variable}.{letter}[{{}}]", Type(type_), length=length))

    def _bit_fields(self) -> None:
        name, variable = self.name("B"), self.name("b")
        types = [self.random.choice((*WORDS, *(SMALL if "small" in self.features else ()))) for _ in range(4)]
        members = " ".join(f"{each.name} m{at} : {self.random.randint(1, each.bits)};" for at, each in enumerate(types))
        self.outside_nodes.append(Node(f"struct {name} {{ {members} }};"))
        values = "; ".join(f"{variable}.m{at} = {self.of(type_, 1)}" for at, type_ in enumerate(types))
        self.body.line(f"{name} {variable}; {values};")
        self.variables += [Variable(f"{variable}.m{at}", type_) for at, type_ in enumerate(types)]

    def _vector(self) -> None:
        kinds = [("uint4", "u32", "xyzw"), ("int4", "i32", "xyzw"), ("uint2", "u32", "xy"), ("ulonglong2", "u64", "xy")]
        kinds += [("float4", "f32", "xyzw"), ("float2", "f32", "xy")] if "float" in self.features else []
        kinds += [("uchar4", "u8", "xyzw"), ("ushort4", "u16", "xyzw")] if "small" in self.features else []
        name, scalar, members = self.random.choice(kinds)
        variable = self.name("x")
        index = f"(2 * ({self.index(32)})) % 64"  # of 16 bytes
        self.body.line(f"{name} {variable} = *({'const ' if self.chance(0.5) else ''}{name}*)(in + {index});")
        self.variables += [Variable(f"{variable}.{member}", Type(scalar)) for member in members]

    def _lambda(self) -> None:
        name, taken, result = self.name("q"), (self.a_type(), self.a_type()), self.a_type()
        how = self.random.choice("=&")
        with self.block(None):
            self.variables += [Variable(each, type_, writable=False) for each, type_ in zip("ab", taken, strict=True)]
            value = self.of(result)
        self.body.line(f"auto {name} = [{how}]({self._takes(taken)}) -> {result.name} {{ return {value}; }};")
        self.functions.append(Function(f"{name}({{}}, {{}})", taken, result))

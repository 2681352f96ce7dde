"""Drawn kernels of whole numbers, whose loops and branches depend on the launch, on threads, and on data."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

DEPTH = 3
SOURCES = ("%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x")
OPERATIONS = ("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32", "shr.u32")
COMPARED = ("lt.s32", "ge.s32", "eq.s32", "ne.s32", "lo.u32", "hi.u32")


class _Writer:
    """Writes a body. %v0 to %v3 are values, %k0 and so on count loops' rounds."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw, self.lines, self._labels, self.loops = draw, [], 0, 0

    def statements(self, depth: int) -> None:
        for _ in range(self._draw(st.integers(1, 3))):
            kinds = [self._compute, self._compute, self._access] + (
                [self._branch, self._loop, self._strided, self._leave] if depth else []
            )
            self._draw(st.sampled_from(kinds))(depth)

    def _write(self, *lines: str) -> None:
        self.lines += [f"  {line}" for line in lines]

    def _value(self) -> str:
        return self._draw(st.sampled_from([*(f"%v{n}" for n in range(4)), "3", "-1", "7", "64"]))

    def _register(self) -> str:
        return f"%v{self._draw(st.integers(0, 3))}"

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _compute(self, depth: int) -> None:
        kind = self._draw(st.sampled_from(["special", "parameter", "operation", "operation", "data", "guarded"]))
        if kind == "special":
            self._write(f"mov.u32 {self._register()}, {self._draw(st.sampled_from(SOURCES))};")
        elif kind == "parameter":
            self._write(f"ld.param.u32 {self._register()}, [n];")
        elif kind == "data":
            self._write(f"ld.global.u32 {self._register()}, [%p];")
        else:
            guard = ""
            if kind == "guarded":
                self._compare()
                guard = self._draw(st.sampled_from(["@%q ", "@!%q "]))
            operation = self._draw(st.sampled_from(OPERATIONS))
            self._write(f"{guard}{operation} {self._register()}, {self._value()}, {self._value()};")

    def _compare(self) -> None:
        self._write(f"setp.{self._draw(st.sampled_from(COMPARED))} %q, {self._register()}, {self._value()};")

    def _access(self, depth: int) -> None:
        self._compare()
        guard = self._draw(st.sampled_from(["", "@%q ", "@!%q "]))
        self._write(f"{guard}st.global.u32 [%p], {self._register()};")

    def _branch(self, depth: int) -> None:
        behind = self._label()
        self._compare()
        self._write(f"@%q bra {behind};")
        self.statements(depth - 1)
        self._write(f"{behind}:")

    def _leave(self, depth: int) -> None:
        self._compare()
        self._write("@%q exit;")

    def _loop(self, depth: int) -> None:
        """Of so many rounds, which data may cut short."""
        counter, begin, end = f"%k{self.loops}", self._label(), self._label()
        self.loops += 1
        self._write(f"mov.u32 {counter}, 0;", f"{begin}:")
        self.statements(depth - 1)
        if self._draw(st.booleans()):
            self._compare()
            self._write(f"@%q bra {end};")
        rounds = self._draw(st.sampled_from(["1", "5", "%ntid.x", "%nctaid.x"]))
        self._write(f"add.u32 {counter}, {counter}, 1;", f"mov.u32 %t, {rounds};", f"setp.lt.u32 %q, {counter}, %t;",
                    f"@%q bra {begin};", f"{end}:")  # fmt: skip

    def _strided(self, depth: int) -> None:
        """By threads, so that they do not all go round as often."""
        counter, begin, end = f"%k{self.loops}", self._label(), self._label()
        self.loops += 1
        self._write(f"mov.u32 {counter}, %tid.x;", f"{begin}:", f"setp.ge.s32 %q, {counter}, 40;", f"@%q bra {end};")
        self.statements(depth - 1)
        self._write("mov.u32 %t, %ntid.x;", f"add.s32 {counter}, {counter}, %t;", f"bra {begin};", f"{end}:")


@st.composite
def counted_kernels(draw: Callable[..., Any]) -> str:
    """The text of a module with a kernel "k" that takes a pointer and a number."""
    writer = _Writer(draw)
    writer.statements(DEPTH)
    begin = ["  mov.u32 %v0, %tid.x;", "  mov.u32 %v1, %ctaid.x;", "  mov.u32 %v3, 1;"]
    return kernel("\n".join([*begin, *writer.lines]), writer.loops + 1)


def kernel(body: str, loops: int = 2) -> str:
    """The text of a module with a kernel "k" that takes a pointer, in %p, and a number, in %v2."""
    return f"""\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
  .reg .b64 %p;
  .reg .b32 %v<4>, %t, %k<{loops}>;
  .reg .pred %q;
  ld.param.u64 %p, [out];
  ld.param.u32 %v2, [n];
{body}
  exit;
}}
"""

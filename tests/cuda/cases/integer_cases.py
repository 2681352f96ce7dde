"""Integers and bits."""

from collections.abc import Iterator

import numpy as np

from simtmm.cuda.ptx.types import bits_of
from tests.cuda.cases.case import Case
from tests.cuda.cases.kernel import COUNT, case, simple
from tests.cuda.cases.values import values

WHOLE = ("u16", "s16", "u32", "s32", "u64", "s64")
LOP3_TABLES = (0x00, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0x1D, 0xF0, 0xCC, 0xAA, 0xFF)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from arithmetic()
    yield from products()
    yield from carries()
    yield from fields()
    yield from logic()
    yield from video()


def divisor(kind: str, seed: str) -> tuple[str, np.ndarray]:
    """Numbers that are not zero: what a division by zero gives is not specified."""
    found = values(kind, COUNT, seed)
    return kind, np.where(found == 0, 3, found).astype(found.dtype)


def arithmetic() -> Iterator[Case]:
    """Sums, quotients, signs and extremes."""
    for kind in WHOLE:
        for name in ("add", "sub", "min", "max"):
            yield simple(f"{name}.{kind}", kind, kind, kind)
        for name in ("div", "rem"):
            yield simple(f"{name}.{kind}", kind, kind, divisor(kind, f"{name} {kind}"))
        yield simple(f"sad.{kind}", kind, kind, kind, kind)
        if kind[0] == "s":
            yield simple(f"abs.{kind}", kind, kind)
            yield simple(f"neg.{kind}", kind, kind)
    for name in ("add", "sub"):
        yield simple(f"{name}.sat.s32", "s32", "s32", "s32")
    for name in ("add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2"):
        yield simple(name, "b32", "b32", "b32")
    for name in ("min.relu.s16x2", "max.relu.s16x2", "max.s16x2.relu", "min.relu.s32", "max.relu.s32"):
        yield simple(name, "b32", "b32", "b32")


def products() -> Iterator[Case]:
    """Products, and those with a sum."""
    for kind in WHOLE:
        for part in ("lo", "hi"):
            yield simple(f"mul.{part}.{kind}", kind, kind, kind)
            yield simple(f"mad.{part}.{kind}", kind, kind, kind, kind)
        if bits_of(kind) < 64:
            wide = f"{kind[0]}{2 * bits_of(kind)}"
            yield simple(f"mul.wide.{kind}", wide, kind, kind)
            yield simple(f"mad.wide.{kind}", wide, kind, kind, wide)
    yield simple("mad.hi.sat.s32", "s32", "s32", "s32", "s32")
    for kind in ("u32", "s32"):
        for part in ("lo", "hi"):
            yield simple(f"mul24.{part}.{kind}", kind, kind, kind)
            yield simple(f"mad24.{part}.{kind}", kind, kind, kind, kind)
    yield simple("mad24.hi.sat.s32", "s32", "s32", "s32", "s32")
    for first in ("u32", "s32"):
        for second in ("u32", "s32"):
            for name in ("dp4a", "dp2a.lo", "dp2a.hi"):
                to = "s32" if "s32" in (first, second) else "u32"
                yield simple(f"{name}.{first}.{second}", to, "b32", "b32", to)


def carries() -> Iterator[Case]:
    """Chains through the carry."""
    for kind in ("u32", "s32", "u64", "s64"):
        for name in ("add", "sub"):
            body = f"{name}.cc.{kind} %x, %a, %b;\n  {name}c.cc.{kind} %y, %c, %d;\n  {name}c.{kind} %z, %a, %d;"
            yield case(f"{name}.cc.{kind}", body, [kind] * 3, [kind] * 4)
        for name, other in (("sub", "add"), ("add", "sub")):  # the flag itself, and one kind of chain behind the other
            body = f"{name}.cc.{kind} %x, %a, %b;\n  {other}c.cc.{kind} %y, 0, 0;\n  {other}c.{kind} %z, %c, %d;"
            yield case(f"{name}.cc.{kind} {other}c", body, [kind] * 3, [kind] * 4)
        body = (
            f"mov.{kind} %y, %a;\n  setp.lt.{kind} %p, %c, %d;\n  sub.cc.{kind} %x, %a, %b;\n"
            f"  @%p add.cc.{kind} %y, %c, %d;\n  addc.{kind} %z, 0, 0;"
        )
        yield case(f"sub.cc.{kind} guarded", body, [kind] * 3, [kind] * 4)
        for part in ("lo", "hi"):
            body = (
                f"mad.{part}.cc.{kind} %x, %a, %b, %c;\n  madc.{part}.cc.{kind} %y, %b, %c, %d;\n"
                f"  madc.{part}.{kind} %z, %a, %c, %d;"
            )
            yield case(f"mad.{part}.cc.{kind}", body, [kind] * 3, [kind] * 4)


def fields() -> Iterator[Case]:
    """Counting and finding bits, and fields of them."""
    for kind in ("b32", "b64"):
        yield simple(f"popc.{kind}", "u32", kind)
        yield simple(f"clz.{kind}", "u32", kind)
        yield simple(f"brev.{kind}", kind, kind)
        yield simple(f"bfi.{kind}", kind, kind, kind, "u32", "u32")
    for kind in ("u32", "s32", "u64", "s64"):
        yield simple(f"bfe.{kind}", kind, kind, "u32", "u32")
        yield simple(f"bfind.{kind}", "u32", kind)
        yield simple(f"bfind.shiftamt.{kind}", "u32", kind)
    random = np.random.default_rng(1)
    base = ("u32", random.integers(0, 32, COUNT).astype(np.uint32))
    offset = ("s32", random.integers(-9, 10, COUNT).astype(np.int32).view(np.uint32))
    yield simple("fns.b32", "b32", "b32", base, offset)
    for mode in ("clamp", "wrap"):
        yield simple(f"bmsk.{mode}.b32", "b32", "u32", "u32")
        for kind in ("u32", "s32"):
            yield simple(f"szext.{mode}.{kind}", kind, kind, "u32")


def logic() -> Iterator[Case]:
    """Bit by bit, shifts and permutations."""
    for kind in ("b16", "b32", "b64", "pred"):
        for name in ("and", "or", "xor"):
            yield simple(f"{name}.{kind}", kind, kind, kind)
        yield simple(f"not.{kind}", kind, kind)
        if kind != "pred":
            yield simple(f"cnot.{kind}", kind, kind)
            yield simple(f"shl.{kind}", kind, kind, "u32")
            for letter in "bus":
                sort = f"{letter}{kind[1:]}"
                yield simple(f"shr.{sort}", sort, sort, "u32")
    for table in LOP3_TABLES:
        body = f"lop3.b32 %x, %a, %b, %c, {table:#x};"
        yield case(f"lop3.b32 {table:#04x}", body, ["b32"], ["b32"] * 3)
    for combine in ("and", "or"):
        body = f"lop3.{combine}.b32 %x|%y, %a, %b, %c, 0x80, %d;"
        yield case(f"lop3.{combine}.b32", body, ["b32", "pred"], ["b32", "b32", "b32", "pred"])
    for side in "lr":
        for mode in ("clamp", "wrap"):
            yield simple(f"shf.{side}.{mode}.b32", "b32", "b32", "b32", "u32")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield simple(f"prmt.b32{mode}", "b32", "b32", "b32", "b32")
    for kind, parts in (("b32", 2), ("b64", 2), ("b64", 4)):
        part = f"b{bits_of(kind) // parts}"
        listed = ", ".join(["%x", "%y", "%z", "%w"][:parts])
        yield case(f"mov.{kind} to {parts} parts", f"mov.{kind} {{{listed}}}, %a;", [part] * parts, [kind])
        given = ", ".join(["%a", "%b", "%c", "%d"][:parts])
        yield case(f"mov.{kind} of {parts} parts", f"mov.{kind} %x, {{{given}}};", [kind], [part] * parts)


def video() -> Iterator[Case]:
    """Halves and bytes of words."""
    for lanes in (2, 4):
        for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for types in ("u32.u32.u32", "s32.s32.s32"):
                yield simple(f"{name}{lanes}.{types}", "b32", "b32", "b32", "b32")
                yield simple(f"{name}{lanes}.{types}.add", "b32", "b32", "b32", "b32")
                yield simple(f"{name}{lanes}.{types}.sat", "b32", "b32", "b32", "b32")
        for kind in ("u32", "s32"):
            yield simple(f"vset{lanes}.{kind}.{kind}.lt", "b32", "b32", "b32", "b32")
            yield simple(f"vset{lanes}.{kind}.{kind}.ge.add", "b32", "b32", "b32", "b32")

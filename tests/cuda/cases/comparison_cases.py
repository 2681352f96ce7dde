"""Comparisons and selections."""

from collections.abc import Iterator

from tests.cuda.cases.case import PACKED, Case
from tests.cuda.cases.kernel import case, simple

_ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
_REAL = (*_ORDERED, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def cases() -> Iterator[Case]:
    """All of them."""
    for kind in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"):
        for name in _names(kind):
            yield case(f"setp.{name}.{kind}", f"setp.{name}.{kind} %x|%y, %a, %b;", ["pred"] * 2, [kind] * 2)
        for combine in ("and", "or", "xor"):
            name = f"{_names(kind)[1]}.{combine}"
            body = f"setp.{name}.{kind} %x|%y, %a, %b, %c;"
            yield case(f"setp.{name}.{kind}", body, ["pred"] * 2, [kind, kind, "pred"])
            body = f"setp.{name}.{kind} %x|%y, %a, %b, !%c;"
            yield case(f"setp.{name}.{kind} not", body, ["pred"] * 2, [kind, kind, "pred"])
            for to in ("u32", "s32", "f32"):
                yield simple(f"set.{name}.{to}.{kind}", to, kind, kind, "pred")
        for to in ("u32", "f32"):
            yield simple(f"set.{_names(kind)[0]}.{to}.{kind}", to, kind, kind)
    for name in _REAL:
        yield case(f"setp.{name}.ftz.f32", f"setp.{name}.ftz.f32 %x|%y, %a, %b;", ["pred"] * 2, ["f32"] * 2)
        for kind in ("f16", "bf16"):
            yield simple(f"setp.{name}.{kind}", "pred", kind, kind)
        for kind in ("f16x2", "bf16x2"):
            yield case(f"setp.{name}.{kind}", f"setp.{name}.{kind} %x|%y, %a, %b;", ["pred"] * 2, [kind] * 2)
    for kind in ("f16", "bf16", "f16x2", "bf16x2"):
        for name in ("lt", "neu"):
            yield simple(f"set.{name}.{kind}.{kind}", kind, kind, kind)
            yield simple(f"set.{name}.u32.{kind}", "u32", kind, kind)
    yield simple("set.gt.and.f16x2.f16x2", "f16x2", "f16x2", "f16x2", "pred")
    yield from selections()


def _names(kind: str) -> tuple[str, ...]:
    if kind[0] == "f" or kind in PACKED:
        return _REAL
    return ("eq", "ne") if kind[0] == "b" else (*_ORDERED, "lo", "ls", "hi", "hs") if kind[0] == "u" else _ORDERED


def selections() -> Iterator[Case]:
    """selp, slct and testp."""
    for kind in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"):
        yield simple(f"selp.{kind}", kind, kind, kind, "pred")
        for by in ("s32", "f32"):
            yield simple(f"slct.{kind}.{by}", kind, kind, kind, by)
    yield simple("slct.ftz.u32.f32", "u32", "u32", "u32", "f32")
    for kind in ("f32", "f64"):
        for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield simple(f"testp.{name}.{kind}", "pred", kind)

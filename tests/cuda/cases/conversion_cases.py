"""cvt from every type to every other."""

from collections.abc import Iterator

from simtmm.cuda.ptx.types import bits_of
from tests.cuda.cases.case import Case
from tests.cuda.cases.kernel import case, simple

WHOLE = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
REAL = ("f16", "bf16", "f32", "f64")
MODES = ("rn", "rz", "rm", "rp")
_PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def cases() -> Iterator[Case]:
    """All of them."""
    yield from between_whole()
    yield from to_real()
    yield from to_whole()
    yield from between_real()
    yield from pairs()
    yield from packed()


def _to(kind: str) -> str:
    """The type of the destination's register: narrow results are extended to 32 bits."""
    return kind if bits_of(kind) >= 32 or kind not in WHOLE else "b32"


def _holds(to: str, kind: str) -> bool:
    """Whether a type has all numbers of the other, so that nothing saturates."""
    wider = bits_of(to) - bits_of(kind)
    return wider >= 0 if to[0] == kind[0] else to[0] == "s" and wider > 0


def between_whole() -> Iterator[Case]:
    """Cut, extended, or saturated."""
    for to in WHOLE:
        for kind in WHOLE:
            yield simple(f"cvt.{to}.{kind}", _to(to), kind)
            if not _holds(to, kind):
                yield simple(f"cvt.sat.{to}.{kind}", _to(to), kind)


def to_real() -> Iterator[Case]:
    """Whole numbers to floating-point ones."""
    for to in REAL:
        for kind in WHOLE:
            for mode in MODES:
                if to == "bf16" and bits_of(kind) == 8:
                    continue
                if mode != "rn" and to == "f64" and bits_of(kind) < 64:
                    continue  # exact in any mode
                yield simple(f"cvt.{mode}.{to}.{kind}", to, kind)
    yield simple("cvt.rn.sat.f32.s32", "f32", "s32")
    yield simple("cvt.rn.sat.f64.u8", "f64", "u8")


def to_whole() -> Iterator[Case]:
    """Floating-point numbers to whole ones, saturated."""
    for kind in REAL:
        for to in WHOLE:
            if kind == "bf16" and bits_of(to) == 8:
                continue
            for mode in MODES:
                yield simple(f"cvt.{mode}i.{to}.{kind}", to if kind == "bf16" else _to(to), kind)
                if kind == "f32":
                    yield simple(f"cvt.{mode}i.ftz.{to}.{kind}", _to(to), kind)


def between_real() -> Iterator[Case]:
    """Wider, narrower, or rounded to whole numbers in the same format."""
    for to in REAL:
        for kind in REAL:
            if "bf16" in (to, kind) and {to, kind} != {"bf16", "f32"}:
                continue
            if _PRECISION[to] > _PRECISION[kind]:
                yield simple(f"cvt.{to}.{kind}", to, kind)
            elif to != kind:
                for mode in ("rn", "rz") if to == "bf16" else MODES:
                    yield simple(f"cvt.{mode}.{to}.{kind}", to, kind)
    for kind in ("f16", "f32", "f64"):
        for mode in MODES:
            yield simple(f"cvt.{mode}i.{kind}.{kind}", kind, kind)
    yield from (simple(f"cvt.{name}", *kinds) for name, kinds in _MORE.items())


# Saturated, flushed and with .relu: what is said behind cvt, destination, source.
_MORE = {
    "sat.f32.f32": ("f32", "f32"), "ftz.f32.f32": ("f32", "f32"), "ftz.sat.f32.f32": ("f32", "f32"),
    "sat.f64.f64": ("f64", "f64"), "rni.ftz.f32.f32": ("f32", "f32"), "rpi.sat.f32.f32": ("f32", "f32"),
    "rn.ftz.f32.f64": ("f32", "f64"), "rz.sat.f32.f64": ("f32", "f64"), "ftz.f64.f32": ("f64", "f32"),
    "rn.ftz.f16.f32": ("f16", "f32"), "rn.sat.f16.f32": ("f16", "f32"), "sat.f32.f16": ("f32", "f16"),
    "ftz.f32.f16": ("f32", "f16"), "rn.relu.f16.f32": ("f16", "f32"), "rz.relu.f16.f32": ("f16", "f32"),
    "rn.relu.bf16.f32": ("bf16", "f32"), "rna.tf32.f32": ("tf32", "f32"), "rn.tf32.f32": ("tf32", "f32"),
    "rz.tf32.f32": ("tf32", "f32"), "rn.relu.tf32.f32": ("tf32", "f32"),
}  # fmt: skip


def pairs() -> Iterator[Case]:
    """Two numbers to one register, and fp8."""
    for to in ("f16x2", "bf16x2"):
        for mode in ("rn", "rz", "rn.relu", "rz.relu"):
            yield simple(f"cvt.{mode}.{to}.f32", to, "f32", "f32")
    for to in ("e4m3x2", "e5m2x2"):
        for more in ("", ".relu"):
            yield simple(f"cvt.rn.satfinite{more}.{to}.f32", to, "f32", "f32")
            yield simple(f"cvt.rn.satfinite{more}.{to}.f16x2", to, "f16x2")
            yield simple(f"cvt.rn{more}.f16x2.{to}", "f16x2", to)


def packed() -> Iterator[Case]:
    """cvt.pack."""
    for to in ("u16", "s16"):
        yield simple(f"cvt.pack.sat.{to}.s32", "b32", "s32", "s32")
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        body = f"cvt.pack.sat.{to}.s32.b32 %x, %a, %b, %c;"
        yield case(f"cvt.pack.sat.{to}.s32.b32", body, ["b32"], ["s32", "s32", "b32"])

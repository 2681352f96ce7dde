"""Matrices in registers of a warp."""

from collections.abc import Iterator

import numpy as np

from simtmm.cuda.ptx.types import bits_of
from tests.cuda.cases.case import EXACT, Case
from tests.cuda.cases.kernel import COUNT, LETTERS, THREADS, case
from tests.cuda.cases.values import values
from tests.cuda.interpreter.formats import FORMATS, encode

# Shape, types of D, A, B and C, and registers of A, B and C.
_SHAPES = [
    *(("m16n8k8", f"{c}.f16.f16.{c}", 2, 1, registers) for c, registers in (("f32", 4), ("f16", 2))),
    *(("m16n8k16", f"{c}.f16.f16.{c}", 4, 2, registers) for c, registers in (("f32", 4), ("f16", 2))),
    ("m16n8k8", "f32.bf16.bf16.f32", 2, 1, 4),
    ("m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4),
    ("m16n8k4", "f32.tf32.tf32.f32", 2, 1, 4),
    ("m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4),
    ("m8n8k4", "f64.f64.f64.f64", 1, 1, 2),
    ("m16n8k4", "f64.f64.f64.f64", 2, 1, 4),
    ("m16n8k8", "f64.f64.f64.f64", 4, 2, 4),
    *(("m8n8k16", f"s32.{a}.{b}.s32", 1, 1, 2) for a in ("s8", "u8") for b in ("s8", "u8")),
    *(("m16n8k16", f"s32.{a}.{b}.s32", 2, 1, 4) for a in ("s8", "u8") for b in ("s8", "u8")),
    *(("m16n8k32", f"s32.{a}.{b}.s32", 4, 2, 4) for a in ("s8", "u8") for b in ("s8", "u8")),
    ("m16n8k16", "satfinite.s32.s8.u8.s32", 2, 1, 4),
    ("m16n8k32", "s32.s4.u4.s32", 2, 1, 4),
    ("m16n8k64", "s32.u4.s4.s32", 4, 2, 4),
    ("m16n8k32", "f32.e4m3.e5m2.f32", 4, 2, 4),
]
_DRAWN = [
    ("m16n8k16", "f32.f16.f16.f32", 4, 2, 4),
    ("m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4),
    ("m16n8k16", "f16.f16.f16.f16", 4, 2, 2),
    ("m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4),
    ("m16n8k32", "f32.e4m3.e5m2.f32", 4, 2, 4),
]


def cases() -> Iterator[Case]:
    """All of them."""
    for shape, types, *counts in _SHAPES:
        yield _product(shape, types, counts, whole=True)
    for shape, types, *counts in _DRAWN:
        yield _product(shape, types, counts, whole=False)
    yield from rows()


def _fragment(kind: str, seed: str, whole: bool) -> tuple[str, np.ndarray]:
    """Registers with numbers whose products and sums are exact in any order, or of sizes far apart."""
    packed = {"f16": "f16x2", "bf16": "bf16x2", "tf32": "b32", "e4m3": "b32", "e5m2": "b32"}
    register = packed.get(kind, kind if bits_of(kind) >= 32 else "b32")
    if kind not in FORMATS:
        return register, values("s32", COUNT, seed)
    form = FORMATS[kind]
    random = np.random.default_rng(sum(seed.encode()))
    found = np.zeros(COUNT, np.uint64)
    for shift in range(0, bits_of(register), max(form.bits, 8)):
        numbers = random.integers(-4, 5, COUNT) if whole else random.normal(0, 2.0 ** random.integers(-6, 7, COUNT))
        drawn = np.array([encode(float(number), form) for number in numbers], np.uint64)
        found |= drawn << np.uint64(shift)
    return register, found.astype(np.uint64 if bits_of(register) == 64 else np.uint32)


def _product(shape: str, types: str, counts: list[int], whole: bool) -> Case:
    """D = A B + C."""
    to, *kinds = types.split(".")[-4:]
    name = f"mma.sync.aligned.{shape}.row.col.{types}"
    inputs, listed, at = [], [], 0
    for kind, count in zip(kinds, counts, strict=True):
        listed.append(", ".join(f"%{letter}" for letter in LETTERS[at : at + count]))
        inputs += [_fragment(kind, f"{name} {at + number}", whole) for number in range(count)]
        at += count
    results = counts[2]
    targets = ", ".join(f"%{letter}" for letter in "xyzw"[:results])
    body = f"{name} {{{targets}}}, " + ", ".join(f"{{{each}}}" for each in listed) + ";"
    output = {"f16": "f16x2"}.get(to, to)
    return case(name if whole else f"{name} drawn", body, [output] * results, inputs, EXACT)


def rows() -> Iterator[Case]:
    """ldmatrix, stmatrix and movmatrix, rows in another order than lanes."""
    prepare = f"""\
.shared .align 16 .b8 held[{16 * THREADS}];
  .reg .b32 %mine, %row, %other;
  mov.u32 %mine, %tid.x;
  mov.u32 %row, held;
  xor.b32 %other, %mine, 5;
  mad.lo.u32 %other, %other, 16, %row;
  mad.lo.u32 %row, %mine, 16, %row;
"""
    straight = "{%a, %b, %c, %d}"
    prepare += f"  st.shared.v4.b32 [%row], {straight};\n  bar.warp.sync 0xffffffff;\n"
    for count, given, taken in ((1, "{%a}", "{%x}"), (2, "{%a, %b}", "{%x, %y}"), (4, straight, "{%x, %y, %z, %w}")):
        for trans in ("", ".trans"):
            name = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            body = f"{prepare}  {name} {taken}, [%other];"
            yield case(name, body, ["b32"] * count, ["b32"] * 4)
            name = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            body = (
                f"{prepare}  {name} [%other], {given};\n"
                "  bar.warp.sync 0xffffffff;\n  ld.shared.v4.b32 {%x, %y, %z, %w}, [%row];"
            )
            yield case(name, body, ["b32"] * 4, ["b32"] * 4)
    yield case("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %x, %a;", ["b32"], ["b32"])

"""Loads, stores and atomic operations."""

from collections.abc import Iterator

import numpy as np

from simtmm.cuda.ptx.types import bits_of, bytes_of
from tests.cuda.cases.case import Case
from tests.cuda.cases.kernel import COUNT, LETTERS, THREADS, case
from tests.cuda.cases.values import values

TYPES = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")
_PLACE = "mov.u32 %flag, %tid.x;\n  mul.wide.u32 %at, %flag, {size};\n  .reg .b64 %place;\n"
# Memory of a space, room for {size} bytes a thread, and %at with this thread's part of it.
SPACES = {
    "shared": ".shared .align 32 .b8 held[{all}];\n  "
    + _PLACE
    + "  mov.u64 %place, held;\n  add.u64 %at, %at, %place;\n",
    "local": ".local .align 32 .b8 held[{size}];\n  mov.u64 %at, held;\n",
}


def cases() -> Iterator[Case]:
    """All of them."""
    yield from loads()
    yield from vectors()
    yield from atomics()
    yield from behind()
    yield from contended()
    yield from wide()
    yield from copies()


def _through(space: str, size: int) -> str:
    """Code that lets %at be an address of this thread's own, and the name of the space in instructions."""
    return SPACES[space].format(size=size, all=size * THREADS)


def loads() -> Iterator[Case]:
    """Each type, from each space: narrow ones are extended to 32 bits."""
    for kind in TYPES:
        size = bytes_of(kind)
        to = "b32" if bits_of(kind) < 32 else f"b{bits_of(kind)}"
        given = (to, values(to, COUNT, kind))
        for modifier in ("", ".nc", ".ca", ".volatile", ".relaxed.gpu", ".acquire.sys"):
            name = f"ld{modifier}.global" if modifier not in ("", ".nc", ".ca") else f"ld.global{modifier}"
            body = f"mad.wide.u32 %at, %i, {bytes_of(to)}, %base0;\n  {name}.{kind} %x, [%at];"
            yield case(f"{name}.{kind}", body, [to], [given])
        for space in SPACES:
            body = f"{_through(space, size)}  st.{space}.{kind} [%at], %a;\n  ld.{space}.{kind} %x, [%at];"
            yield case(f"st and ld.{space}.{kind}", body, [to], [given])
            body = (
                f"{_through(space, size)}  cvta.{space}.u64 %at, %at;\n  st.{kind} [%at], %a;\n  ld.{kind} %x, [%at];\n"
                f"  cvta.to.{space}.u64 %at, %at;\n  ld.{space}.{kind} %x, [%at];"
            )
            yield case(f"generic st and ld.{space}.{kind}", body, [to], [given])


def behind() -> Iterator[Case]:
    """An address of 32 bits, and an offset beyond the end of 32 bits: it goes round."""
    body = f"""\
.shared .align 4 .b8 held[{4 * THREADS}];
  .reg .b32 %place;
  mov.u32 %flag, %tid.x;
  mov.u32 %place, held;
  mad.lo.s32 %flag, %flag, -4, %place;
  st.shared.b32 [%flag+{4 * THREADS - 4}], %a;
  bar.sync 0;
  ld.shared.b32 %x, [%flag+{4 * THREADS - 4}];"""
    yield case("st and ld.shared behind an address below", body, ["b32"], ["b32"])


def vectors() -> Iterator[Case]:
    """Vectors to a space and back, in the other order."""
    for kind in TYPES:
        for lanes in (2, 4):
            size = bytes_of(kind) * lanes
            if size > 16:
                continue
            to = "b32" if bits_of(kind) < 32 else f"b{bits_of(kind)}"
            given = ", ".join(f"%{letter}" for letter in LETTERS[:lanes])
            taken = ", ".join(f"%{letter}" for letter in "wzyx"[4 - lanes :])
            for space in SPACES:
                body = (
                    f"{_through(space, size)}  st.{space}.v{lanes}.{kind} [%at], {{{given}}};\n"
                    f"  ld.{space}.v{lanes}.{kind} {{{taken}}}, [%at];"
                )
                yield case(f"st and ld.{space}.v{lanes}.{kind}", body, [to] * lanes, [to] * lanes)


_ATOMICS = {
    "add": ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.f16x2", "noftz.bf16", "noftz.bf16x2"),
    "min": ("u32", "s32", "u64", "s64"), "max": ("u32", "s32", "u64", "s64"), "and": ("b32", "b64"),
    "or": ("b32", "b64"), "xor": ("b32", "b64"), "exch": ("b32", "b64"), "inc": ("u32",), "dec": ("u32",),
}  # fmt: skip


def atomics() -> Iterator[Case]:
    """Each thread on an element of its own: what was there, and what is then."""
    for name, kinds in _ATOMICS.items():
        for modified in kinds:
            kind = modified.rpartition(".")[2]
            size = bytes_of(kind)
            held = (
                kind,
                np.minimum(values(kind, COUNT, f"held {name}"), 50) if kind == "u32" else values(kind, COUNT, name),
            )
            other = (kind, held[1][::-1].copy())
            place = f"mad.wide.u32 %at, %i, {size}, %base0;\n"
            body = f"{place}  atom.global.{name}.{modified} %x, [%at], %b;"
            yield case(f"atom.global.{name}.{modified}", body, [kind], [held, other])
            body = f"{place}  red.relaxed.gpu.global.{name}.{modified} [%at], %b;"
            if name != "exch":
                yield case(f"red.global.{name}.{modified}", body, [], [held, other])
            letters = f"b{bits_of(kind)}"
            body = (
                f"{_through('shared', size)}  st.shared.{letters} [%at], %a;\n"
                f"  atom.shared.{name}.{modified} %x, [%at], %b;\n  ld.shared.{letters} %y, [%at];"
            )
            yield case(f"atom.shared.{name}.{modified}", body, [kind, kind], [held, other])
    for kind in ("b16", "b32", "b64"):
        held = values(kind, COUNT, kind)
        right = np.where(np.arange(COUNT) % 2, held, values(kind, COUNT, f"other {kind}"))
        body = (
            f"mad.wide.u32 %at, %i, {bytes_of(kind)}, %base0;\n  atom.acq_rel.gpu.global.cas.{kind} %x, [%at], %b, %c;"
        )
        yield case(f"atom.global.cas.{kind}", body, [kind], [(kind, held), (kind, right), kind])


def contended() -> Iterator[Case]:
    """All threads on one element, in any order: the end is the same."""
    whole = values("u32", COUNT, "contended")
    small = np.random.default_rng(7).integers(-50, 50, COUNT).astype(np.float32).view(np.uint32)
    for name, kind in (
        ("add.u32", "u32"), ("min.s32", "s32"), ("max.u32", "u32"), ("xor.b32", "b32"), ("and.b32", "b32"),
        ("or.b32", "b32"), ("add.f32", "f32"),
    ):  # fmt: skip
        given = small if kind == "f32" else whole
        body = f"red.global.{name} [%base1], %a;"
        yield case(f"red.global.{name} contended", body, [], [(kind, given), (kind, given[::-1].copy())])
    for name in ("inc", "dec"):
        ring = np.zeros(COUNT, np.uint32)
        yield case(f"red.global.{name} contended", f"red.global.{name}.u32 [%base0], 100;", [], [("u32", ring)])


def wide() -> Iterator[Case]:
    """128 bits, and atomic operations on vectors."""
    place = "mad.wide.u32 %at, %i, 16, %base0;\n"
    whole = "  .reg .b128 %all<4>;\n  ld.global.b128 %all0, [%at];\n"
    body = f"{place}{whole}  mov.b128 {{%x, %y}}, %all0;"
    double = ("b64", values("b64", 2 * COUNT, "wide"))
    yield case("ld.global.b128", body, ["b64", "b64"], [double])
    body = f"{place}  .reg .b128 %all;\n  mov.b128 %all, {{%b, %c}};\n  st.global.b128 [%at], %all;"
    yield case("st.global.b128", body, [], [double, "b64", "b64"])
    for name in ("exch", "cas"):
        operands = "%all1" if name == "exch" else "%all0, %all1"
        body = (
            f"{place}{whole}  mov.b128 %all1, {{%b, %c}};\n  atom.global.{name}.b128 %all2, [%at], {operands};\n"
            "  mov.b128 {%x, %y}, %all2;"
        )
        yield case(f"atom.global.{name}.b128", body, ["b64", "b64"], [double, "b64", "b64"])
    for kind, lanes in (("f32", 2), ("f32", 4), ("noftz.f16", 4), ("noftz.bf16x2", 2)):
        plain = kind.rpartition(".")[2]
        modifiers = f"add.noftz.v{lanes}.{plain}" if "noftz" in kind else f"add.v{lanes}.{plain}"
        held = (plain, values(plain, lanes * COUNT, modifiers))
        given = ", ".join(f"%{letter}" for letter in LETTERS[1 : lanes + 1])
        taken = ", ".join(["%x", "%y", "%z", "%w"][:lanes])
        body = (
            f"mad.wide.u32 %at, %i, {lanes * bytes_of(plain)}, %base0;\n"
            f"  atom.global.{modifiers} {{{taken}}}, [%at], {{{given}}};"
        )
        yield case(f"atom.global.{modifiers}", body, [plain] * lanes, [held, *[plain] * lanes])


def copies() -> Iterator[Case]:
    """cp.async, all of it or a part, and zeros behind."""
    for cache, size, taken in (("ca", 4, ""), ("ca", 8, ", 5"), ("ca", 16, ", 0"), ("cg", 16, ", 12"), ("cg", 16, "")):
        lanes = size // 4
        read = ", ".join(["%x", "%y", "%z", "%w"][:lanes])
        vector = f"v{lanes}.b32 {{{read}}}" if lanes > 1 else "b32 %x"
        body = (
            f"{_through('shared', size)}  .reg .b64 %source;\n  mad.wide.u32 %source, %i, {size}, %base0;\n"
            f"  cp.async.{cache}.shared.global [%at], [%source], {size}{taken};\n  cp.async.commit_group;\n"
            f"  cp.async.wait_group 0;\n  ld.shared.{vector}, [%at];"
        )
        given = ("b32", values("b32", lanes * COUNT, "copied"))
        yield case(f"cp.async.{cache} {size}{taken}", body, ["b32"] * lanes, [given])
    for name, taken in (("all", ""), ("a part", " %taken,"), ("none", " %p,"), ("not none", " !%p,")):
        for prefetched in ("", ".L2::128B"):
            body = (
                f"{_through('shared', 4)}  .reg .b64 %source, %policy;\n  .reg .b32 %taken;\n"
                "  and.b32 %taken, %i, 3;\n  setp.gt.u32 %p, %taken, 1;\n"
                "  createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;\n"
                "  mad.wide.u32 %source, %i, 4, %base0;\n"
                f"  cp.async.ca.shared.global.L2::cache_hint{prefetched} [%at], [%source], 4,{taken} %policy;\n"
                "  cp.async.wait_all;\n  ld.shared.b32 %x, [%at];"
            )
            yield case(f"cp.async L2::cache_hint{prefetched}, {name}", body, ["b32"], ["b32"])

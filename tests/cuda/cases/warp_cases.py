"""What the threads of a warp or block do together."""

from collections.abc import Iterator

import numpy as np

from tests.cuda.cases.case import Case
from tests.cuda.cases.kernel import COUNT, THREADS, case

_FULL = "0xffffffff"
# Lanes below 20 of each warp go together, the others go by.
_SOME = "mov.b32 %x, 0;\n  mov.u32 %flag, %laneid;\n  setp.ge.u32 %q, %flag, 20;\n  @%q bra BY;\n  {}\nBY:"


def cases() -> Iterator[Case]:
    """All of them."""
    yield from shuffles()
    yield from votes()
    yield from reductions()
    yield from barriers()


def drawn(kind: str, low: int, high: int, seed: int) -> tuple[str, np.ndarray]:
    """Whole numbers, 32 bits wide or 64."""
    dtype = np.uint64 if kind.endswith("64") else np.uint32
    return kind, np.random.default_rng(seed).integers(low, high, COUNT).astype(np.int64).astype(dtype)


def shuffles() -> Iterator[Case]:
    """Every mode, with segments, clamps and distances that differ between lanes."""
    for mode in ("up", "down", "bfly", "idx"):
        body = f"shfl.sync.{mode}.b32 %x|%y, %a, %b, %c, {_FULL};"
        yield case(
            f"shfl.sync.{mode}", body, ["b32", "pred"], ["b32", drawn("u32", 0, 70, 1), drawn("u32", 0, 1 << 13, 2)]
        )
        for width in (1, 2, 4, 8, 16, 32):
            clamp = (32 - width) << 8 | (0 if mode == "up" else 31)
            body = f"shfl.sync.{mode}.b32 %x|%y, %a, %b, {clamp:#x}, {_FULL};"
            yield case(f"shfl.sync.{mode} width {width}", body, ["b32", "pred"], ["b32", drawn("u32", 0, 33, width)])
    body = "shfl.sync.idx.b32 %x, %a, %b, 31, 0xfffff;"
    yield case("shfl.sync.idx of some", _SOME.format(body), ["b32"], ["b32", drawn("u32", 0, 20, 3)])


def votes() -> Iterator[Case]:
    """vote and match."""
    rare = ("pred", (np.arange(COUNT) // 32 % 3).astype(np.uint32) & 1)  # whole warps agree
    for name, to in (("all", "pred"), ("any", "pred"), ("uni", "pred"), ("ballot", "b32")):
        kind = "b32" if to == "b32" else "pred"
        for given, called in (("pred", ""), (rare, " agreed")):
            yield case(f"vote.sync.{name}{called}", f"vote.sync.{name}.{kind} %x, %a, {_FULL};", [to], [given])
        yield case(f"vote.sync.{name} not", f"vote.sync.{name}.{kind} %x, !%a, {_FULL};", [to], [rare])
        some = _SOME.format(f"vote.sync.{name}.{kind} %x, %a, 0xfffff;")
        if to == "b32":
            yield case(f"vote.sync.{name} of some", some, [to], ["pred"])
    for kind in ("b32", "b64"):
        few = drawn(kind, 0, 5, 4)
        alike = (kind, (np.arange(COUNT) // 64).astype(few[1].dtype))
        yield case(f"match.any.sync.{kind}", f"match.any.sync.{kind} %x, %a, {_FULL};", ["b32"], [few])
        for given, called in ((few, ""), (alike, " alike")):
            body = f"match.all.sync.{kind} %x|%y, %a, {_FULL};"
            yield case(f"match.all.sync.{kind}{called}", body, ["b32", "pred"], [given])


def reductions() -> Iterator[Case]:
    """redux."""
    for kind, names in (("u32", "add min max"), ("s32", "add min max"), ("b32", "and or xor")):
        for name in names.split():
            yield case(f"redux.sync.{name}.{kind}", f"redux.sync.{name}.{kind} %x, %a, {_FULL};", [kind], [kind])
            some = _SOME.format(f"redux.sync.{name}.{kind} %x, %a, 0xfffff;")
            yield case(f"redux.sync.{name}.{kind} of some", some, [kind], [kind])
    for name in ("min", "max", "min.NaN", "max.abs", "min.abs.NaN"):
        body = f"redux.sync.{name}.f32 %x, %a, {_FULL};"
        yield case(f"redux.sync.{name}.f32", body, ["f32"], ["f32"], target="sm_100a")


def barriers() -> Iterator[Case]:
    """Threads see what others stored before a barrier, and count themselves."""
    exchange = f"""\
.shared .align 4 .b8 held[{4 * THREADS}];
  .reg .b32 %mine, %theirs, %base;
  mov.u32 %mine, %tid.x;
  mov.u32 %base, held;
  mad.lo.u32 %theirs, %mine, 4, %base;
  st.shared.b32 [%theirs], %a;
  {{}}
  xor.b32 %mine, %mine, {{}};
  mad.lo.u32 %theirs, %mine, 4, %base;
  ld.shared.b32 %x, [%theirs];"""
    for name, distance in (
        ("bar.sync 0", 63), ("barrier.sync 3", 63), (f"barrier.cta.sync.aligned 1, {THREADS}", 33),
        (f"bar.warp.sync {_FULL}", 31),
    ):  # fmt: skip
        yield case(name, exchange.format(f"{name};", distance), ["b32"], ["b32"])
    for name, to in (("popc.u32", "u32"), ("and.pred", "pred"), ("or.pred", "pred")):
        for given, called in (
            (drawn("u32", 0, 2, 5)[1], ""),
            (np.zeros(COUNT, np.uint32), " none"),
            (np.ones(COUNT, np.uint32), " all"),
        ):
            yield case(f"bar.red.{name}{called}", f"bar.red.{name} %x, 0, %a;", [to], [("pred", given)])
            yield case(
                f"barrier.red.{name}{called}", f"barrier.red.{name} %x, 2, {THREADS}, !%a;", [to], [("pred", given)]
            )
    half = THREADS // 2
    handed = f"""\
.shared .align 4 .b8 held[{4 * half}];
  .reg .b32 %mine, %place;
  mov.u32 %mine, %tid.x;
  and.b32 %place, %mine, {half - 1};
  mov.u32 %flag, held;
  mad.lo.u32 %place, %place, 4, %flag;
  mov.u32 %x, %a;
  setp.lt.u32 %p, %mine, {half};
  @%p bra TAKE;
  st.shared.b32 [%place], %a;
  bar.arrive 5, {THREADS};
  bra DONE;
TAKE:
  bar.sync 5, {THREADS};
  ld.shared.b32 %x, [%place];
DONE:"""
    yield case("bar.arrive", handed, ["b32"], ["b32"])

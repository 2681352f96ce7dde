"""Floating-point arithmetic."""

from collections.abc import Iterator

import numpy as np

from tests.cuda.cases import bounds
from tests.cuda.cases.case import Case
from tests.cuda.cases.kernel import COUNT, simple
from tests.cuda.cases.values import values

MODES = ("rn", "rz", "rm", "rp")
HALVES = ("f16", "f16x2", "bf16", "bf16x2")
OPERANDS = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "rcp": 1, "sqrt": 1}


def cases() -> Iterator[Case]:
    """All of them."""
    yield from rounded()
    yield from halves()
    yield from signs()
    yield from approximate()


def rounded() -> Iterator[Case]:
    """All rounding modes of f32 and f64."""
    for name, count in OPERANDS.items():
        for mode in MODES:
            yield simple(f"{name}.{mode}.f64", "f64", *["f64"] * count)
            for flush in ("", ".ftz"):
                for saturate in ("", ".sat") if name in ("add", "sub", "mul", "fma") else ("",):
                    yield simple(f"{name}.{mode}{flush}{saturate}.f32", "f32", *["f32"] * count)


def halves() -> Iterator[Case]:
    """f16 and bf16, alone and in pairs."""
    for kind in HALVES:
        for name in ("add", "sub", "mul", "fma"):
            count = OPERANDS[name]
            yield simple(f"{name}.rn.{kind}", kind, *[kind] * count)
            if kind.startswith("f16"):
                for more in ("ftz", "sat", "ftz.sat"):
                    yield simple(f"{name}.rn.{more}.{kind}", kind, *[kind] * count)
        yield simple(f"fma.rn.relu.{kind}", kind, kind, kind, kind)
    yield simple("fma.rn.ftz.relu.f16x2", "f16x2", "f16x2", "f16x2", "f16x2")


def signs() -> Iterator[Case]:
    """abs, neg, min, max and copysign."""
    for kind in ("f32", "f64", *HALVES):
        flushes = ("", ".ftz") if kind in ("f32", "f16", "f16x2") else ("",)
        for flush in flushes:
            yield simple(f"abs{flush}.{kind}", kind, kind)
            yield simple(f"neg{flush}.{kind}", kind, kind)
            for name in ("min", "max"):
                for more in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
                    if more and kind == "f64":
                        continue
                    yield simple(f"{name}{flush}{more}.{kind}", kind, kind, kind)
    for kind in ("f32", "f64"):
        yield simple(f"copysign.{kind}", kind, kind, kind)


def within(low: float, high: float, seed: str) -> tuple[str, np.ndarray]:
    """f32 in a range, and what is special."""
    found = values("f32", COUNT, seed)
    drawn = np.random.default_rng(len(seed)).uniform(low, high, COUNT).astype(np.float32).view(np.uint32)
    number = found.view(np.float32)
    with np.errstate(invalid="ignore"):
        keep = ~np.isfinite(number) | ((number >= low) & (number <= high))
    return "f32", np.where(keep, found, drawn)


def approximate() -> Iterator[Case]:
    """Approximations, with the bounds that the ISA states."""
    for flush in ("", ".ftz"):
        for name, bound in bounds.SINGLE.items():
            count = 2 if name.startswith("div") else 1
            given: list[str | tuple[str, np.ndarray]] = ["f32"] * count
            if name in ("sin.approx", "cos.approx"):
                given = [within(-2 * np.pi, 2 * np.pi, f"{name}{flush}")]
            if name == "lg2.approx":
                bound = bounds.LOGARITHM
            yield simple(f"{name}{flush}.f32", "f32", *given, bound=bounds.flushing(bound) if flush else bound)
    yield simple("tanh.approx.f32", "f32", "f32", bound=bounds.TANH)
    for name, bound in bounds.DOUBLE.items():
        yield simple(name, "f64", "f64", bound=bound)
    for name, bound in bounds.HALF.items():
        kind = name.rpartition(".")[2]
        yield simple(name, kind, kind, bound=bound)

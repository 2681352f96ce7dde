"""How far CUDA's mathematical functions may be off: a table of the functions, their exact values and their bounds.

Bounds are those of the CUDA C++ Programming Guide, appendix "Mathematical Functions", sections "Standard Functions" and
"Intrinsic Functions": the largest difference from the exact result, rounded, in units in the last place [ulp]. They are
from memory; where releases of the guide differ, the larger one stands here.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mpmath

MP = mpmath.mp.clone()
MP.prec = 160
INF, NAN = math.inf, math.nan
Bound = float | Callable[..., float] | None


@dataclass(frozen=True)
class Function:
    """A function of CUDA.

    single, double: what calls it, of a, b and c.
    exact: its value, of as many numbers of mpmath.
    ulps: bounds in single and in double precision; a function of the arguments gives one for these, INF for none.
    absolute: absolute errors that are as good, in single and in double precision; likewise.
    span: of the drawn arguments, beside some of all magnitudes.
    special: values for arguments that mpmath has none for, or another, by the arguments as Python prints them.
    integer: which arguments are whole numbers.
    infinite: the value where an argument is infinite, whatever the others are, NaN included.
    most: magnitude of arguments up to which the exact value is compared.
    """

    single: str
    double: str
    exact: Callable[..., Any]
    ulps: tuple[Bound, Bound]
    span: tuple[float, float] = (-10.0, 10.0)
    arguments: int = 1
    absolute: tuple[Bound, Bound] = (0.0, 0.0)
    special: dict[str, float] = field(default_factory=dict)
    integer: tuple[int, ...] = ()
    infinite: float | None = None
    most: float = INF

    @property
    def name(self) -> str:
        """In double precision, where there is one."""
        return (self.double or self.single).lstrip("(").partition("(")[0]


def one(name: str, exact: Callable[[Any], Any], ulps: tuple[Bound, Bound], **more: Any) -> Function:
    """A function of one argument, which has an f behind its name in single precision."""
    return Function(f"{name}f(a)", f"{name}(a)", exact, ulps, **more)


def two(name: str, exact: Callable[[Any, Any], Any], ulps: tuple[Bound, Bound], **more: Any) -> Function:
    """Likewise of two."""
    return Function(f"{name}f(a, b)", f"{name}(a, b)", exact, ulps, arguments=2, **more)


FAR = 20000  # exponents of 2 beyond those of every format, with room


def steep(exact: Callable[[Any], Any], below: float) -> Callable[[Any], Any]:
    """A function that leaves every format above, and comes to a value below."""
    return lambda a: exact(a) if abs(a) < FAR else MP.mpf(below) if a < 0 else MP.inf


def falling(exact: Callable[[Any], Any], below: float) -> Callable[[Any], Any]:
    """Likewise one that comes to 0 above."""
    return lambda a: exact(a) if abs(a) < FAR else MP.mpf(below) if a < 0 else MP.mpf(0)


def power(x: Any, y: Any) -> Any:
    """x^y, as far as a format may hold it."""
    if MP.isinf(x) or MP.isinf(y) or x == 0:
        return MP.mpf(_power(float(x), float(y)))
    if y == 0 or x == 1:
        return MP.mpf(1)
    if x < 0 and y != MP.floor(y):
        return MP.nan
    size, sign = y * MP.log(abs(x), 2), -1 if x < 0 and y % 2 else 1
    return sign * (MP.power(abs(x), y) if abs(size) < FAR else MP.mpf(0) if size < 0 else MP.inf)


def _power(x: float, y: float) -> float:
    """Of zeros and infinities, as C has it."""
    try:
        return math.pow(x, y)
    except (ValueError, OverflowError):  # 0 to a negative power
        return math.copysign(INF, x) if y % 2 == 1 else INF


def angle(y: Any, x: Any) -> Any:
    """The angle of a point, on the circle far out too."""
    return MP.mpf(math.atan2(y, x)) if MP.isinf(x) or MP.isinf(y) or x == y == 0 else MP.atan2(y, x)


def real_root(x: Any) -> Any:
    """The real cube root."""
    return -MP.cbrt(-x) if x < 0 else MP.cbrt(x)


def remainder(x: Any, y: Any) -> Any:
    """x less the multiple of y next to it, the even one of two; computed with whole numbers."""
    if y == 0 or MP.isinf(x):
        return MP.nan
    if MP.isinf(y):
        return x
    scale = 2 ** max(0, -min(x.man_exp[1] if x else 0, y.man_exp[1]))
    a, b = int(x * scale), abs(int(y * scale))
    left = a % b
    if 2 * left > b or (2 * left == b and a // b % 2):
        left -= b
    return MP.mpf(left) / scale


def modulus(x: Any, y: Any) -> Any:
    """x less the multiple of y towards 0."""
    if y == 0 or MP.isinf(x):
        return MP.nan
    if MP.isinf(y):
        return x
    scale = 2 ** max(0, -min(x.man_exp[1] if x else 0, y.man_exp[1]))
    a, b = int(x * scale), abs(int(y * scale))
    return MP.mpf(abs(a) % b * (-1 if a < 0 else 1)) / scale


def gamma_logarithm(x: Any) -> Any:
    """ln |gamma(x)|."""
    if MP.isinf(x) or (x <= 0 and x == MP.floor(x)):
        return MP.inf
    return MP.re(MP.loggamma(x))


def gamma(x: Any) -> Any:
    """gamma(x)."""
    if x < -400:
        return MP.nan if x == MP.floor(x) else MP.mpf(0)
    return MP.inf if x > 200 else MP.gamma(x)


def scaled_erfc(x: Any) -> Any:
    """exp(x^2) erfc(x), by its continued fraction far out, where both factors leave every format."""
    if x > 1e8:
        return 1 / (x * MP.sqrt(MP.pi))
    return MP.inf if x < -30 else MP.exp(x * x) * MP.erfc(x)


def normal_inverse(p: Any) -> Any:
    """The quantile of the normal distribution."""
    return -MP.sqrt(2) * inverse_erfc(2 * p)


def inverse_erfc(x: Any) -> Any:
    """Where erfc is x: by Newton's steps from an estimate."""
    if not 0 <= x <= 2:
        return MP.nan
    if x in (0, 2):
        return MP.inf if x == 0 else -MP.inf
    if x > 1:
        return -inverse_erfc(2 - x)
    if x > 0.5:
        return MP.erfinv(1 - x)
    logarithm = -MP.log(x * MP.sqrt(MP.pi))
    at = MP.sqrt(logarithm - MP.log(MP.sqrt(logarithm))) if logarithm > 1 else MP.mpf(0.5)
    for _ in range(12):
        value = MP.erfc(at)
        step = MP.log(value / x)  # of the logarithm, which is nearly a parabola
        at += step * value * MP.sqrt(MP.pi) / 2 * MP.exp(at * at)
        if abs(step) < MP.mpf(2) ** -80:
            break
    return at


def inverse_erf(x: Any) -> Any:
    """Where erf is x."""
    return MP.erfinv(x) if abs(x) < 0.5 else inverse_erfc(1 - x)


def exponent(x: Any) -> Any:
    """floor(log2 |x|)."""
    if MP.isinf(x):
        return MP.inf
    return -MP.inf if x == 0 else MP.mpf(x.man_exp[0].bit_length() - 1 + x.man_exp[1])


def near(limit: float, ulps: float) -> Callable[..., float]:
    """So many ulps below a limit; no bound by ulps beyond."""
    return lambda x, *others: ulps if abs(x) < limit else 0.0


def beyond(limit: float, error: float) -> Callable[..., float]:
    """An absolute error beyond a limit."""
    return lambda x, *others: error if abs(x) >= limit else 0.0


def outside(low: float, high: float, ulps: float) -> Callable[[float], float]:
    """So many ulps outside of an interval, in which the guide has no bound."""
    return lambda x: INF if low <= x <= high else ulps


def where(inside: Callable[[float], bool], bound: float, otherwise: float) -> Callable[..., float]:
    """A bound where the last argument is inside of something, another where it isn't."""
    return lambda *x: bound if inside(x[-1]) else otherwise


def about_1(x: float) -> bool:
    """Where a logarithm is near 0, and its bound an absolute one."""
    return 0.5 <= x <= 2


def in_turn(x: float) -> bool:
    """Where the fast sine and cosine have a bound."""
    return abs(x) <= math.pi


def recurs(x: float) -> bool:
    """Where jn's recurrence, which divides by the argument 128 times, stays within the format."""
    return abs(x) > 0.01


def growing(slope: float) -> Callable[[float], float]:
    """2 ulps, and more with the argument."""
    return lambda x: 2 + math.floor(slope * abs(x)) if math.isfinite(x) else 2


BESSEL = {"absolute": (beyond(8, 2.2e-6), beyond(8, 5e-12)), "span": (0.01, 40.0), "most": 1e4}
MODIFIED = {"span": (-80.0, 80.0), "most": 1e4}
TGAMMA_POLES = {"-1.0": NAN, "-2.0": NAN, "-3.0": NAN}
BELOW_0 = {"-inf": NAN, "-1.0": NAN, "0.0": -INF, "-0.0": -INF, "inf": 0.0}

FUNCTIONS = (
    Function("a / b", "a / b", lambda a, b: a / b, (0, 0), arguments=2),
    one("sqrt", MP.sqrt, (0, 0), span=(0, 100)),
    Function("rsqrtf(a)", "rsqrt(a)", lambda a: 1 / MP.sqrt(a), (2, 1), (0, 100), special={"0.0": INF, "-0.0": -INF}),
    one("cbrt", real_root, (1, 1), special={"-inf": -INF}),
    one("rcbrt", lambda a: 1 / real_root(a), (1, 1), special={"0.0": INF, "-0.0": -INF, "-inf": -0.0}),
    two("hypot", MP.hypot, (3, 2), infinite=INF),
    two("rhypot", lambda a, b: 1 / MP.hypot(a, b), (2, 1), infinite=0.0),
    Function("norm3df(a, b, c)", "norm3d(a, b, c)", lambda *x: MP.norm(x), (3, 2), arguments=3, infinite=INF),
    Function("norm4df(a, b, c, a)", "norm4d(a, b, c, a)", lambda a, b, c: MP.norm([a, b, c, a]), (3, 2), arguments=3,
             infinite=INF),
    Function("rnorm4df(a, b, c, a)", "rnorm4d(a, b, c, a)", lambda a, b, c: 1 / MP.norm([a, b, c, a]), (2, 1),
             arguments=3, infinite=0.0),
    Function("rnorm3df(a, b, c)", "rnorm3d(a, b, c)", lambda *x: 1 / MP.norm(x), (2, 1), arguments=3, infinite=0.0),
    one("exp", steep(MP.exp, 0), (2, 1), span=(-110, 100)),
    one("exp2", steep(lambda a: MP.power(2, a), 0), (2, 1), span=(-150, 130)),
    one("exp10", steep(lambda a: MP.power(10, a), 0), (2, 1), span=(-46, 39)),
    one("expm1", steep(MP.expm1, -1), (1, 1), span=(-20, 90)),
    one("log", MP.log, (1, 1), span=(0, 4), special={"-inf": NAN}),
    one("log2", lambda a: MP.log(a, 2), (1, 1), span=(0, 4), special={"0.0": -INF, "-0.0": -INF, "-inf": NAN}),
    one("log10", lambda a: MP.log(a, 10), (2, 1), span=(0, 4), special={"0.0": -INF, "-0.0": -INF, "-inf": NAN}),
    one("log1p", MP.log1p, (1, 1), span=(-1, 4), special={"-1.0": -INF, "-inf": NAN}),
    one("sin", MP.sin, (2, 2), span=(-50, 50), special={"inf": NAN, "-inf": NAN}),
    one("cos", MP.cos, (2, 2), span=(-50, 50), special={"inf": NAN, "-inf": NAN}),
    one("tan", MP.tan, (4, 2), span=(-50, 50), special={"inf": NAN, "-inf": NAN}),
    one("sinpi", MP.sinpi, (2, 2), span=(-50, 50), special={"inf": NAN, "-inf": NAN}),
    one("cospi", MP.cospi, (2, 2), span=(-50, 50), special={"inf": NAN, "-inf": NAN}),
    one("asin", MP.asin, (4, 2), span=(-1, 1), special={"inf": NAN, "-inf": NAN}),
    one("acos", MP.acos, (3, 2), span=(-1, 1), special={"inf": NAN, "-inf": NAN}),
    one("atan", MP.atan, (2, 2)),
    two("atan2", angle, (3, 2)),
    one("sinh", MP.sinh, (3, 2), span=(-95, 95)),
    one("cosh", MP.cosh, (2, 1), span=(-95, 95)),
    one("tanh", MP.tanh, (2, 1), span=(-12, 12)),
    one("asinh", MP.asinh, (3, 3), special={"-inf": -INF}),
    one("acosh", MP.acosh, (4, 3), span=(1, 20), special={"-inf": NAN}),
    one("atanh", MP.atanh, (3, 2), span=(-1, 1), special={"1.0": INF, "-1.0": -INF, "inf": NAN, "-inf": NAN}),
    two("pow", power, (8, 2), span=(0, 20), special={"1.0 nan": 1.0, "nan 0.0": 1.0, "-1.0 inf": 1.0}),
    one("erf", MP.erf, (2, 2), span=(-5, 5)),
    one("erfc", falling(MP.erfc, 2), (4, 5), span=(-5, 12)),
    one("erfinv", inverse_erf, (2, 5), span=(-1, 1)),
    one("erfcinv", inverse_erfc, (4, 6), span=(0, 2)),
    one("erfcx", scaled_erfc, (4, 4), span=(-9, 30), special={"inf": 0.0}),
    one("normcdf", lambda a: falling(MP.erfc, 2)(-a / MP.sqrt(2)) / 2, (5, 5), span=(-14, 6)),
    one("normcdfinv", normal_inverse, (5, 8), span=(0, 1)),
    one("lgamma", gamma_logarithm, (outside(-10.001, -2.264, 6), outside(-11.0001, -2.2637, 4)), span=(-20, 40)),
    one("tgamma", gamma, (11, 10), span=(-30, 36), special={"0.0": INF, "-0.0": -INF, "-inf": NAN} | TGAMMA_POLES),
    one("j0", lambda a: MP.besselj(0, a), (near(8, 9), near(8, 7)), special={"inf": 0.0, "-inf": 0.0}, **BESSEL),
    one("j1", lambda a: MP.besselj(1, a), (near(8, 9), near(8, 7)), special={"inf": 0.0, "-inf": -0.0}, **BESSEL),
    one("y0", lambda a: MP.bessely(0, a), (near(8, 9), near(8, 7)), special=BELOW_0, **BESSEL),
    one("y1", lambda a: MP.bessely(1, a), (near(8, 9), near(8, 7)), special=BELOW_0, **BESSEL),
    Function("jnf(128, a)", "jn(128, a)", lambda a: MP.besselj(128, a), (where(recurs, 0, INF),) * 2, (0.02, 300),
             absolute=(2.2e-6, 5e-12), special={"inf": 0.0, "-inf": 0.0}, most=1e4),
    one("cyl_bessel_i0", lambda a: MP.besseli(0, a), (6, 6), **MODIFIED, special={"inf": INF, "-inf": INF}),
    one("cyl_bessel_i1", lambda a: MP.besseli(1, a), (6, 6), **MODIFIED, special={"inf": INF, "-inf": -INF}),
    two("fmod", modulus, (0, 0)),
    two("remainder", remainder, (0, 0)),
    two("fdim", lambda a, b: a - b if a > b else MP.mpf(0), (0, 0), special={"inf inf": 0.0, "-inf inf": 0.0}),
    one("logb", exponent, (0, 0), special={"-inf": INF}),
    one("trunc", lambda a: MP.sign(a) * MP.floor(abs(a)), (0, 0)),
    one("rint", MP.nint, (0, 0)),
    one("floor", MP.floor, (0, 0)),
    one("ceil", MP.ceil, (0, 0)),
    one("round", lambda a: MP.sign(a) * MP.floor(abs(a) + 0.5), (0, 0)),
    Function(
        "ldexpf(a, (int)b)", "ldexp(a, (int)b)", lambda a, b: MP.ldexp(a, int(b)), (0, 0), arguments=2, integer=(1,),
        span=(-150, 150),
    ),
    Function("(sincosf(a, &s, &t), s)", "(sincos(a, &s, &t), s)", MP.sin, (2, 2), (-50, 50),
             special={"inf": NAN, "-inf": NAN}),
    Function("(sincosf(a, &s, &t), t)", "(sincos(a, &s, &t), t)", MP.cos, (2, 2), (-50, 50),
             special={"inf": NAN, "-inf": NAN}),
    Function("remquof(a, b, &e)", "remquo(a, b, &e)", remainder, (0, 0), arguments=2),
    Function("modff(a, &s)", "modf(a, &s)", lambda a: MP.mpf(0) if MP.isinf(a) else modulus(a, MP.mpf(1)), (0, 0)),
    Function("frexpf(a, &e)", "frexp(a, &e)", lambda a: MP.frexp(a)[0], (0, 0)),
    Function("fmaf(a, b, c)", "fma(a, b, c)", lambda a, b, c: a * b + c, (0, 0), arguments=3),
    Function("__fdividef(a, b)", "", lambda a, b: a / b,
             (where(lambda b: 2**-126 <= abs(b) <= 2**126, 2, INF), None), arguments=2),
    Function("__expf(a)", "", steep(MP.exp, 0), (growing(1.173), None), (-80, 80)),
    Function("__exp10f(a)", "", steep(lambda a: MP.power(10, a), 0), (growing(2.97), None), (-37, 37)),
    Function("__logf(a)", "", MP.log, (where(about_1, 0, 3), None), (0, 4),
             absolute=(where(about_1, 2**-21.41, 0), None), special={"-inf": NAN}),
    Function("__log2f(a)", "", lambda a: MP.log(a, 2), (where(about_1, 0, 2), None), (0, 4),
             absolute=(where(about_1, 2**-22, 0), None), special={"0.0": -INF, "-0.0": -INF, "-inf": NAN}),
    Function("__log10f(a)", "", lambda a: MP.log(a, 10), (where(about_1, 0, 3), None), (0, 4),
             absolute=(where(about_1, 2**-24, 0), None), special={"0.0": -INF, "-0.0": -INF, "-inf": NAN}),
    Function("__sinf(a)", "", MP.sin, (where(in_turn, 0, INF), None), (-math.pi, math.pi),
             absolute=(2**-21.41, None)),
    Function("__cosf(a)", "", MP.cos, (where(in_turn, 0, INF), None), (-math.pi, math.pi),
             absolute=(2**-21.19, None)),
    Function("__fsqrt_rn(a)", "__dsqrt_rn(a)", MP.sqrt, (0, 0), (0, 100)),
    Function("__frsqrt_rn(a)", "", lambda a: 1 / MP.sqrt(a), (0, None), (0, 100), special={"0.0": INF, "-0.0": -INF}),
    Function("__frcp_rn(a)", "__drcp_rn(a)", lambda a: 1 / a, (0, 0), special={"0.0": INF, "-0.0": -INF}),
    Function("__fdiv_rn(a, b)", "__ddiv_rn(a, b)", lambda a, b: a / b, (0, 0), arguments=2),
)  # fmt: skip

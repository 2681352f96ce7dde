"""Axes: what a study varies. Ranges, lists, axes that go together, and samples.

A range is a text:

    LOW:HIGH              whole steps of 1, both ends included
    LOW:HIGH:step:STEP    steps of STEP as far as HIGH
    LOW:HIGH:linear:N     N values at equal distances, both ends included
    LOW:HIGH:log:N        N values at equal ratios, both ends included
    LOW:HIGH:times:F      LOW, LOW * F, LOW * F^2 ... as far as HIGH

and a list is a TOML list, or values between commas. In a sample a range has no number of values: LOW:HIGH, or
LOW:HIGH:log for equal chances of equal ratios.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simtmm.errors import StudyError, shown

Value = int | float | str | bool | None
MOST_VALUES = 100_000  # of an axis, and of a sample
DIGITS = 12  # significant, so that the ends of a range are what was typed
SCALES = ("step", "linear", "log", "times")


@dataclass(frozen=True)
class Axis:
    """A name and the values that it takes, in order."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Span:
    """Where a sample may lie: from low to high, both included, on a linear or a logarithmic scale."""

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False

    def at(self, fraction: float) -> Value:
        """The value that far along, fraction being from 0 to 1; whole values have equal shares of a linear scale."""
        if self.whole:
            low, high = math.ceil(self.low), math.floor(self.high)
            if self.log:
                return min(max(round(low * math.exp(fraction * math.log(high / low))), low), high)
            return min(low + math.floor(fraction * (high - low + 1)), high)
        if self.log:
            return _tidy(self.low * (self.high / self.low) ** fraction)
        return _tidy(self.low + (self.high - self.low) * fraction)


def axis(name: str, given: object, whole: bool = False, unique: bool = True) -> Axis:
    """An axis from a range, a list, or one value. Raises StudyError.

    whole: the values of ranges are rounded to whole numbers. unique: values that occur again are left out.
    name: of a parameter, or a machine's key.
    given: as a study file or a command line has it.
    """
    values: list[Value]
    if isinstance(given, str):
        ranged = _range(name, given, whole)
        values = [_word(part) for part in given.split(",")] if ranged is None else ranged
    elif isinstance(given, (list, tuple)):
        values = [_value(name, entry) for entry in given]
    else:
        values = [_value(name, given)]
    if not values:
        raise StudyError(f"axis {name}: must have at least one value")
    if len(values) > MOST_VALUES:
        raise StudyError(f"axis {name}: {len(values)} values: must be at most {MOST_VALUES}")
    if unique:  # 1 and true are equal in Python and not the same value
        values = list({(type(value) is bool, value): value for value in values}.values())
    return Axis(name, tuple(values))


def span(name: str, given: object, whole: bool = False) -> Span:
    """Where a sample lies along an axis, from LOW:HIGH or LOW:HIGH:log. Raises StudyError."""
    parts = given.split(":") if isinstance(given, str) else []
    numbers = [_number(part) for part in parts[:2]]
    low, high = numbers if len(numbers) == 2 else (None, None)
    if low is None or high is None or not (len(parts) == 2 or parts[2:] in (["log"], ["linear"])):
        raise StudyError(f"sample: axis {name} = {shown(given)}: must be LOW:HIGH or LOW:HIGH:log")
    log = parts[2:] == ["log"]
    _check_ends(f"sample: axis {name} = {given}", low, high, log)
    _check_apart(f"sample: axis {name} = {given}", low, high, log)
    if whole and math.ceil(low) > math.floor(high):
        raise StudyError(f"sample: axis {name} = {given}: it has no whole number")
    if whole and log and math.ceil(low) < 1:
        raise StudyError(f"sample: axis {name} = {given}: LOW must be above 0")
    return Span(name, low, high, log, whole)


def scale_of(given: object) -> str | None:
    """Whether the values of an axis that was given so go in ratios ("log") or steps ("linear"); None for lists."""
    parts = [part.strip() for part in given.split(":")] if isinstance(given, str) else []
    if len(parts) < 2 or None in map(_number, parts[:2]):
        return None
    return "log" if parts[2:3] in (["log"], ["times"]) else "linear"


def product(groups: Sequence[Sequence[Axis]]) -> Iterator[dict[str, Value]]:
    """Every combination of the groups, the last changing fastest; the axes of a group go together.

    groups: axes that go together, in each.

    Raises StudyError where axes that go together have different numbers of values.
    """
    choices = []
    for group in groups:
        lengths = {entry.name: len(entry.values) for entry in group}
        if len(set(lengths.values())) > 1:
            lengths_in_words = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise StudyError(f"linked axes: {lengths_in_words}: must have equal numbers of values")
        names = [entry.name for entry in group]
        choices.append(
            [dict(zip(names, values, strict=True)) for values in zip(*(entry.values for entry in group), strict=True)]
        )
    for combination in itertools.product(*choices):
        yield {name: value for part in combination for name, value in part.items()}


def size(groups: Sequence[Sequence[Axis]]) -> int:
    """How many combinations `product` gives.

    groups: axes that go together, in each.
    """
    return math.prod(len(group[0].values) for group in groups if group)


def sample(
    spans: Sequence[Span], points: int, method: Literal["random", "latin-hypercube"], seed: int
) -> list[dict[str, Value]]:
    """Points drawn from the spans, the same for the same seed.

    latin-hypercube: each axis is cut into as many parts of equal chance as there are points, and each part has one.
    """
    random = np.random.default_rng(seed)
    drawn = random.random((len(spans), points))
    if method == "latin-hypercube":
        for row in drawn:
            row[:] = (random.permutation(points) + row) / points
    return [
        {entry.name: entry.at(float(fraction)) for entry, fraction in zip(spans, column, strict=True)}
        for column in drawn.T
    ]


def flattened(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Dotted keys of nested tables: TOML reads `memory.latency = 800` as a table in a table.

    table: values or tables by key.
    prefix: what comes before the keys.
    """
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat.update(flattened(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _range(name: str, text: str, whole: bool) -> list[Value] | None:
    """The values of a range; None for a text that is none."""
    parts = [part.strip() for part in text.split(":")]
    numbers = [_number(part) for part in parts[:2]]
    if len(parts) < 2 or None in numbers:
        return None
    where = f"axis {name} = {text}"
    low, high = (float(number) for number in numbers if number is not None)
    scale, last = ("step", "1") if len(parts) == 2 else (parts[2], parts[3] if len(parts) == 4 else "")
    much = _number(last)
    if scale not in SCALES or much is None or len(parts) not in (2, 4):
        forms = ", ".join(f"LOW:HIGH:{known}:NUMBER" for known in SCALES)
        raise StudyError(f"{where}: must be LOW:HIGH, {forms}, or values between commas")
    _check_ends(where, low, high, scale in ("log", "times"))
    values: list[float]
    if scale in ("linear", "log"):
        if much != int(much) or not 1 <= much <= MOST_VALUES or (much == 1 and low != high):
            raise StudyError(f"{where}: the number of values must be whole, at least 2 and at most {MOST_VALUES}")
        steps = max(int(much) - 1, 1)
        places = [index / steps for index in range(int(much))]
        _check_apart(where, low, high, scale == "log")
        values = [low * (high / low) ** place if scale == "log" else low + (high - low) * place for place in places]
    else:
        least = 0 if scale == "step" else 1
        if much <= least:
            raise StudyError(f"{where}: {'STEP' if scale == 'step' else 'the factor'} must be above {least}")
        _check_apart(where, low, high, scale == "times")
        # A hair more than exact, so that 0:1:step:0.1 reaches 1
        count = ((high - low) / much if scale == "step" else math.log(high / low) / math.log(much)) + 1e-9
        if count >= MOST_VALUES:
            raise StudyError(f"{where}: has more than {MOST_VALUES} values")
        values = [low + index * much if scale == "step" else low * much**index for index in range(int(count) + 1)]
    return [round(value) if whole else _tidy(value) for value in values]


def _check_ends(where: str, low: float, high: float, log: bool) -> None:
    if low > high:
        raise StudyError(f"{where}: LOW must be at most HIGH")
    if log and low <= 0:
        raise StudyError(f"{where}: LOW must be above 0")


def _check_apart(where: str, low: float, high: float, log: bool) -> None:
    """What lies between them is computed from their distance or ratio, which must be a number."""
    if not math.isfinite(high / low if log else high - low):
        raise StudyError(f"{where}: LOW and HIGH are too far apart for a {'ratio' if log else 'distance'}")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _tidy(number: float) -> int | float:
    """To DIGITS significant digits; a whole number as an int."""
    rounded = float(f"{number:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _word(text: str) -> Value:
    """A value as it stands on the command line; `none` for no value."""
    text = text.strip()
    known: dict[str, Value] = {"none": None, "true": True, "false": False}
    if text in known:
        return known[text]
    number = _number(text)
    return text if number is None else _tidy(number)


def _value(name: str, given: object) -> Value:
    if given == "none":
        return None
    if isinstance(given, (int, str)):
        return given
    if isinstance(given, float) and math.isfinite(given):
        return _tidy(given)
    raise StudyError(f"axis {name}: {shown(given)}: must be a number, a word, true or false")

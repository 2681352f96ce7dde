"""What the values of a machine file may be, and how a key has its unit and meaning."""

import math
import re
import sys
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from simtmm.documents import as_float

LARGEST_COUNT = 2**31 - 1  # beyond it no table of anything would fit a memory
MOST_BANKS = 2**16
MOST_MEMORY = 2**46  # bytes: 64 TiB, what the addresses of a program leave room for


def is_number(value: object) -> TypeGuard[float]:
    """NumPy's numbers are welcome, truth values are not."""
    return type(value) in (int, float) or (isinstance(value, Real) and not isinstance(value, bool))


def _number(value: object, allowed: str, least: float, most: float) -> int | float:
    """The value as a plain number in a range."""
    if not is_number(value) or not least <= value <= most:
        raise ValueError(allowed)
    return int(value) if type(value) is not float and isinstance(value, Integral) else float(value)


def _whole(most: int = LARGEST_COUNT) -> BeforeValidator:
    def check(value: object) -> int:
        allowed = "must be a whole number of at least 1"
        if is_number(value) and most < value != math.inf:
            raise ValueError(f"{allowed} and at most {most}")
        number = _number(value, allowed, 1, most)
        if number != int(number):
            raise ValueError(allowed)
        return int(number)

    return BeforeValidator(check)


def _between(least: float, most: float) -> BeforeValidator:
    def check(value: object) -> float:
        allowed = f"must be a number of at least {least:g}"
        if is_number(value) and most < value != math.inf:
            raise ValueError(f"{allowed} and at most {most:g}")
        return _number(value, allowed, least, most)

    return BeforeValidator(check)


def _positive(value: object) -> float:
    return _number(value, "must be a number above 0", sys.float_info.min, sys.float_info.max)


def _capability(value: object) -> str:
    """As NVIDIA writes it, however a TOML file or a command line gives it: 9, 9.0 and "9.0" are "9.0"."""
    text = str(as_float(value)) if is_number(value) else value
    if not isinstance(text, str) or not re.fullmatch(r"[1-9]\d?\.\d", text):
        raise ValueError("must be a compute capability, from '1.0' to '99.9', such as '8.0'")
    return text


Count = Annotated[int, _whole()]
Banked = Annotated[int, _whole(MOST_BANKS)]
MemoryBytes = Annotated[int, _whole(MOST_MEMORY)]
Link = Literal["pcie-2", "pcie-3", "pcie-4", "pcie-5", "nvlink-c2c", "unified"]
Duration = Annotated[float, _between(0, 1e15)]  # cycles: eleven days at 1 GHz
Share = Annotated[float, _between(0.01, 100)]
Shortly = Annotated[float, _between(0, 1e6)]  # cycles that lowering counts
Threads = Annotated[float, _between(1, LARGEST_COUNT)]
Capability = Annotated[str, BeforeValidator(_capability)]
Positive = Annotated[float, BeforeValidator(_positive)]


def unit(unit: str, description: str, **more: Any) -> Any:
    """A field with its unit and meaning, which `units_of` lists."""
    return Field(description=description, json_schema_extra={"unit": unit}, **more)


class Table(BaseModel):
    """A table of a machine file: frozen, without keys that nobody knows, defaults in the same form as given values."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

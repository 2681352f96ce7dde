"""The objects of a file in T1, as far as they are read; keys are spelled as the format has them."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

from simtmm.documents.models import must_be

TYPES = {
    "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32",
    "uint32": "uint32", "int64": "int64", "uint64": "uint64", "half": "float16", "float": "float32",
    "double": "float64",
}  # fmt: skip
ABSENT: Any = None  # what a key has that must be there: no rule holds of it
VALUE_TYPES = ("int", "uint", "float", "bool", "string")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _are_texts(value: Any) -> bool:
    return all(isinstance(each, str) for each in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


Text = Annotated[str, must_be("a text", _is_text)]


class _Object(BaseModel):
    """What an object that lacks a key has for it is checked, too: it is refused as one that has no such value."""

    model_config = ConfigDict(extra="ignore", validate_default=True)


class TuningParameter(_Object):
    """A parameter of the problem. Values: as a text, which is read and not run."""

    Name: Text = ABSENT
    Values: Text = ABSENT
    Type: Annotated[str, must_be(f"one of {', '.join(VALUE_TYPES)}", lambda value: value in VALUE_TYPES)] = ABSENT


class Condition(_Object):
    """A condition on the parameters."""

    Expression: Text = ABSENT


class Space(_Object):
    """Which configurations there are."""

    TuningParameters: list[TuningParameter] = []
    Conditions: list[Condition] = []


class Argument(_Object):
    """An argument of the kernel, a number or an array; what the others must be depends on MemoryType and Type."""

    Type: Annotated[
        str, must_be(f"one of {', '.join(TYPES)}", lambda value: isinstance(value, str) and value in TYPES)
    ] = ABSENT
    MemoryType: Any = None
    MemType: Annotated[str, must_be("Global", lambda value: value == "Global")] = "Global"
    FillType: Any = "Constant"
    FillValue: Any = 0
    Size: Any = None


class Specification(_Object):
    """The kernel and its launch. Sizes are expressions, and read with the parameters."""

    Language: Annotated[str, must_be("CUDA", lambda value: value == "CUDA")] = ABSENT
    KernelFile: Text = ABSENT
    KernelName: Text = ABSENT
    SharedMemory: Annotated[int, must_be("a whole number of bytes", _is_count)] = 0
    # Rules are asked from the last on.
    CompilerOptions: Annotated[
        list[str], must_be("texts", _are_texts), must_be("a list", lambda value: isinstance(value, list))
    ] = []
    ProblemSize: Any = []
    LocalSize: Any = None
    GlobalSize: Any = None
    GlobalSizeType: Any = "CUDA"
    GridDivX: Any = None
    GridDivY: Any = None
    GridDivZ: Any = None
    Arguments: list[Argument] = []


class ProblemFile(_Object):
    """A problem: its configurations, and its kernel."""

    ConfigurationSpace: Space
    KernelSpecification: Specification

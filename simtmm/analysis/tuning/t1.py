"""A problem in T1, the format in which Kernel Tuner's community describes tuning problems.

Source: the schema input-schema.json, version 1.0.0, of the package kernel_tuner, and what its tune_kernel_T1 takes
beside the schema's keys: ProblemSize, GridDivX, GridDivY and GridDivZ. The file names a kernel's source, which is the
user's code as that of a file of launches is; nothing else that stands in it is run.
"""

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.documents import LEAST_WHOLE, MOST_WHOLE, read_json
from simtmm.errors import KernelError, nearest, shown
from simtmm.files import is_file
from simtmm.kernel import Kernel
from simtmm.parameter import Parameter
from simtmm.parameter.expression import Expression, expression
from simtmm.recorder.compiled.programs import LaunchText, Size, program_kernel

SUFFIX = ".json"
TYPES = {
    "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32",
    "uint32": "uint32", "int64": "int64", "uint64": "uint64", "half": "float16", "float": "float32",
    "double": "float64",
}  # fmt: skip
REAL_TYPES = ("half", "float", "double")
VALUE_TYPES = ("int", "uint", "float", "bool", "string")
SIZE_TYPES = ("CUDA", "OpenCL")  # of the grid: in blocks, or in threads
AXES = "XYZ"
_NUMBER = r"(-?[0-9]{1,18})"  # of 64 bits
_RANGE = re.compile(rf"(?:list\()?range\({_NUMBER},{_NUMBER}(?:,{_NUMBER})?\)\)?")
_PROBLEM = re.compile(r"\bProblemSize\[(\d)\]")
MOST_VALUES = 100_000  # of a parameter
MOST_ELEMENTS = 1 << 40  # of an array


@dataclass(frozen=True)
class Problem:
    """kernel: with a parameter for each of the problem's. over: their values. where: conditions on them."""

    kernel: Kernel
    over: Mapping[str, list[int | float | str]]
    where: tuple[str, ...]


def is_problem(source: str) -> bool:
    """Whether a user's word names a T1 file.

    source: a word of a command line.
    """
    return Path(source).suffix == SUFFIX


def read_problem(path: str | Path) -> Problem:
    """The problem in a T1 file. Raises KernelError, naming the file and the key."""
    path = Path(path)
    document = read_json(path, KernelError)
    space, spec = (_object(document, key, str(path)) for key in ("ConfigurationSpace", "KernelSpecification"))
    over = _values(space, f"{path}: ConfigurationSpace")
    where = f"{path}: KernelSpecification"
    if spec.get("Language") != "CUDA":
        raise KernelError(f"{where}.Language = {shown(spec.get('Language'))}: must be CUDA")
    source = path.parent / _text(spec, "KernelFile", where)
    if not is_file(source):
        raise KernelError(f"{where}.KernelFile = {shown(spec['KernelFile'])}: no such file next to it")
    parameters = {name: Parameter(values[0], "of the problem") for name, values in over.items()}
    sizes = _Sizes(spec, parameters, where)
    shared = spec.get("SharedMemory", 0)
    if not isinstance(shared, int) or isinstance(shared, bool) or shared < 0:
        raise KernelError(f"{where}.SharedMemory = {shown(shared)}: must be a whole number of bytes")
    launch = LaunchText(
        _text(spec, "KernelName", where),
        sizes.grid(),
        sizes.block(),
        _arguments(spec, sizes, where),
        shared,
        where=where,
    )
    options = _list(spec, "CompilerOptions", where)
    if not all(isinstance(option, str) for option in options):
        raise KernelError(f"{where}.CompilerOptions = {shown(options)}: must be texts")
    kernel = program_kernel(
        path.stem, [source], [launch], options=options, parameters=parameters, folder=path.parent, origin=str(path)
    )
    return Problem(kernel, over, tuple(_conditions(space, parameters, f"{path}: ConfigurationSpace")))


class _Sizes:
    """How large grid, block and arrays are, as expressions of the parameters and the problem's size."""

    def __init__(self, spec: Mapping[str, Any], parameters: Mapping[str, Parameter], where: str) -> None:
        self._spec, self._parameters, self._where = spec, parameters, where
        given = spec.get("ProblemSize", [])
        self._problem = given if isinstance(given, list) else [given]
        if not all(isinstance(size, int) and not isinstance(size, bool) for size in self._problem):
            raise KernelError(f"{where}.ProblemSize = {shown(given)}: must be whole numbers")

    def block(self) -> tuple[Size, ...]:
        """LocalSize."""
        local = _object(self._spec, "LocalSize", self._where)
        return tuple(self.of(text, f"LocalSize.{axis}") for axis, text in self._by_axis(local, "LocalSize"))

    def grid(self) -> tuple[Size, ...]:
        """In blocks: by GridDivX and so on where there are any, as Kernel Tuner has it, else GlobalSize."""
        if self._problem and any(self._spec.get(f"GridDiv{axis}") for axis in AXES):
            return tuple(self._divided(axis, size) for axis, size in zip(AXES, self._problem, strict=False))
        kind = self._spec.get("GlobalSizeType", "CUDA")
        if kind not in SIZE_TYPES:
            raise KernelError(f"{self._where}.GlobalSizeType = {shown(kind)}: must be {' or '.join(SIZE_TYPES)}")
        local = dict(self._by_axis(_object(self._spec, "LocalSize", self._where), "LocalSize"))
        of_threads = _object(self._spec, "GlobalSize", self._where)
        return tuple(
            self.of(text if kind == "CUDA" else f"ceil(({text}) / ({local.get(axis, '1')}))", f"GlobalSize.{axis}")
            for axis, text in self._by_axis(of_threads, "GlobalSize")
        )

    def of(self, text: object, key: str) -> Expression:
        """An expression of the parameters."""
        parsed = expression(self._placed(str(text), key), f"{self._where}.{key}", KernelError)
        for name in sorted(parsed.names - self._parameters.keys()):
            known = nearest(name, self._parameters, self._parameters)
            raise KernelError(f"{self._where}.{key} = {shown(text)}: {name}: is not a parameter{known}")
        return parsed

    def elements(self, size: object, key: str) -> int:
        """Of an array; the same whatever the parameters."""
        value = expression(self._placed(str(size), key), f"{self._where}.{key}", KernelError).value({})
        if not isinstance(value, (int, float)) or not 1 <= value <= MOST_ELEMENTS or value != int(value):
            raise KernelError(f"{self._where}.{key} = {shown(size)}: must be a whole number from 1 to {MOST_ELEMENTS}")
        return int(value)

    def _divided(self, axis: str, size: int) -> Expression:
        divisors = self._spec.get(f"GridDiv{axis}") or ["1"]
        parts = " * ".join(f"({each})" for each in (divisors if isinstance(divisors, list) else [divisors]))
        return self.of(f"ceil({size} / ({parts}))", f"GridDiv{axis}")

    def _placed(self, text: str, key: str) -> str:
        def number(found: re.Match[str]) -> str:
            place = int(found[1])
            if place >= len(self._problem):
                raise KernelError(f"{self._where}.{key} = {shown(text)}: ProblemSize has {len(self._problem)} sizes")
            return str(self._problem[place])

        return _PROBLEM.sub(number, text)

    def _by_axis(self, sizes: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
        if "X" not in sizes:
            raise KernelError(f"{self._where}.{key}: 'X' is missing")
        last = max(AXES.index(axis) for axis in AXES if axis in sizes)
        return [(axis, sizes.get(axis, "1")) for axis in AXES[: last + 1]]


def _values(space: Mapping[str, Any], where: str) -> dict[str, list[int | float | str]]:
    """The values of each parameter; of bool 0 and 1, as macros have them."""
    found = {}
    for number, each in enumerate(_list(space, "TuningParameters", where)):
        at = f"{where}.TuningParameters[{number}]"
        table = _dictionary(each, at)
        name, text = _text(table, "Name", at), _text(table, "Values", at)
        if not (name.isascii() and name.isidentifier()) or name == "seed" or name in found:
            raise KernelError(f"{at}.Name = {shown(name)}: must be a unique C identifier other than seed")
        if table.get("Type") not in VALUE_TYPES:
            raise KernelError(f"{at}.Type = {shown(table.get('Type'))}: must be one of {', '.join(VALUE_TYPES)}")
        values = _listed(text)
        if not values:
            raise KernelError(f"{at}.Values = {shown(text)}: must be a list of numbers or texts, or range(LOW, HIGH)")
        if len(values) > MOST_VALUES:
            raise KernelError(f"{at}.Values = {shown(text)}: {len(values)} values: must be at most {MOST_VALUES}")
        kind = float if float in set(map(type, values)) else int  # a parameter's values are all of one kind
        found[name] = [value if isinstance(value, str) else kind(value) for value in values]
    if not found:
        raise KernelError(f"{where}.TuningParameters: must have at least one")
    return found


def _listed(text: str) -> Sequence[Any] | None:
    """The values that a text lists, read and not run; None for anything else."""
    ranged = _RANGE.fullmatch(text.replace(" ", ""))
    if ranged:
        low, high, step = int(ranged[1]), int(ranged[2]), int(ranged[3] or 1)
        return None if step == 0 else range(low, high, step)
    try:
        values = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    return values if all(isinstance(value, str) or _is_number(value) for value in values) else None


def _is_number(value: object) -> bool:
    """Whether it is finite, and of at most 64 bits if it is whole."""
    if isinstance(value, int):
        return LEAST_WHOLE <= value <= MOST_WHOLE
    return isinstance(value, float) and math.isfinite(value)


def _conditions(space: Mapping[str, Any], parameters: Mapping[str, Parameter], where: str) -> Iterator[str]:
    """The texts of conditions on the parameters."""
    for number, each in enumerate(_list(space, "Conditions", where)):
        at = f"{where}.Conditions[{number}]"
        text = _text(_dictionary(each, at), "Expression", at)
        for name in sorted(expression(text, f"{at}.Expression", KernelError).names - parameters.keys()):
            known = nearest(name, parameters, parameters)
            raise KernelError(f"{at}.Expression = {shown(text)}: {name}: is not a parameter{known}")
        yield text


def _arguments(spec: Mapping[str, Any], sizes: _Sizes, where: str) -> dict[str, str | int | float]:
    """In the order of the kernel's parameters: T1's names are for people."""
    found = {}
    for number, each in enumerate(_list(spec, "Arguments", where)):
        at = f"{where}.Arguments[{number}]"
        found[f"#{number}"] = _argument(_dictionary(each, at), sizes, at)
    return found


def _argument(table: Mapping[str, Any], sizes: _Sizes, where: str) -> str | int | float:
    """A number, or an array as files of launches name one."""
    kind, memory, fill = table.get("Type"), table.get("MemoryType"), table.get("FillType", "Constant")
    value = table.get("FillValue", 0)
    if not isinstance(kind, str) or kind not in TYPES:
        raise KernelError(f"{where}.Type = {shown(kind)}: must be one of {', '.join(TYPES)}")
    is_whole = kind not in REAL_TYPES
    if not _is_number(value) or (is_whole and value != int(value)):
        raise KernelError(f"{where}.FillValue = {shown(value)}: must be a {'whole ' if is_whole else ''}number")
    if table.get("MemType", "Global") != "Global":
        raise KernelError(f"{where}.MemType = {shown(table['MemType'])}: must be Global")
    if memory == "Scalar":
        return int(value) if is_whole else float(value)
    if memory != "Vector" or fill not in ("Constant", "Random"):
        given = f"MemoryType = {shown(memory)}, FillType = {shown(fill)}"
        raise KernelError(f"{where}: {given}: must be Scalar, or Vector of Constant or Random")
    size = sizes.elements(table.get("Size"), f"{where.rsplit('.', 1)[-1]}.Size")
    return f"random:{TYPES[kind]}:{size}" if fill == "Random" else f"full:{TYPES[kind]}:{size}:{value}"


def _object(document: Any, key: str, where: str) -> Mapping[str, Any]:
    if not isinstance(document, dict) or key not in document:
        raise KernelError(f"{where}: {key!r} is missing: must be a problem in T1, the format of Kernel Tuner")
    return _dictionary(document[key], f"{where}.{key}")


def _dictionary(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise KernelError(f"{where} = {shown(value)}: must be an object")
    return value


def _list(table: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise KernelError(f"{where}.{key} = {shown(value)}: must be a list")
    return value


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise KernelError(f"{where}.{key} = {shown(value)}: must be a text")
    return value

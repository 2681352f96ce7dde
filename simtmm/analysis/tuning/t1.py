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

from simtmm.analysis.tuning.t1_tables import TYPES, Argument, ProblemFile, Space, Specification
from simtmm.documents import LEAST_WHOLE, MOST_WHOLE, read_json
from simtmm.documents.models import document_of
from simtmm.errors import KernelError, nearest, shown
from simtmm.files import is_file
from simtmm.kernel import Kernel
from simtmm.parameter import Parameter
from simtmm.parameter.expression import Expression, expression
from simtmm.recorder.compiled.programs import LaunchText, Size, program_kernel

SUFFIX = ".json"
REAL_TYPES = ("half", "float", "double")
SIZE_TYPES = ("CUDA", "OpenCL")  # of the grid: in blocks, or in threads
AXES = "XYZ"
NO_PROBLEM = "must be a problem in T1, the format of Kernel Tuner"
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
    for key in ProblemFile.model_fields:
        if not isinstance(document, dict) or key not in document:
            raise KernelError(f"{path}: {key!r} is missing: {NO_PROBLEM}")
    problem = document_of(ProblemFile, document, str(path), KernelError, is_json=True)
    space, spec = problem.ConfigurationSpace, problem.KernelSpecification
    over = _values(space, f"{path}: ConfigurationSpace")
    where = f"{path}: KernelSpecification"
    source = path.parent / spec.KernelFile
    if not is_file(source):
        raise KernelError(f"{where}.KernelFile = {shown(spec.KernelFile)}: no such file next to it")
    parameters = {name: Parameter(values[0], "of the problem") for name, values in over.items()}
    sizes = _Sizes(spec, parameters, where)
    arguments = _arguments(spec, sizes, where)
    launch = LaunchText(spec.KernelName, sizes.grid(), sizes.block(), arguments, spec.SharedMemory, where=where)
    kernel = program_kernel(
        path.stem,
        [source],
        [launch],
        options=spec.CompilerOptions,
        parameters=parameters,
        folder=path.parent,
        origin=str(path),
    )
    return Problem(kernel, over, tuple(_conditions(space, parameters, f"{path}: ConfigurationSpace")))


class _Sizes:
    """How large grid, block and arrays are, as expressions of the parameters and the problem's size."""

    def __init__(self, spec: Specification, parameters: Mapping[str, Parameter], where: str) -> None:
        self._spec, self._parameters, self._where = spec, parameters, where
        given = spec.ProblemSize
        self._problem = given if isinstance(given, list) else [given]
        if not all(isinstance(size, int) and not isinstance(size, bool) for size in self._problem):
            raise KernelError(f"{where}.ProblemSize = {shown(given)}: must be whole numbers")

    def block(self) -> tuple[Size, ...]:
        """LocalSize."""
        local = self._object("LocalSize")
        return tuple(self.of(text, f"LocalSize.{axis}") for axis, text in self._by_axis(local, "LocalSize"))

    def grid(self) -> tuple[Size, ...]:
        """In blocks: by GridDivX and so on where there are any, as Kernel Tuner has it, else GlobalSize."""
        if self._problem and any(getattr(self._spec, f"GridDiv{axis}") for axis in AXES):
            return tuple(self._divided(axis, size) for axis, size in zip(AXES, self._problem, strict=False))
        kind = self._spec.GlobalSizeType
        if kind not in SIZE_TYPES:
            raise KernelError(f"{self._where}.GlobalSizeType = {shown(kind)}: must be {' or '.join(SIZE_TYPES)}")
        local = dict(self._by_axis(self._object("LocalSize"), "LocalSize"))
        of_threads = self._object("GlobalSize")
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

    def _object(self, key: str) -> Mapping[str, Any]:
        """The sizes of a key, by axis."""
        sizes = getattr(self._spec, key)
        if sizes is None:
            raise KernelError(f"{self._where}: {key!r} is missing: {NO_PROBLEM}")
        if not isinstance(sizes, dict):
            raise KernelError(f"{self._where}.{key} = {shown(sizes)}: must be an object")
        return sizes

    def _divided(self, axis: str, size: int) -> Expression:
        divisors = getattr(self._spec, f"GridDiv{axis}") or ["1"]
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


def _values(space: Space, where: str) -> dict[str, list[int | float | str]]:
    """The values of each parameter; of bool 0 and 1, as macros have them."""
    found = {}
    for number, each in enumerate(space.TuningParameters):
        at, name, text = f"{where}.TuningParameters[{number}]", each.Name, each.Values
        if not (name.isascii() and name.isidentifier()) or name == "seed" or name in found:
            raise KernelError(f"{at}.Name = {shown(name)}: must be a unique C identifier other than seed")
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


def _conditions(space: Space, parameters: Mapping[str, Parameter], where: str) -> Iterator[str]:
    """The texts of conditions on the parameters."""
    for number, each in enumerate(space.Conditions):
        at, text = f"{where}.Conditions[{number}]", each.Expression
        for name in sorted(expression(text, f"{at}.Expression", KernelError).names - parameters.keys()):
            known = nearest(name, parameters, parameters)
            raise KernelError(f"{at}.Expression = {shown(text)}: {name}: is not a parameter{known}")
        yield text


def _arguments(spec: Specification, sizes: _Sizes, where: str) -> dict[str, str | int | float]:
    """In the order of the kernel's parameters: T1's names are for people."""
    return {
        f"#{number}": _argument(each, sizes, f"{where}.Arguments[{number}]")
        for number, each in enumerate(spec.Arguments)
    }


def _argument(argument: Argument, sizes: _Sizes, where: str) -> str | int | float:
    """A number, or an array as files of launches name one."""
    kind, memory, fill, value = argument.Type, argument.MemoryType, argument.FillType, argument.FillValue
    is_whole = kind not in REAL_TYPES
    if not _is_number(value) or (is_whole and value != int(value)):
        raise KernelError(f"{where}.FillValue = {shown(value)}: must be a {'whole ' if is_whole else ''}number")
    if memory == "Scalar":
        return int(value) if is_whole else float(value)
    if memory != "Vector" or fill not in ("Constant", "Random"):
        given = f"MemoryType = {shown(memory)}, FillType = {shown(fill)}"
        raise KernelError(f"{where}: {given}: must be Scalar, or Vector of Constant or Random")
    size = sizes.elements(argument.Size, f"{where.rsplit('.', 1)[-1]}.Size")
    return f"random:{TYPES[kind]}:{size}" if fill == "Random" else f"full:{TYPES[kind]}:{size}:{value}"

"""Programs without a host.py: files of device code, the arrays they work on, and how they are launched."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from simtmm.cuda.compilers import is_expression
from simtmm.cuda.signature import names_in_source
from simtmm.errors import KernelError, nearest, shown
from simtmm.files import is_file, why_no_file
from simtmm.kernel import Array, Kernel, Launch, expect_equal
from simtmm.parameter import SEED, Parameter
from simtmm.parameter.expression import Expression
from simtmm.recorder.compiled.values import value_of

MOST_SIZE = 1 << 31  # blocks, threads or bytes of a launch
Given: TypeAlias = str | int | float | Array  # an argument: a text, a number, or an array itself
Size: TypeAlias = int | Expression  # of a launch: a number, or one that follows from the program's parameters


class NamedArguments(tuple[Any, ...]):
    """Arguments of which each has a name; they go to the kernel's parameters of these names, where it tells them."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "NamedArguments":
        """From names and values."""
        arguments = cls(given.values())
        arguments.names = tuple(given)
        return arguments

    def for_parameters(self, parameters: Sequence[str], where: str) -> tuple[Any, ...]:
        """In the order of a kernel's parameters; as given where their names are not known. Raises KernelError."""
        if not all(parameters):
            return tuple(self)
        unnamed = [name for name in self.names if name.startswith("#")]
        if unnamed:
            return tuple(self)
        for name in self.names:
            if name not in parameters:
                known = nearest(name, parameters, parameters)
                raise KernelError(f"{where}: argument {name!r}: unknown argument{known}")
        missing = [name for name in parameters if name not in self.names]
        if missing:
            raise KernelError(f"{where}: argument {missing[0]!r}: is missing")
        return tuple(self[self.names.index(name)] for name in parameters)


@dataclass(frozen=True)
class LaunchText:
    """A launch as a user writes it. kernel: None for the only one. grid, block: sizes, or what they are computed from.
    arguments: texts, numbers or arrays by name; a name that begins with # is a place. shared: dynamic shared memory
    [bytes]. repeat: times that it is done. names: of the kernel's parameters, where its source tells.
    """

    kernel: str | None
    grid: tuple[Size, ...]
    block: tuple[Size, ...]
    arguments: Mapping[str, Given]
    shared: Size = 0
    repeat: int = 1
    where: str = "launch"
    names: tuple[str, ...] = ()

    @property
    def goes_by_place(self) -> bool:
        """Whether an argument of it has no name."""
        return any(argument.startswith("#") for argument in self.arguments)

    def name_of(self, argument: str) -> str:
        """What the array of an argument is called.

        argument: a key of `arguments`.
        """
        if not argument.startswith("#"):
            return argument
        place = int(argument[1:])
        return (self.names[place] if place < len(self.names) else "") or f"argument_{place}"


def program_kernel(  # noqa: PLR0913 - each is a part of the program
    name: str,
    sources: Sequence[Path],
    launches: Sequence[LaunchText],
    *,
    arrays: Mapping[str, str] | None = None,
    expected: Mapping[str, str] | None = None,
    tolerance: float = 0.0,
    options: Sequence[str] = (),
    parameters: Mapping[str, Parameter] | None = None,
    folder: Path | None = None,
    origin: str = "",
) -> Kernel:
    """A program as a Kernel, whose host is these launches.

    arrays: texts by name, that several launches may share. expected: files of arrays that must come out, by array.
    tolerance: relative, of that. options: of the compiler. parameters: of
    the program, which are macros of the compiler, too. folder: the folder of the files. origin: the file
    that says so, if any, for errors.
    name: of the program.
    sources: files of device code.
    launches: in the order in which they run.

    Raises KernelError for a file of device code that is not there.
    """
    for source in sources:
        if not is_file(source):
            raise KernelError(f"{source}: {why_no_file(source)}")
    own = dict(parameters or {})
    launches = [
        replace(launch, names=_names_in(sources, launch.kernel)) if launch.goes_by_place else launch
        for launch in launches
    ]
    host = _Host(
        name, launches, dict(arrays or {}), dict(expected or {}), tolerance, folder or Path(), origin, tuple(own)
    )
    expressions = dict.fromkeys(launch.kernel for launch in launches if launch.kernel and is_expression(launch.kernel))
    return Kernel(
        name, folder or Path(), {**own, "seed": SEED}, "", host, tuple(sources), tuple(options), tuple(expressions)
    )


def _names_in(sources: Sequence[Path], kernel: str | None) -> tuple[str, ...]:
    """The names of a kernel's parameters, of the first source that tells."""
    word = kernel.partition("<")[0].rpartition("::")[2] if kernel else None  # of a template's instance
    for source in sources:
        if source.suffix == ".cu":
            found = names_in_source(source.read_text(encoding="utf-8", errors="replace"), word)
            if found:
                return tuple(found)
    return ()


class _Host(ModuleType):
    """What host.py is to a folder's kernel."""

    def __init__(
        self,
        name: str,
        launches: Sequence[LaunchText],
        arrays: dict[str, str],
        expected: dict[str, str],
        tolerance: float,
        folder: Path,
        origin: str,
        macros: tuple[str, ...],
    ) -> None:
        super().__init__(name, f"{name}: Launched as its user chose.")
        self._launches, self._texts, self._expected = launches, arrays, expected
        self._tolerance, self._folder, self._macros = tolerance, folder, macros
        self._where = f"{origin}: " if origin else ""
        self._numbers: dict[tuple[int, str], Any] = {}
        self._names: dict[tuple[int, str], str] = {}

    def inputs(self, parameters: Any) -> dict[str, Array]:
        """The arrays: those that are shared, and those that are allocated for an argument alone."""
        random = np.random.default_rng(parameters.seed)
        arrays: dict[str, Array] = {}
        for name, text in self._texts.items():
            value = value_of(text, f"{self._where}arrays.{name}", self._folder, random)
            if not isinstance(value, np.ndarray):
                raise KernelError(f"{self._where}arrays.{name} = {shown(text)}: must be an array")
            arrays[name] = value
        for number, launch in enumerate(self._launches):
            for argument, given in launch.arguments.items():
                self._take(number, launch, argument, given, arrays, random)
        for name in self._expected:
            if name not in arrays:
                raise KernelError(f"{self._where}check.{name}: is not an array{nearest(name, arrays)}")
        return arrays or {"nothing": np.zeros(1, np.uint8)}

    def _take(
        self,
        number: int,
        launch: LaunchText,
        argument: str,
        text: Given,
        arrays: dict[str, Array],
        random: np.random.Generator,
    ) -> None:
        if isinstance(text, np.ndarray):
            self._keep(number, launch, argument, text.copy(), arrays)  # a launch writes to its own
            return
        if not isinstance(text, str):
            self._numbers[number, argument] = text
            return
        if text in self._texts:
            self._names[number, argument] = text
            return
        value = value_of(text, f"{launch.where}: argument {argument.lstrip('#')}", self._folder, random)
        self._keep(number, launch, argument, value, arrays)

    def _keep(self, number: int, launch: LaunchText, argument: str, value: Any, arrays: dict[str, Array]) -> None:
        """Keep an argument's value, an array by a name that is free."""
        if not isinstance(value, np.ndarray) or not value.ndim:  # a structure's bytes, say, from a file
            self._numbers[number, argument] = value if not isinstance(value, np.ndarray) else value[()]
            return
        name = launch.name_of(argument)
        while name in arrays:
            name += "_"
        arrays[name] = value
        self._names[number, argument] = name

    def blocks_of_launches(self, parameters: Any) -> Iterator[int]:
        """Of each launch, as often as it is to be done."""
        for launch in self._launches:
            blocks = math.prod(_size(each, parameters, 1) for each in launch.grid)
            yield from itertools.repeat(blocks, launch.repeat)

    def launches(self, parameters: Any, memory: Mapping[str, Array]) -> Iterator[Launch]:
        """One after another, each as often as it is to be done."""
        for number, launch in enumerate(self._launches):
            given = {
                argument: self._names.get((number, argument), self._numbers.get((number, argument)))
                for argument in launch.arguments
            }
            grid, block = (tuple(_size(each, parameters, 1) for each in sizes) for sizes in (launch.grid, launch.block))
            shared = _size(launch.shared, parameters, 0)
            for _ in range(launch.repeat):
                yield Launch(launch.kernel or "", NamedArguments.of(given), grid, block, shared_memory_bytes=shared)

    def defines(self, parameters: Any) -> dict[str, Any]:
        """The program's own parameters, by which its device code differs."""
        return {name: getattr(parameters, name) for name in self._macros}

    def check(self, parameters: Any, before: Mapping[str, Array], after: Mapping[str, Array]) -> None:
        """What came out against what was expected."""
        random = np.random.default_rng(0)
        for name, text in self._expected.items():
            value = value_of(text, f"check.{name}", self._folder, random)
            expect_equal(name, after[name], np.asarray(value), self._tolerance)


def _size(size: Size, parameters: Any, least: int) -> int:
    """A size of a launch with these parameters. Raises KernelError for one that is no whole number, or less."""
    if isinstance(size, int):
        return size
    value = size.value(vars(parameters))
    if not isinstance(value, (int, float)) or not least <= value <= MOST_SIZE or value != int(value):
        allowed = f"must be a whole number of at least {least} and at most {MOST_SIZE}"
        raise KernelError(f"{size.what} {size.text!r}: gives {shown(value)}: {allowed}")
    return int(value)

"""launches.toml: which device code, on which arrays, launched how, and what must come out."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from simtmm.documents import read_toml
from simtmm.documents.models import document_of, must_be, whole
from simtmm.errors import KernelError, nearest, shown
from simtmm.files import is_file
from simtmm.kernel import Kernel
from simtmm.parameter import Parameter
from simtmm.parameter.expression import Expression, expression
from simtmm.recorder.compiled.programs import LaunchText, Size, program_kernel
from simtmm.recorder.compiled.sizes import sizes_of

MOST_REPEATS = 1 << 20
MOST_SHARED = 1 << 31  # bytes of dynamic shared memory
_SIZES = re.compile(r"\s*\d+(\s*[x,]\s*\d+)*\s*")  # 64x64


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_part(value: Any) -> bool:
    """Whether it is a number from 0 to below 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1


class LaunchTable(BaseModel):
    """A table [[launch]]. Its sizes may be computed from parameters, so they are read when these are known."""

    model_config = ConfigDict(extra="forbid")

    kernel: Annotated[str | None, must_be("a name", lambda value: isinstance(value, str))] = None
    grid: Any
    block: Any
    arguments: Any = []
    shared: Any = 0
    repeat: Annotated[int, whole(1, MOST_REPEATS)] = 1


class CheckTable(BaseModel):
    """The table [check]: what must come out of each array, and how near."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[
        str,
        Annotated[str, must_be("a file (.npy) or a text such as 'zeros:...'", lambda value: isinstance(value, str))],
    ]

    tolerance: Annotated[float, must_be("a number from 0 to below 1", _is_part)] = 0.0


class LaunchesFile(BaseModel):
    """The keys of a file of launches; see `load_launches`."""

    model_config = ConfigDict(extra="forbid")

    source: Any = None
    sources: Annotated[list[str], must_be("a list of texts", _are_texts)] = []
    arrays: dict[str, Annotated[str, must_be("a text such as 'zeros:float32:1000'", lambda v: isinstance(v, str))]] = {}
    check: CheckTable = Field(default_factory=lambda: CheckTable.model_validate({}))
    launch: list[LaunchTable] = []
    name: Annotated[str | None, must_be("a text", _is_text)] = None
    parameters: dict[str, Any] = {}
    options: Annotated[list[str], must_be("a list of texts", _are_texts)] = []


def load_launches(path: str | Path) -> Kernel:
    """The program that a file of launches describes. Raises KernelError, naming the file and the key.

    source = "saxpy.cu"                       # or sources = ["a.cu", "b.cu"], also .ptx, .cubin
    options = ["-DN=4", "-I../include"]       # of the compiler
    [parameters]                              # macros of the compiler, too; other values with -p, or `tune`
    width = 256
    [arrays]
    x = "random:float32:1000000"
    y = "input.npy"
    [[launch]]
    kernel = "saxpy"                          # may be left out where there is one
    grid = 3907                               # or [64, 64]
    block = "width"                           # what is computed from parameters; or ["width", 1]
    arguments = { n = 1000000, a = 2.0, x = "x", y = "y" }      # or a list, in order
    shared = 0                                # dynamic shared memory, in bytes
    repeat = 1
    [check]
    y = "expected.npy"
    tolerance = 1e-6
    """
    path = Path(path)
    tables = read_toml(path, KernelError)
    is_one = ("source" in tables) != ("sources" in tables)
    if is_one and "source" in tables:
        tables["sources"] = [tables.pop("source")]
    if not isinstance(tables.get("launch"), list):
        tables["launch"] = []
    file = document_of(LaunchesFile, tables, str(path), KernelError)
    if not is_one or not file.sources:
        raise KernelError(f"{path}: must have either 'source', a file of device code, or 'sources', a list of them")
    folder = path.parent
    for source in file.sources:
        if not is_file(folder / source):
            raise KernelError(f"{path}: source = {source}: no such file")
    if not file.launch:
        raise KernelError(f"{path}: must have at least one [[launch]]")
    parameters = _parameters(file.parameters, f"{path}: parameters")
    return program_kernel(
        file.name or path.stem,
        [folder / source for source in file.sources],
        [_launch(table, f"{path}: launch[{number}]", parameters) for number, table in enumerate(file.launch)],
        arrays=file.arrays,
        expected=file.check.__pydantic_extra__,
        tolerance=file.check.tolerance,
        options=[placed(option, folder) for option in file.options],
        parameters=parameters,
        folder=folder,
        origin=str(path),
    )


def _parameters(table: Mapping[str, Any], where: str) -> dict[str, Parameter]:
    """The program's parameters from their defaults; each is a macro, so its name is one of C."""
    found = {}
    for name, default in table.items():
        if not (name.isascii() and name.isidentifier()) or name == "seed":
            raise KernelError(f"{where}.{shown(name)}: must be a C identifier other than seed")
        if not isinstance(default, (int, float, str)) or isinstance(default, bool):
            raise KernelError(f"{where}.{name} = {shown(default)}: must be a number or a text")
        found[name] = Parameter(default, "of the file of launches")
    return found


def _launch(table: LaunchTable, where: str, parameters: Mapping[str, Parameter]) -> LaunchText:
    given = table.arguments
    if isinstance(given, list):
        given = {f"#{number}": value for number, value in enumerate(given)}
    if not isinstance(given, Mapping):
        raise KernelError(f"{where}: arguments = {shown(given)}: must be a table")
    for name, value in given.items():
        if not isinstance(value, (str, int, float)):
            raise KernelError(f"{where}: argument {name.lstrip('#')} = {shown(value)}: must be a number or a text")
    return LaunchText(
        table.kernel,
        _computed(table.grid, f"{where}: grid", parameters),
        _computed(table.block, f"{where}: block", parameters),
        {name: int(value) if isinstance(value, bool) else value for name, value in given.items()},
        _shared(table.shared, f"{where}: shared", parameters),
        table.repeat,
        where,
    )


def _computed(value: Any, where: str, parameters: Mapping[str, Parameter]) -> tuple[Size, ...]:
    """One to three sizes, of which some may be expressions of the parameters, where there are any."""
    parts = value if isinstance(value, list) else [value]
    if not parameters or not any(isinstance(part, str) and not _SIZES.fullmatch(part) for part in parts):
        return sizes_of(value, where)
    if not 1 <= len(parts) <= 3:
        raise KernelError(f"{where} = {shown(value)}: must be one to three sizes")
    return tuple(
        _expression(part, where, parameters) if isinstance(part, str) else sizes_of(part, where)[0] for part in parts
    )


def _shared(value: Any, where: str, parameters: Mapping[str, Parameter]) -> Size:
    if parameters and isinstance(value, str):
        return _expression(value, where, parameters)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_SHARED:
        raise KernelError(f"{where} = {shown(value)}: must be a whole number from 0 to {MOST_SHARED}")
    return value


def _expression(text: str, where: str, parameters: Mapping[str, Parameter]) -> Expression:
    """An expression of the parameters. Raises KernelError for one of other names."""
    parsed = expression(text, where, KernelError)
    for name in sorted(parsed.names):
        if name not in parameters:
            raise KernelError(
                f"{where} {shown(text)}: {name}: is not a parameter{nearest(name, parameters, parameters)}"
            )
    return parsed


def placed(option: str, folder: Path) -> str:
    """-I folders are those beside the file.

    option: of the compiler.
    folder: the file's.
    """
    return f"-I{folder / option[2:].strip()}" if option.startswith("-I") else option

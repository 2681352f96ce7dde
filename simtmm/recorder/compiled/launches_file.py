"""launches.toml: which device code, on which arrays, launched how, and what must come out."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simtmm.documents import read_toml
from simtmm.errors import KernelError, nearest, shown
from simtmm.files import is_file
from simtmm.kernel import Kernel
from simtmm.parameter import Parameter
from simtmm.parameter.expression import Expression, expression
from simtmm.recorder.compiled.programs import LaunchText, Size, program_kernel

KEYS = {"name", "source", "sources", "options", "parameters", "arrays", "launch", "check"}
LAUNCH_KEYS = {"kernel", "grid", "block", "arguments", "shared", "repeat"}
MOST_REPEATS = 1 << 20
_SIZES = re.compile(r"\s*\d+(\s*[x,]\s*\d+)*\s*")  # 64x64


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
    _known(tables, KEYS, str(path), "")
    sources = _texts(tables.get("sources", [tables["source"]] if "source" in tables else []), f"{path}: sources")
    if not sources or ("source" in tables) == ("sources" in tables):
        raise KernelError(f"{path}: must have either 'source', a file of device code, or 'sources', a list of them")
    folder = path.parent
    for source in sources:
        if not is_file(folder / source):
            raise KernelError(f"{path}: source = {source}: no such file")
    arrays = _table(tables.get("arrays", {}), f"{path}: arrays")
    for name, text in arrays.items():
        if not isinstance(text, str):
            raise KernelError(f"{path}: arrays.{name} = {shown(text)}: must be a text such as 'zeros:float32:1000'")
    check = dict(_table(tables.get("check", {}), f"{path}: check"))
    tolerance = check.pop("tolerance", 0.0)
    if not isinstance(tolerance, (int, float)) or isinstance(tolerance, bool) or not 0 <= tolerance < 1:
        raise KernelError(f"{path}: check.tolerance = {shown(tolerance)}: must be a number from 0 to below 1")
    for name, text in check.items():
        if not isinstance(text, str):
            raise KernelError(
                f"{path}: check.{name} = {shown(text)}: must be a file (.npy) or a text such as 'zeros:...'"
            )
    launches = tables.get("launch", [])
    if not isinstance(launches, list) or not launches:
        raise KernelError(f"{path}: must have at least one [[launch]]")
    name = tables.get("name", path.stem)
    if not isinstance(name, str) or not name:
        raise KernelError(f"{path}: name = {shown(name)}: must be a text")
    parameters = _parameters(_table(tables.get("parameters", {}), f"{path}: parameters"), f"{path}: parameters")
    return program_kernel(
        name,
        [folder / source for source in sources],
        [_launch(table, f"{path}: launch[{number}]", parameters) for number, table in enumerate(launches)],
        arrays=arrays,
        expected=check,
        tolerance=float(tolerance),
        options=[placed(option, folder) for option in _texts(tables.get("options", []), f"{path}: options")],
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


def _launch(table: Any, where: str, parameters: Mapping[str, Parameter]) -> LaunchText:
    _known(_table(table, where), LAUNCH_KEYS, where, "")
    for key in ("grid", "block"):
        if key not in table:
            raise KernelError(f"{where}: {key!r} is missing")
    kernel = table.get("kernel")
    if kernel is not None and not isinstance(kernel, str):
        raise KernelError(f"{where}: kernel = {shown(kernel)}: must be a name")
    given = table.get("arguments", [])
    if isinstance(given, list):
        given = {f"#{number}": value for number, value in enumerate(given)}
    for name, value in _table(given, f"{where}: arguments").items():
        if not isinstance(value, (str, int, float)):
            raise KernelError(f"{where}: argument {name.lstrip('#')} = {shown(value)}: must be a number or a text")
    return LaunchText(
        kernel,
        _computed(table["grid"], f"{where}: grid", parameters),
        _computed(table["block"], f"{where}: block", parameters),
        {name: int(value) if isinstance(value, bool) else value for name, value in given.items()},
        _shared(table.get("shared", 0), f"{where}: shared", parameters),
        _whole(table.get("repeat", 1), 1, MOST_REPEATS, f"{where}: repeat"),
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
    return _whole(value, 0, 1 << 31, where)


def _expression(text: str, where: str, parameters: Mapping[str, Parameter]) -> Expression:
    """An expression of the parameters. Raises KernelError for one of other names."""
    parsed = expression(text, where, KernelError)
    for name in sorted(parsed.names):
        if name not in parameters:
            raise KernelError(
                f"{where} {shown(text)}: {name}: is not a parameter{nearest(name, parameters, parameters)}"
            )
    return parsed


def sizes_of(value: Any, where: str) -> tuple[int, ...]:
    """One to three sizes, from a number, a list, or a text such as 64x64. Raises KernelError."""
    if isinstance(value, str):
        parts: list[Any] = [
            int(part.strip()) if part.strip().isdecimal() and len(part) < 20 else part
            for part in value.replace(",", "x").split("x")
        ]
    else:
        parts = value if isinstance(value, list) else [value]
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, int) and not isinstance(p, bool) and p >= 1 for p in parts):
        raise KernelError(f"{where} = {shown(value)}: must be one to three sizes of at least 1, such as 64 or 64x64")
    return tuple(parts)


def placed(option: str, folder: Path) -> str:
    """-I folders are those beside the file."""
    return f"-I{folder / option[2:].strip()}" if option.startswith("-I") else option


def _known(table: Mapping[str, Any], known: set[str], where: str, prefix: str) -> None:
    for key in table:
        if key not in known:
            raise KernelError(f"{where}: unknown key {shown(prefix + key)}{nearest(key, known)}")


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise KernelError(f"{where} = {shown(value)}: must be a table")
    return value


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise KernelError(f"{where} = {shown(value)}: must be a list of texts")
    return value


def _whole(value: Any, least: int, most: int, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise KernelError(f"{where} = {shown(value)}: must be a whole number from {least} to {most}")
    return value

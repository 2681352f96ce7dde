"""Object code that came with the package, so that nobody waits for the compiler at the first run.

A wheel holds the loops that most commands need (shipped.json), compiled for processors of the last ten years
(hatch_build.py). A checkout, other processors and other systems have none, and compile what they need.
"""

import hashlib
import json
import platform
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from simtmm.cache.compiled import sources_of
from simtmm.files import PACKAGE
from simtmm.native.values import Array, Parameter, Part, Records, Struct

PROCESSOR = "x86-64-v3"  # LLVM's name of the least: Intel's since Haswell (2013), AMD's since Excavator (2015)
_FEATURES = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")  # what it has beyond x86-64-v2
_INSTALLED = Path(sysconfig.get_paths()["purelib"]) / "simtmm"
# Of the package, and of the one installed where a checkout of the same sources is the working directory
_FOLDERS = tuple(dict.fromkeys(package / "_data" / "objects" for package in (PACKAGE, _INSTALLED)))
_LIST = PACKAGE / "native" / "shipped.json"


class Shipped(NamedTuple):
    """A loop that a wheel holds. module, function: where it stands. parameters: what it is compiled for."""

    module: str
    function: str
    parameters: tuple[Parameter, ...]


def shipped(module: str, label: str, parameters: Sequence[Parameter]) -> bytes | None:
    """The object code of a function for some parameters; None where the package has none for this computer.

    module: of the function.
    label: the function's name, with its constants.
    parameters: what it was compiled for.
    """
    folder = _folder_of(module)
    path = folder / object_name(label, parameters) if folder else None
    if path is None or not path.is_file() or not _suits():
        return None
    try:
        return path.read_bytes()
    except OSError:
        return None


def has_shipped(module: str, label: str) -> bool:
    """Whether the package has object code of a function for this computer.

    module: of the function.
    label: the function's name, with its constants.
    """
    folder = _folder_of(module)
    return folder is not None and any(folder.glob(f"{label}-*.o")) and _suits()


def label_of(function: str, constants: Sequence[int]) -> str:
    """What people who look into a folder of object code see.

    function: its name.
    constants: values of the parameters that are its constants, in their order.
    """
    return "-".join((function, *map(str, constants)))


def object_name(label: str, parameters: Sequence[Parameter]) -> str:
    """The name of a file of object code.

    label: the function's name, with its constants.
    parameters: what it was compiled for.
    """
    return f"{label}-{hashlib.sha256(repr(tuple(parameters)).encode()).hexdigest()[:32]}.o"


def listed() -> Iterator[Shipped]:
    """The loops that a wheel holds, as shipped.json lists them."""
    for row in json.loads(_LIST.read_text(encoding="utf-8")):
        yield Shipped(row["module"], row["function"], tuple(_parameter(each) for each in row["parameters"]))


def document(loops: Sequence[Shipped]) -> list[dict[str, Any]]:
    """The content of shipped.json.

    loops: to be listed.
    """
    return [
        {"module": each.module, "function": each.function, "parameters": [_written(one) for one in each.parameters]}
        for each in loops
    ]


@cache
def _folder_of(module: str) -> Path | None:
    """Where object code of a module's functions lies, made of just these sources."""
    there = [folder for folder in _FOLDERS if folder.is_dir()]
    if not there:
        return None
    name = f"{module}-{sources_of(module)}"
    return next((folder / name for folder in there if (folder / name).is_dir()), None)


@cache
def _suits() -> bool:
    """Whether this computer runs it."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    import llvmlite.binding as llvm  # late: it takes a moment

    has = llvm.get_host_cpu_features()
    return all(has.get(name, False) for name in _FEATURES)


def _written(parameter: Any) -> Any:
    if isinstance(parameter, Array):
        return {"array": [parameter.name, parameter.entry, parameter.element, parameter.dimensions, parameter.row]}
    if isinstance(parameter, Records):
        parts = [[name, part.element, part.offset, part.length] for name, part in parameter.parts]
        return {"records": [parameter.name, parameter.entry, parts, parameter.size]}
    if isinstance(parameter, Struct):
        return {"struct": [[name, _written(field)] for name, field in parameter.fields]}
    return parameter


def _parameter(written: Any) -> Any:
    """What `_written` was given."""
    if not isinstance(written, dict):
        return written
    if "array" in written:
        return Array(*written["array"])
    if "records" in written:
        name, entry, parts, size = written["records"]
        return Records(name, entry, tuple((part, Part(*rest)) for part, *rest in parts), size)
    return Struct(tuple((name, _parameter(field)) for name, field in written["struct"]))

"""kernels.toml: the kernels that a gate runs, their launches and machines.

machine = "a100-80"                        # of all kernels that name none
[saxpy]                                    # a table for each kernel, by any name
source = "saxpy.cu"                        # a path is relative to the file; a kernel of simtmm's is named
grid = 391                                 # or "64x64", or [64, 64]
block = 256
args = { n = 100000, a = "2f", x = "random:float32:100000", y = "zeros:float32:100000" }
[gemm]
source = "gemm"
params = { n = 64 }
machine = "v100"
set = { memory.latency = 800 }
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.analysis.gate.baseline import Timed
from simtmm.analysis.run import run
from simtmm.catalogue import kernel_folders, named_kernel, refusal
from simtmm.documents import read_toml
from simtmm.errors import InternalError, KernelError, SimtmmError, nearest, shown
from simtmm.files import is_file, is_folder
from simtmm.kernel import Kernel
from simtmm.machine import Machine, load_machine
from simtmm.program import SUFFIXES
from simtmm.recorder import FORMS
from simtmm.recorder.compiled.launches_file import placed
from simtmm.recorder.compiled.programs import MOST_SIZE, LaunchText, program_kernel
from simtmm.recorder.compiled.sizes import sizes_of
from simtmm.recorder.sources import DEVICE_CODE, LAUNCHES, SCRIPT
from simtmm.study.design.axes import flattened
from simtmm.watch import Watch

MACHINE = "machine"  # the one key that is no kernel's table
OF_DEVICE_CODE = ("kernel", "grid", "block", "args", "shared", "compile")
KEYS = ("source", *OF_DEVICE_CODE, "params", "as", MACHINE, "set", "start")
STARTS = ("warm", "cold", "kept")
START = "memory.l2.start"
ENGINE = "fast"  # of both, which give one time, always the same: how much a verdict tries hangs on it


@dataclass(frozen=True)
class GateKernel:
    """A kernel of the file, checked as far as it can be before it is run.

    where: the file and the name, for errors. program: as `simtmm.analysis.run` takes it. words: what the file says of
    it, as texts by dotted key.
    """

    name: str
    where: str
    program: str | Kernel
    machine: Machine
    parameters: Mapping[str, Any]
    form: str | None
    words: Mapping[str, str]


def load_kernels(path: str | Path) -> tuple[GateKernel, ...]:
    """The kernels of the file, in its order. Raises KernelError and MachineError, with file, key and value."""
    path = Path(path)
    tables = read_toml(path, KernelError)
    usual = tables.pop(MACHINE, None)
    if usual is not None and not (isinstance(usual, str) and usual):
        raise KernelError(f"{path}: {MACHINE} = {shown(usual)}: must be a machine's name or file")
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise KernelError(f"{path}: {name} = {shown(table)}: must be a kernel's table, or {MACHINE}")
    if not tables:
        raise KernelError(f"{path}: must have a table for each kernel, such as [saxpy]")
    return tuple(_kernel(path.parent, name, f"{path}: {name}", table, usual) for name, table in tables.items())


def timed(kernels: Sequence[GateKernel], watch: Watch | None = None, what_if: bool = True) -> dict[str, Timed]:
    """Run each kernel on its machine.

    what_if: whether to try what would help.

    Raises the errors of `simtmm.analysis.run`, with file and name.
    """
    found = {}
    for kernel in kernels:
        try:
            done = run(
                kernel.program, kernel.machine, kernel.parameters, ENGINE, watch, form=kernel.form, what_if=what_if
            )
        except SimtmmError as error:
            raise _named(kernel.where, error) from None
        found[kernel.name] = Timed.of(done, kernel.words)
    return found


def _kernel(folder: Path, name: str, where: str, table: Mapping[str, Any], usual: str | None) -> GateKernel:
    for key in table:
        if key not in KEYS:
            raise KernelError(f"{where}.{key}: unknown key{nearest(key, KEYS)}")
    source = _text(table, "source", where, "a kernel's name, or a file")
    if source is None:
        raise KernelError(f"{where}.source: is missing: must be a kernel's name, or a file")
    form = _text(table, "as", where, f"one of {', '.join(FORMS)}")
    if form is not None and form not in FORMS:
        raise KernelError(f"{where}.as = {shown(form)}: must be one of {', '.join(FORMS)}")
    if Path(source).suffix in DEVICE_CODE:
        program: str | Kernel = _device_code(folder, source, where, table)
    else:
        for key in OF_DEVICE_CODE:
            if key in table:
                kinds = ", ".join(DEVICE_CODE)
                raise KernelError(f"{where}.{key}: is for a file of device code ({kinds}), not for {source}")
        program = _source(folder, source, where)
    parameters = _table(table, "params", where)
    for key, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise KernelError(f"{where}.params.{key} = {shown(value)}: must be a number or a text")
    machine_name = _text(table, MACHINE, where, "a machine's name or file") or usual
    if machine_name is None:
        raise KernelError(f"{where}.{MACHINE}: is missing: must be a machine's name (see `simtmm machines`) or file")
    try:
        machine = _machine(folder, machine_name, where, table)
    except SimtmmError as error:
        raise _named(where, error) from None
    words = {key: str(value) for key, value in flattened({**table, MACHINE: machine_name}).items()}
    return GateKernel(name, where, program, machine, parameters, form, words)


def _source(folder: Path, source: str, where: str) -> str:
    """A program that is no device code, as `run` takes it. A kernel's host.py is code: it is named as data may."""
    suffix = Path(source).suffix
    if suffix in (*SUFFIXES, LAUNCHES):
        if not is_file(folder / source):
            raise KernelError(f"{where}.source = {source!r}: no such file: {folder / source}")
        return str(folder / source)
    if suffix == SCRIPT:
        trace = f"{Path(source).stem}.parquet"
        raise KernelError(f"{where}.source = {source!r}: must be a trace: simtmm record {source} -o {trace}")
    found, path = named_kernel(source), folder / source
    there = path if is_folder(path) else None
    if found is None and there is not None:
        found = next((known for known in kernel_folders().values() if known.resolve() == path.resolve()), None)
    if found is None:
        raise KernelError(f"{where}.source = {source!r}: {refusal(source, there)}")
    return str(found)


def _device_code(folder: Path, source: str, where: str, table: Mapping[str, Any]) -> Kernel:
    """One launch of a kernel in a file of device code."""
    if not is_file(folder / source):
        raise KernelError(f"{where}.source = {source!r}: no such file: {folder / source}")
    for key in ("grid", "block"):
        if key not in table:
            raise KernelError(f"{where}.{key}: is missing: must be one to three sizes, such as 64 or '64x64'")
    grid, block = (sizes_of(table[key], f"{where}.{key}") for key in ("grid", "block"))
    shared = table.get("shared", 0)
    if isinstance(shared, bool) or not isinstance(shared, int) or not 0 <= shared <= MOST_SIZE:
        raise KernelError(f"{where}.shared = {shown(shared)}: must be a whole number of bytes from 0 to {MOST_SIZE}")
    options = table.get("compile", [])
    if not isinstance(options, list) or not all(isinstance(option, str) and option for option in options):
        raise KernelError(f"{where}.compile = {shown(options)}: must be a list of texts, as ['-DN=4']")
    given = table.get("args", {})
    if isinstance(given, list):
        given = {f"#{number}": value for number, value in enumerate(given)}
    if not isinstance(given, Mapping):
        raise KernelError(f"{where}.args = {shown(given)}: must be a table, or a list in the kernel's order")
    for key, value in given.items():
        if not isinstance(value, str | int | float):
            raise KernelError(f"{where}.args.{key.lstrip('#')} = {shown(value)}: must be a number or a text")
    arguments = {key: int(value) if isinstance(value, bool) else value for key, value in given.items()}
    chosen = _text(table, "kernel", where, "a kernel's name")
    launch = LaunchText(chosen, grid, block, arguments, shared, where=Path(source).name)
    placed_options = [placed(option, folder) for option in options]
    return program_kernel(Path(source).stem, [folder / source], [launch], options=placed_options, folder=folder)


def _machine(folder: Path, name: str, where: str, table: Mapping[str, Any]) -> Machine:
    """The machine with what is changed of it."""
    is_path = Path(name).suffix.lower() == ".toml" or Path(name).name != name
    machine = load_machine(folder / name if is_path else name)
    changes = {key: None if value == "none" else value for key, value in flattened(_table(table, "set", where)).items()}
    machine = machine.replace(changes) if changes else machine
    start = _text(table, "start", where, f"one of {', '.join(STARTS)}")
    if start is None:
        return machine
    if start not in STARTS:
        raise KernelError(f"start = {shown(start)}: must be one of {', '.join(STARTS)}")
    if machine.memory.l2 is None or machine.memory.l2.start == start:
        return machine
    return machine.replace({START: start})


def _text(table: Mapping[str, Any], key: str, where: str, must: str) -> str | None:
    value = table.get(key)
    if value is not None and not (isinstance(value, str) and value):
        raise KernelError(f"{where}.{key} = {shown(value)}: must be {must}")
    return value


def _table(table: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise KernelError(f"{where}.{key} = {shown(value)}: must be a table")
    return value


def _named(where: str, error: SimtmmError) -> SimtmmError:
    """The error with its place; a fault of simtmm unchanged."""
    return error if isinstance(error, InternalError) else type(error)(f"{where}: {error}")

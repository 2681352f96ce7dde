"""What a user names to be recorded: a kernel by its name or folder, or a file of launches."""

from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.documents import read_toml
from simtmm.errors import KernelError
from simtmm.files import is_file
from simtmm.kernel import Kernel, load_kernel

if TYPE_CHECKING:
    from simtmm.graph import Source as GraphSource

DEVICE_CODE = (".cu", ".ptx", ".cubin", ".fatbin")  # one launch of which the command line tells
LAUNCHES = ".toml"
SCRIPT = ".py"


def opened_kernel(source: str | Path) -> Kernel:
    """The kernel that a source names: by name, by folder, or by a file of launches (.toml).

    source: a word of a command line or a path.

    Raises KernelError.
    """
    suffix = Path(source).suffix if isinstance(source, (str, Path)) else ""
    if suffix == LAUNCHES:
        from simtmm.recorder.compiled.launches_file import load_launches

        return load_launches(source)
    if suffix in DEVICE_CODE and is_file(source):
        raise KernelError(
            f"{source}: needs its launches: simtmm run, diff, record and record measure have --grid, --block and "
            "--arg; other commands need a file of launches (.toml), or a trace that simtmm record wrote"
        )
    if suffix == SCRIPT and is_file(source):
        raise KernelError(
            f"{source}: is a Python script, for simtmm run, diff and record; other commands need a trace: simtmm "
            f"record {source} -o {Path(source).stem}.parquet"
        )
    return load_kernel(source)


def kernel_on_graph(source: str | Path | Kernel | None, graph: "GraphSource") -> Kernel:
    """The kernel that a source names, on a user's graph.

    source: a kernel's name or folder, or itself.
    graph: a file or a graph of networkx.

    Raises KernelError for what is no kernel, or takes none.
    """
    if isinstance(source, Kernel):
        return source.on_graph(graph)
    if source is None or Path(source).suffix in (".parquet", ".json", LAUNCHES):
        what = source if source is not None else "the shipped trace"
        raise KernelError(f"graph: is for a kernel's name or folder, not for {what}")
    return opened_kernel(source).on_graph(graph)


def is_launches(path: str | Path) -> bool:
    """Whether that is a file of launches, and not one of a machine or a study, which are TOML too."""
    if Path(path).suffix != LAUNCHES:
        return False
    try:
        tables = read_toml(path, KernelError)
    except KernelError:
        return False
    return "launch" in tables or "source" in tables or "sources" in tables


def is_plain_folder(folder: Path) -> bool:
    """Whether a kernel's folder holds plain CUDA, without the macros; host.py is not run for it.

    folder: its path.
    """
    try:
        return "device.cuh" not in (folder / "kernel.cu").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def refuse_files(source: str, what: str, takes_traces: bool = True) -> None:
    """Raise KernelError for a file of launches or of device code. what: the command that takes none.

    source: a word of a command line.
    takes_traces: whether the command takes traces in their place.
    """
    trace = f"; or a trace: simtmm record {source} -o {Path(source).stem}.parquet" if takes_traces else ""
    if is_launches(source) or (Path(source).suffix in DEVICE_CODE and is_file(source)):
        raise KernelError(
            f"{source}: is not a kernel for simtmm {what}: must be a folder (kernel.cu and host.py) or its name{trace}"
        )

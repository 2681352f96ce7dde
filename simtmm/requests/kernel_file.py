"""Files of device code: which of their kernels is launched, and how."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from simtmm.errors import KernelError, shown
from simtmm.requests.completion import complete_parameter

if TYPE_CHECKING:
    from simtmm.kernel import Kernel

Given = TypeVar("Given")
FORMS = ("written", "compiled", "ptx")

ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="a kernel's parameter (see `kernels NAME`); repeatable",
        autocompletion=complete_parameter,
    ),
]
FormOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="FORM",
        help="record a kernel as written (what its macros mark), compiled (the machine's instructions) or ptx; "
        "default: written if it has macros",
        autocompletion=lambda: list(FORMS),
    ),
]
GridOption = Annotated[
    str | None, typer.Option("--grid", metavar="SIZES", help="blocks in a launch of a .cu file, e.g. 3907 or 64x64")
]
BlockOption = Annotated[
    str | None, typer.Option("--block", metavar="SIZES", help="threads in a block, e.g. 256 or 16x16")
]
ArgumentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="NAME=VALUE",
        help="an argument: a number, random:float32:1000, zeros:int32:64x64, or a file (.npy); repeatable",
    ),
]
KernelOption = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        metavar="NAME",
        help="which kernel, if a file has several; for a script, those to record: NAME, gemm_* or regex:WORDS",
    ),
]
SharedOption = Annotated[int, typer.Option("--shared", metavar="BYTES", min=0, help="dynamic shared memory per block")]
CompilerOption = Annotated[
    list[str] | None,
    typer.Option("--compile", metavar="OPTION", help="an option for the compiler, e.g. --compile=-DN=4; repeatable"),
]
GraphOption = Annotated[
    Path | None,
    typer.Option(
        "--graph",
        metavar="FILE",
        help="a graph of your own for a kernel on graphs: an edge list, Matrix Market, METIS or node-link JSON",
    ),
]


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """A kernel's parameters and form, and how a kernel of a file of device code is launched."""

    parameters: ParamOption = None
    grid: GridOption = None
    block: BlockOption = None
    args: ArgumentOption = None
    kernel: KernelOption = None
    shared: SharedOption = 0
    compile: CompilerOption = None
    form: FormOption = None
    graph: GraphOption = None

    def of_kernels(self) -> dict[str, object]:
        """The options that are for kernels alone, which a program launches itself, by their names."""
        return {"--param": self.parameters, "--grid": self.grid, "--block": self.block, "--arg": self.args,
                "--shared": self.shared, "--compile": self.compile, "--as": self.form,
                "--graph": self.graph}  # fmt: skip

    def launched(self, source: Given) -> "Given | Kernel":
        """A file of device code as a Kernel with this launch; any other source unchanged.

        source: what the command line names.

        Raises KernelError.
        """
        from simtmm.recorder.sources import DEVICE_CODE

        if isinstance(source, (str, Path)) and Path(source).suffix in DEVICE_CODE:
            if self.graph is not None:
                raise KernelError(f"--graph {self.graph}: is for a kernel's name or folder, not for {source}")
            from simtmm.recorder.compiled.cuda_file import cuda_program

            return cuda_program(
                source, self.grid, self.block, self.args or [], kernel=self.kernel, shared=self.shared,
                options=self.compile or [],
            )  # fmt: skip
        given = {"--grid": self.grid, "--block": self.block, "--arg": self.args, "--kernel": self.kernel,
                 "--shared": self.shared, "--compile": self.compile}  # fmt: skip
        for option, value in given.items():
            if value:
                what = named(source)
                raise KernelError(f"{option}: is for a file of device code ({', '.join(DEVICE_CODE)}), not for {what}")
        return source if self.graph is None else self._on_graph(source)

    def _on_graph(self, source: object) -> "Kernel":
        """The kernel of a source on a user's graph. Raises KernelError for what is no kernel, or takes none."""
        from simtmm.kernel import Kernel
        from simtmm.recorder.sources import kernel_on_graph

        assert self.graph is not None
        if source is not None and not isinstance(source, (str, Path, Kernel)):
            raise KernelError(f"graph: is for a kernel's name or folder, not for {named(source)}")
        return kernel_on_graph(source, self.graph)


def named(source: object) -> str:
    """A source in an error's words."""
    if source is None:
        return "the shipped trace"
    return str(source) if isinstance(source, (str, Path)) else shown(source)

"""Files of device code: which of their kernels is launched, and how."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.completion import complete_parameter
from simtmm.errors import KernelError

if TYPE_CHECKING:
    from simtmm.kernel import Kernel

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
        "written where it has macros",
        autocompletion=lambda: list(FORMS),
    ),
]
GridOption = Annotated[
    str | None, typer.Option("--grid", metavar="SIZES", help="blocks of a launch of a .cu file, as 3907 or 64x64")
]
BlockOption = Annotated[
    str | None, typer.Option("--block", metavar="SIZES", help="threads of a block, as 256 or 16x16")
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
        help="which kernel of a file, where it has several; of a script, those to record: NAME, gemm_* or regex:WORDS",
    ),
]
SharedOption = Annotated[int, typer.Option("--shared", metavar="BYTES", min=0, help="dynamic shared memory of a block")]
CompilerOption = Annotated[
    list[str] | None,
    typer.Option("--compile", metavar="OPTION", help="for the compiler, as --compile=-DN=4; repeatable"),
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

    param: ParamOption = None
    grid: GridOption = None
    block: BlockOption = None
    arg: ArgumentOption = None
    kernel: KernelOption = None
    shared: SharedOption = 0
    compile_: CompilerOption = None
    form: FormOption = None
    graph: GraphOption = None

    def of_kernels(self) -> dict[str, object]:
        """The options that are for kernels alone, which a program launches itself, by their names."""
        return {"--param": self.param, "--grid": self.grid, "--block": self.block, "--arg": self.arg,
                "--shared": self.shared, "--compile": self.compile_, "--as": self.form,
                "--graph": self.graph}  # fmt: skip

    def launched(self, source: str | None) -> "str | Kernel | None":
        """A file of device code as a Kernel with this launch; any other source as it is. Raises KernelError."""
        from simtmm.recorder.sources import DEVICE_CODE

        if source is not None and Path(source).suffix in DEVICE_CODE:
            if self.graph is not None:
                raise KernelError(f"--graph {self.graph}: is for a kernel's name or folder, and not for {source}")
            from simtmm.recorder.compiled.cuda_file import cuda_program

            return cuda_program(
                source, self.grid, self.block, self.arg or [], kernel=self.kernel, shared=self.shared,
                options=self.compile_ or [],
            )  # fmt: skip
        given = {"--grid": self.grid, "--block": self.block, "--arg": self.arg, "--kernel": self.kernel,
                 "--shared": self.shared, "--compile": self.compile_}  # fmt: skip
        for option, value in given.items():
            if value:
                what = source if source is not None else "the shipped trace"
                raise KernelError(
                    f"{option}: is for a file of device code ({', '.join(DEVICE_CODE)}), and not for {what}"
                )
        if self.graph is not None:
            from simtmm.recorder.sources import kernel_on_graph

            return kernel_on_graph(source, self.graph)
        return source

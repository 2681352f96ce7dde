"""What `sweep` is asked for: programs, what is varied, and what is computed at each point."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import StudyError
from simtmm.requests.completion import complete_axis, complete_quantity, complete_study
from simtmm.requests.kernel_file import ParamOption
from simtmm.requests.machine import SetOption, machine_option
from simtmm.requests.sampling import SampleOptions
from simtmm.requests.study_options import engine_option
from simtmm.requests.values import changes_of, parameters_of, ranges_of

if TYPE_CHECKING:
    from simtmm.study.design.design import Design

FLAGS = {  # of tables of a study file whose options are called otherwise
    "axes": "vary", "linked": "link", "sample": "draw", "constraints": "where", "parameters": "param",
    "machines": "machine", "sample_error": "sample",
}  # fmt: skip


SAMPLES = 100


@dataclass(frozen=True, kw_only=True)
class AxisOptions:
    """What is varied, and which of the points are left."""

    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=RANGE",
            help="an axis: LOW:HIGH[:step|linear|log|times:N] or A,B,C; repeatable",
            autocompletion=complete_axis,
        ),
    ] = None
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link", metavar="KEY=RANGE;KEY=RANGE", help="axes that vary together, value by value; repeatable"
        ),
    ] = None
    draw: Annotated[
        list[str] | None,
        typer.Option(
            "--draw",
            metavar="KEY=LOW:HIGH[:log]",
            help="a sampled axis; repeatable",
            autocompletion=complete_axis,
        ),
    ] = None
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", help="number of points that --draw draws; default: 100")
    ] = None
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="NAME", help="how --draw samples: latin-hypercube (default) or random"),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="seed of --draw; default: 0")] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="skip points that do not meet it, e.g. 'threads <= 512'; repeatable",
        ),
    ] = None

    def of_axes(self) -> dict[str, Any]:
        """What a study file would hold of them. Raises StudyError."""
        given = {"points": self.samples, "method": self.method, "seed": self.seed}
        sampling = {key: value for key, value in given.items() if value is not None}
        if sampling and not self.draw:
            raise StudyError("--samples, --method, --seed: need --draw, which samples an axis")
        sample = {"points": SAMPLES, **sampling, "axes": ranges_of(self.draw, "--draw")}
        return {
            "axes": ranges_of(self.vary, "--vary"),
            "linked": [
                ranges_of(words.split(";") if isinstance(words, str) else words, "--link") for words in self.link or []
            ],
            "sample": sample if self.draw else None,
            "constraints": self.where,
        }


@dataclass(frozen=True, kw_only=True)
class PointOptions:
    """What is computed at each point."""

    machine: Annotated[list[str] | None, machine_option("a machine; repeatable, and then an axis")] = None
    set: SetOption = None
    parameters: ParamOption = None
    compute: Annotated[
        list[str] | None,
        typer.Option(
            "--compute",
            metavar="NAME",
            help="simulated, or a model (see `run --models-only`); repeatable",
            autocompletion=complete_quantity,
        ),
    ] = None
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="the kind of SOURCE: kernel, trace or algorithm")
    ] = None
    engine: Annotated[str | None, engine_option()] = None
    measured: Annotated[
        list[Path] | None,
        typer.Option("--measured", metavar="FILE", help="measured times, CSV or JSON; repeatable"),
    ] = None

    def of_points(self) -> dict[str, Any]:
        """What a study file would hold of them."""
        return {
            "machines": self.machine,
            "set": changes_of(self.set),
            "parameters": parameters_of(self.parameters),
            "compute": self.compute,
            "kind": self.kind,
            "engine": self.engine,
            "measured": [str(path) for path in self.measured or []],
        }


@dataclass(frozen=True, kw_only=True)
class SweepRequest(PointOptions, SampleOptions, AxisOptions):
    """A study. Its fields are options of `simtmm sweep` and arguments of `simtmm.sweep`."""

    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="a study file (.toml); or kernels and traces (.parquet), or an algorithm of the papers",
            autocompletion=complete_study,
        ),
    ]

    def given(self) -> dict[str, Any]:
        """What a study file would hold of the options, as far as they are given. Raises the errors of their words."""
        tables = {**self.of_points(), **self.of_sample(), **self.of_axes()}
        return {key: value for key, value in tables.items() if value}

    def design(self) -> "Design":
        """The study that a file holds, or that the options describe. Raises StudyError where both are given."""
        from simtmm.recorder.sources import refuse_files
        from simtmm.study.design.design import design_file, design_of
        from simtmm.study.design.study_file import study_of

        given = self.given()
        for each in self.source:
            refuse_files(each, "sweep")
        source, *others = self.source
        if others or Path(source).suffix != ".toml":
            return design_of(study_of({"program": self.source if others else source, **given}, "options"))
        if given:
            names = ", ".join(f"--{FLAGS.get(key, key)}" for key in given)
            raise StudyError(f"{source}: {names}: can't be combined with a study file, which defines everything")
        return design_file(source)

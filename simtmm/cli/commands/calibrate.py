"""`simtmm machines calibrate`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.environment import MachinePathOption
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.errors import MachineError, StudyError
from simtmm.files import is_folder
from simtmm.requests.files import DOCUMENT, checked
from simtmm.requests.machine import SetOption, chosen_machine, machine_option

if TYPE_CHECKING:
    from simtmm.calibration.hierarchy.measured import Kind


@dataclass(frozen=True, kw_only=True)
class MeasurementOptions:
    """Where the measurements come from: files, or a GPU of this computer."""

    latency: Annotated[
        Path | None,
        typer.Option(
            "--latency", metavar="FILE", help="pointer chase (CSV): buffer_kib, median_cycles; clock_mhz, gpu"
        ),
    ] = None
    stream: Annotated[
        Path | None,
        typer.Option(
            "--stream",
            metavar="FILE",
            help="over occupancy (CSV): block_size, blocks_per_sm, occupancy_pct, read_GBs, ...",
        ),
    ] = None
    micro: Annotated[
        list[Path] | None,
        typer.Option(
            "--micro",
            metavar="FILE",
            help="micro-benchmarks (CSV) instead: sass, cycles; or kernel, parameters, seconds of an empty kernel",
        ),
    ] = None
    strides: Annotated[
        Path | None,
        typer.Option(
            "--strides", metavar="FILE", help="loads that the L1 has (CSV): type, kernel, parameter, pitch, cycles_..."
        ),
    ] = None
    caches: Annotated[
        Path | None,
        typer.Option("--caches", metavar="FILE", help="buffers that the L1 holds (CSV): kB_per_block, GB_per_s"),
    ] = None
    l2: Annotated[
        Path | None, typer.Option("--l2", metavar="FILE", help="buffers that the L2 holds (CSV): kB_in_all, GB_per_s")
    ] = None
    small: Annotated[
        Path | None,
        typer.Option(
            "--small", metavar="FILE", help="small kernels back to back (CSV): run, elements, block, GB_per_s"
        ),
    ] = None
    device: Annotated[
        int | None,
        typer.Option("--device", metavar="NUMBER", help="measure this GPU instead: its CUDA number, 0 for the first"),
    ] = None
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FOLDER", help="with --device: write latency.csv and stream.csv to this folder"),
    ] = None
    form: Annotated[
        str | None,
        typer.Option("--as", metavar="FORM", help="with --device: time the benchmarks as written, or compiled"),
    ] = None
    latency_from: Annotated[
        str,
        typer.Option(
            "--latency-from",
            metavar="WORD",
            help="source of L: chase, or read (at low occupancy, minus the machine's starts of blocks)",
        ),
    ] = "chase"
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", metavar="KEY", help="keep the machine's value of this key, e.g. memory.port_interval"),
    ] = None
    gpu: Annotated[
        str | None,
        typer.Option("--gpu", metavar="NAME", help="which GPU, if a file has several; a100_80,a100: as files call it"),
    ] = None

    @property
    def hierarchy(self) -> "dict[Kind, Path]":
        """The files of measurements of the hierarchy, by kind."""
        given: list[tuple[Kind, Path | None]] = [
            ("strides", self.strides), ("caches", self.caches), ("l2", self.l2), ("small", self.small)
        ]  # fmt: skip
        return {kind: path for kind, path in given if path is not None}

    def check(self) -> None:
        """Raise StudyError for options that do not go together, and where --keep is no folder."""
        if self.micro:
            self._check_alone()
            return
        if self.latency is not None and self.device is not None:
            raise StudyError(f"calibrate: --latency {self.latency}: can't be combined with --device, which measures")
        if self.latency is None and self.device is None and not self.hierarchy:
            raise StudyError(
                "calibrate: needs --latency FILE (and --stream FILE), or --device NUMBER, which measures both, "
                "or --micro FILE, or --strides, --caches, --l2 or --small FILE"
            )
        if self.latency is None and self.device is None and self.stream is not None:
            raise StudyError(f"calibrate: --stream {self.stream}: needs --latency FILE")
        if self.device is not None and self.hierarchy:
            kind, path = next(iter(self.hierarchy.items()))
            raise StudyError(f"calibrate: --{kind} {path}: can't be combined with --device: give its machine then")
        for option, given in (("--stream", self.stream), ("--gpu", self.gpu)):
            if self.device is not None and given is not None:
                raise StudyError(f"calibrate: {option} {given}: can't be combined with --device, which measures")
        if self.device is None and self.keep is not None:
            raise StudyError(f"calibrate: --keep {self.keep}: needs --device")
        if self.device is None and self.form is not None:
            raise StudyError(f"calibrate: --as {self.form}: needs --device")
        if self.keep is not None and not is_folder(self.keep):
            raise StudyError(f"--keep {self.keep}: no such folder")

    def _check_alone(self) -> None:
        """Raise StudyError for what --micro does not go with."""
        given = (
            ("--latency", self.latency), ("--stream", self.stream), ("--device", self.device), ("--keep", self.keep),
            ("--as", self.form), ("--hold", ", ".join(self.hold) if self.hold else None),
            *((f"--{kind}", path) for kind, path in self.hierarchy.items()),
        )  # fmt: skip
        for option, value in given:
            if value is not None:
                raise StudyError(
                    f"calibrate: {option} {value}: can't be combined with --micro: calibrate with it first, and give "
                    "the resulting machine as --machine"
                )


@grouped
def calibrate(
    measurements: MeasurementOptions,
    machine: Annotated[str | None, machine_option("the machine that supplies values that were not measured")] = None,
    set_: SetOption = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="the machine's name; default: the output's or the GPU's"),
    ] = None,
    machine_path: MachinePathOption = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, output_option("the machine there (.toml), or the JSON document (.json)", callback=checked)
    ] = None,
) -> None:
    """Fit a machine to measurements.

    It prints the values, the measurement behind each, and the error at each point.
    """
    measurements.check()
    base = chosen_machine(machine, set_) if machine is not None else None
    if base is None and set_:
        raise MachineError(f"--set {set_[0]}: changes a machine, so it needs --machine")
    from simtmm.report.measurements.calibrate import describe
    from simtmm.report.progress import watching

    called = name or (output.stem if output is not None else None) or (measurements.gpu or "").split(",")[0]
    refines = "--micro" if measurements.micro else next((f"--{kind}" for kind in measurements.hierarchy), None)
    if refines and base is None:
        raise StudyError(f"calibrate: {refines}: needs --machine NAME, which supplies all other values")
    with watching() as watch:
        if measurements.micro and base is not None:
            from simtmm.calibration.micro import calibrate_micro

            found = calibrate_micro(called or base.name, measurements.micro, base, measurements.gpu)
        elif measurements.device is not None:
            from simtmm.calibration.device import calibrate_device

            found = calibrate_device(
                measurements.device,
                called,
                base,
                measurements.keep,
                watch=watch,
                form=measurements.form,
                latency_from=measurements.latency_from,
                hold=measurements.hold or (),
            )
        else:
            from simtmm.calibration.from_files import calibrate_files

            found = calibrate_files(
                called or "calibrated",
                measurements.latency,
                measurements.stream,
                measurements.hierarchy,
                base,
                measurements.gpu,
                latency_from=measurements.latency_from,
                hold=measurements.hold or (),
                watch=watch,
            )
    as_document = output is not None and output.suffix == DOCUMENT
    if output is not None and not as_document:
        found.save(output)
    show(describe(found), found.to_dict(), as_json, output if as_document else None)

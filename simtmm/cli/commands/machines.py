"""`simtmm machines`, `simtmm machines new` and `simtmm machines compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.options.environment import MachinePathOption
from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.errors import MachineError, OutputError
from simtmm.files import write_text, written_whole
from simtmm.requests.completion import complete_machine, complete_machine_or_new
from simtmm.requests.files import DOCUMENT, checked
from simtmm.requests.machine import SetOption, chosen_machine
from simtmm.requests.values import changes_of

if TYPE_CHECKING:
    from simtmm.machine import Machine


def machines(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="the machine to show, with the source of each value",
            autocompletion=complete_machine_or_new,
        ),
    ] = None,
    set_: SetOption = None,
    as_table: Annotated[
        bool, typer.Option("--table", hidden=True, help="compare them in one table, as `machines compare`")
    ] = False,
    machine_path: MachinePathOption = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, output_option("the machine there (.toml), or else the JSON document", callback=checked)
    ] = None,
) -> None:
    """List the machines, or show one and its sources.

    `machines new` makes one from a data sheet, `machines calibrate` from measurements.
    """
    from simtmm.machine import readable_machines
    from simtmm.report import listing, machine_table

    as_toml = output is not None and output.suffix.lower() == ".toml"
    if as_toml and (name is None or as_table or as_json):
        raise OutputError(f"-o {output}: a single machine is written as TOML: name one, without --table and --json")
    if name is None:
        if set_:
            raise MachineError(f"--set {set_[0]}: changes a machine, so name one")
        found = readable_machines()
    if as_table:
        chosen = found if name is None else {name: chosen_machine(name, set_)}
        show(machine_table.compare_machines(chosen), machine_table.comparison_document(chosen), as_json, output)
    elif name is None:
        document: Any = {each: listing.machine_document(machine) for each, machine in found.items()}
        show(listing.describe_machines(found), document, as_json, output)
    else:
        machine = chosen_machine(name, set_)
        if as_toml:
            _write(machine, output)
        show(listing.describe_machine(machine), listing.machine_document(machine), as_json, None if as_toml else output)


def compare(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...", help="the machines to compare; default: all", autocompletion=complete_machine
        ),
    ] = None,
    set_: SetOption = None,
    machine_path: MachinePathOption = None,
    as_json: JsonOption = False,
    output: Annotated[Path | None, output_option("the JSON document there", callback=checked)] = None,
) -> None:
    """Compare machines in one table."""
    from simtmm.machine import readable_machines
    from simtmm.report.machine_table import compare_machines, comparison_document

    if name:
        chosen = {each: chosen_machine(each, set_) for each in name}
    elif set_:
        raise MachineError(f"--set {set_[0]}: changes a machine, so name one")
    else:
        chosen = readable_machines()
    show(compare_machines(chosen), comparison_document(chosen), as_json, output)


def new(  # noqa: PLR0913, PLR0917 - each is an option of the command
    name: Annotated[str, typer.Argument(metavar="NAME", help="the machine's name")],
    family: Annotated[
        str, typer.Option(metavar="NAME", help="the family that supplies the other values, e.g. ada or cdna3")
    ],
    groups: Annotated[
        int, typer.Option("--sms", "--cus", "--groups", metavar="N", help="core groups: multiprocessors, compute units")
    ],
    clock: Annotated[str, typer.Option(metavar="HZ", help="core clock under load, e.g. 2.52e9 or 2.52GHz")],
    bandwidth: Annotated[
        str, typer.Option(metavar="BYTES/S", help="memory bandwidth of the data sheet, e.g. 1008e9 or 1008GB/s")
    ],
    measured_bandwidth: Annotated[
        str | None, typer.Option(metavar="BYTES/S", help="bandwidth that reads of large arrays reach, if measured")
    ] = None,
    latency: Annotated[
        float | None, typer.Option(metavar="CYCLES", help="memory latency, from a pointer chase")
    ] = None,
    cores: Annotated[int | None, typer.Option(metavar="NUMBER", help="cores per group")] = None,
    threads: Annotated[int | None, typer.Option(metavar="NUMBER", help="threads per group")] = None,
    l1: Annotated[str | None, typer.Option(metavar="SIZE", help="size of a group's L1, e.g. 128KiB, or none")] = None,
    l2: Annotated[str | None, typer.Option(metavar="SIZE", help="size of the L2, e.g. 72MiB, or none")] = None,
    shared: Annotated[str | None, typer.Option(metavar="SIZE", help="shared memory per group, e.g. 100KiB")] = None,
    registers: Annotated[int | None, typer.Option(metavar="NUMBER", help="32-bit registers per group")] = None,
    blocks: Annotated[int | None, typer.Option(metavar="NUMBER", help="blocks per group")] = None,
    capability: Annotated[str | None, typer.Option(metavar="NUMBER", help="compute capability, e.g. 8.9")] = None,
    set_: SetOption = None,
    description: Annotated[str, typer.Option(metavar="TEXT", help="a description of the machine")] = "",
    machine_path: MachinePathOption = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, output_option("the machine there (.toml), or the JSON document (.json)", callback=checked)
    ] = None,
) -> None:
    """Make a machine from its family and a data sheet.

    A few numbers from the data sheet suffice; the family supplies the rest.
    """
    from simtmm.machine import new_machine
    from simtmm.machine.spelled import rate
    from simtmm.report import listing

    values: dict[str, Any] = {
        "cores.groups": groups,
        "clock_hz": rate("--clock", clock, "Hz"),
        "peak_bandwidth": rate("--bandwidth", bandwidth, "B/s"),
        "measured_bandwidth": measured_bandwidth and rate("--measured-bandwidth", measured_bandwidth, "B/s"),
        "memory.latency": latency,
        "cores.cores_per_group": cores,
        "memory.l1" if l1 == "none" else "memory.l1.size": l1,
        "memory.l2" if l2 == "none" else "memory.l2.size": l2,
        "resources.shared_memory": shared,
        "resources.registers": registers,
        "limits.blocks_per_group": blocks,
        "compute_capability": capability,
    }
    given = {key: value for key, value in values.items() if value is not None}
    if threads is not None:
        if cores is None:
            raise MachineError(f"--threads {threads}: counts the threads of a group, so it needs --cores")
        given["cores.max_threads_per_core"] = threads / cores
    for key, value in changes_of(set_).items():
        if key in given:
            raise MachineError(f"--set {key}: has an option of its own: use that")
        given[key] = "none" if value is None else value
    machine = new_machine(name, family, given, description)
    as_document = output is not None and output.suffix == DOCUMENT
    if output is not None and not as_document:
        _write(machine, output)
    target = output if as_document else None
    show(listing.describe_machine(machine), listing.machine_document(machine), as_json, target)


def _write(machine: "Machine", path: Path | None) -> None:
    """Write a machine as TOML, whole or not at all."""
    from simtmm.machine import machine_toml

    assert path is not None
    with written_whole(path) as temporary:
        write_text(temporary, machine_toml(machine))

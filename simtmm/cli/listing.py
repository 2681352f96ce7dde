"""`simtmm machines` and `simtmm kernels`: what there is."""

from typing import Annotated, Any

import typer

from simtmm.cli.words import JsonOption, KernelPathOption, OutputOption, SetOption, chosen_machine, show


def machines(
    name: Annotated[str | None, typer.Argument(help="show this one, with the source of each value")] = None,
    set_: SetOption = None,
    as_table: Annotated[bool, typer.Option("--table", help="compare them in one table")] = False,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """List the machines, or show one with where its values come from."""
    from simtmm.machine import load_machine, machine_files
    from simtmm.report import listing, machine_table

    if name is None:
        found = {each: load_machine(path) for each, path in machine_files().items()}
    if as_table:
        chosen = found if name is None else {name: chosen_machine(name, set_)}
        show(machine_table.compare_machines(chosen), machine_table.comparison_document(chosen), as_json, output)
    elif name is None:
        document: Any = {each: listing.machine_document(machine) for each, machine in found.items()}
        show(listing.describe_machines(found), document, as_json, output)
    else:
        machine = chosen_machine(name, set_)
        show(listing.describe_machine(machine), listing.machine_document(machine), as_json, output)


def kernels(
    name: Annotated[str | None, typer.Argument(help="show this one: parameters, source, paper")] = None,
    kernel_path: KernelPathOption = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """List the kernels, or show one. The list runs none of them; one that is shown is run if it is shipped or given."""
    from simtmm.catalogue import describe, known_kernels
    from simtmm.kernel import told_kernel
    from simtmm.report import listing

    if name is None:
        known = known_kernels()
        said = {each: describe(each, kernel.folder) for each, kernel in known.items()}
        document: Any = {each: listing.kernel_document(said[each], known=known[each]) for each in known}
        show(listing.describe_kernels(known, said), document, as_json, output)
    else:
        one, symbols = told_kernel(name)
        show(listing.describe_kernel(one, symbols), listing.kernel_document(one, symbols), as_json, output)

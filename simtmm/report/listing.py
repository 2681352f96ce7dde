"""Machines and kernels as a person reads them."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.catalogue import HERE, Description
from simtmm.catalogue.names import Known
from simtmm.machine import Machine, units
from simtmm.report.machine_table import basis, basis_words
from simtmm.report.text import table

UNTOLD = "known only by running it"


def describe_machines(machines: Mapping[str, Machine]) -> Iterator[RenderableType]:
    """All machines, a line each."""
    rows = [
        (
            name,
            f"{machine.processors:,}",
            str(machine.cores.cores_per_group),
            str(machine.cores.warp_width),
            f"{machine.cores.max_threads_per_core:g}",
            f"{machine.memory.latency:g}",
            str(machine.memory.chunk_words),
            basis(machine),
            machine.description,
        )
        for name, machine in machines.items()
    ]
    yield table("", ("machine", "P", "Q", "W", "X", "L", "C", "values", ""), rows, left=(0, 7, 8))
    yield ""
    yield Text("P cores, Q in a group, W threads to a warp, X threads a core, L latency in cycles, C words to a chunk.")
    yield Text(
        "Values are measured on that GPU; or from relatives, beside its own latency or bandwidth; or from its data "
        "sheet and relatives only, and so unvalidated (docs/families.md)."
    )


def describe_machine(machine: Machine) -> Iterator[RenderableType]:
    """One machine: every value with its unit and where it comes from."""
    yield Text(machine.name, style="bold")
    yield Text(machine.description)
    if machine.family is not None:
        yield Text(f"family: {machine.family}")
    if words := basis_words(machine):
        yield Text(f"values: {words}")
    yield ""
    yield table("", ("key", "value", "unit", "certainty", "source"), list(_values(machine)), left=(0, 2, 3, 4))


def machine_document(machine: Machine) -> dict[str, Any]:
    """The same for JSON."""
    known = units()
    values = {
        key: {
            "value": value,
            "unit": known[key][0],
            "meaning": known[key][1],
            **(machine.sources[key].model_dump() if key in machine.sources else {"certainty": "default"}),
        }
        for key, value in machine.values().items()
    }
    return {
        "name": machine.name,
        "description": machine.description,
        "family": machine.family,
        "basis": basis(machine),
        "changes": machine.changes or {},
        "digest": machine.digest(),
        "values": values,
    }


def _values(machine: Machine) -> Iterator[tuple[str, ...]]:
    known = units()
    for key, value in machine.values().items():
        source = machine.sources.get(key)
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if source is None:
            yield key, text, known[key][0], "default", ""
        else:
            yield (
                key,
                text,
                known[key][0],
                source.certainty,
                f"{source.source}{f' ({source.note})' if source.note else ''}",
            )


def describe_kernels(kernels: Mapping[str, Known], descriptions: Mapping[str, Description]) -> Iterator[RenderableType]:
    """All kernels, a line each: first those that follow an algorithm of the papers, which is named if not alike.

    descriptions: what each says of itself. Those that are not shipped are listed with their origin and what they hide.
    """
    following, others, faulty = [], [], []
    for name, known in kernels.items():
        description = descriptions[name]
        if description.fault:
            faulty.append((name, _line(description.fault)))
        elif description.algorithm is None:
            others.append((name, _summary(known, description)))
        else:
            also = "" if description.algorithm == name else f" [{_line(description.algorithm)}]"
            following.append((name, f"{_summary(known, description)}{also}"))
    yield table("Following an algorithm of the papers [its name, if different]", ("", ""), following, left=(0, 1))
    yield ""
    yield table("Others", ("", ""), others, left=(0, 1))
    yield ""
    if faulty:
        yield table("Unreadable", ("", ""), faulty, left=(0, 1))
        yield ""
    hidden = [(other.name, _hidden(known, other)) for known in kernels.values() for other in known.hidden]
    if hidden:
        yield table("Hidden by another kernel of the same name", ("", ""), hidden, left=(0, 1))
        yield ""
    yield Text(
        "For an algorithm, `simtmm paper predict NAME` gives the models' times at any size, and what binds where."
    )


def describe_kernel(description: Description, symbols: Mapping[str, float] | None = None) -> Iterator[RenderableType]:
    """One kernel: what it does, its parameters, its source and paper. symbols: of its algorithm, for its defaults."""
    yield Text(description.name, style="bold")
    yield Text(_plain(description.about) if "about" not in description.untold else UNTOLD)
    yield ""
    if "parameters" in description.untold:
        yield Text(f"parameters: {UNTOLD}")
    else:
        rows = [
            tuple(map(_line, (name, str(parameter.default), parameter.allowed, parameter.help)))
            for name, parameter in description.parameters.items()
        ]
        yield table("", ("parameter", "default", "allowed", ""), rows, left=(0, 1, 2, 3))
    yield ""
    yield Text(f"source: {description.folder / 'kernel.cu'}")
    if description.paper or "paper" in description.untold:
        yield Text(f"follows: {_line(description.paper) or UNTOLD}")
    if "algorithm" in description.untold:
        yield Text(f"algorithm: {UNTOLD}")
    elif description.algorithm is not None:
        by_default = (
            ""
            if symbols is None
            else ", by default with " + ", ".join(f"{name}={value:g}" for name, value in symbols.items())
        )
        algorithm = _line(description.algorithm)
        yield Text(f"algorithm: {algorithm}{by_default} (see `simtmm paper predict {algorithm}`)")


def kernel_document(
    description: Description, symbols: Mapping[str, float] | None = None, known: Known | None = None
) -> dict[str, Any]:
    """The same for JSON. known: where it was found, by its name."""
    document: dict[str, Any] = {
        "name": description.name,
        "about": description.about,
        "parameters": {
            name: {"default": parameter.default, "allowed": parameter.allowed, "help": parameter.help}
            for name, parameter in description.parameters.items()
        },
        "source": str(description.folder / "kernel.cu"),
        "paper": description.paper,
        "algorithm": None if description.algorithm is None else {"name": description.algorithm, "symbols": symbols},
        "untold": list(description.untold),
        "fault": description.fault or None,
    }
    if known is not None:
        document["origin"] = known.origin
        document["hidden"] = [str(other.path) for other in known.hidden]
    return document


def _summary(known: Known, description: Description) -> str:
    """What a kernel does, and where it lies if it isn't shipped."""
    summary = UNTOLD if "about" in description.untold else _line(description.summary)
    return summary if known.origin == "shipped" else f"{summary} ({_origin(known)})"


def _origin(known: Known) -> str:
    return "the shipped one" if known.origin == "shipped" else _line(str(known.path))


def _hidden(known: Known, other: Known) -> str:
    """Which kernel is not taken, and which is."""
    line = f"{_origin(other)}: {_origin(known)} is taken"
    return line if other.origin != "here" else f"{line}; to use this one, give its path or --kernel-path {HERE}"


def _plain(text: str) -> str:
    """A text that was not written by us: nothing in it may command a terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


def _line(text: str) -> str:
    return " ".join(_plain(text).split())

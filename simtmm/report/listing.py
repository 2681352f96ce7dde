"""Machines and kernels as a person reads them."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.catalogue import HERE, Description, Known
from simtmm.machine import Machine, units
from simtmm.report.text import table

UNTOLD = "told only by running it"


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
            machine.description,
        )
        for name, machine in machines.items()
    ]
    yield table("", ("machine", "P", "Q", "W", "X", "L", "C", ""), rows, left=(0, 7))
    yield ""
    yield Text("P cores, Q in a group, W threads to a warp, X threads a core, L latency in cycles, C words to a chunk.")


def describe_machine(machine: Machine) -> Iterator[RenderableType]:
    """One machine: every value with its unit and where it comes from."""
    yield Text(machine.name, style="bold")
    yield Text(machine.description)
    if machine.family is not None:
        yield Text(f"family: {machine.family}")
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


def describe_kernels(kernels: Mapping[str, Known], told: Mapping[str, Description]) -> Iterator[RenderableType]:
    """All kernels, a line each: first those that follow an algorithm of the papers, which is named if not alike.

    told: what each says of itself. Where one comes from is told of those that are not shipped, and which are hidden.
    """
    following, others, faulty = [], [], []
    for name, known in kernels.items():
        said = told[name]
        if said.fault:
            faulty.append((name, _line(said.fault)))
        elif said.algorithm is None:
            others.append((name, _summary(known, said)))
        else:
            also = "" if said.algorithm == name else f" [{_line(said.algorithm)}]"
            following.append((name, f"{_summary(known, said)}{also}"))
    yield table("Following an algorithm of the papers [its name, if another]", ("", ""), following, left=(0, 1))
    yield ""
    yield table("Others", ("", ""), others, left=(0, 1))
    yield ""
    if faulty:
        yield table("Can't be read", ("", ""), faulty, left=(0, 1))
        yield ""
    hidden = [(other.name, _hidden(known, other)) for known in kernels.values() for other in known.hidden]
    if hidden:
        yield table("Hidden by another of the name", ("", ""), hidden, left=(0, 1))
        yield ""
    yield Text(
        "Of an algorithm, `simtmm predict NAME` says what the models make of any size, and where what binds changes."
    )


def describe_kernel(said: Description, symbols: Mapping[str, float] | None = None) -> Iterator[RenderableType]:
    """One kernel: what it does, its parameters, its source and paper. symbols: of its algorithm, for its defaults."""
    yield Text(said.name, style="bold")
    yield Text(_plain(said.about) if "about" not in said.untold else UNTOLD)
    yield ""
    if "parameters" in said.untold:
        yield Text(f"parameters: {UNTOLD}")
    else:
        rows = [
            tuple(map(_line, (name, str(parameter.default), parameter.allowed, parameter.help)))
            for name, parameter in said.parameters.items()
        ]
        yield table("", ("parameter", "default", "allowed", ""), rows, left=(0, 1, 2, 3))
    yield ""
    yield Text(f"source: {said.folder / 'kernel.cu'}")
    if said.paper or "paper" in said.untold:
        yield Text(f"follows: {_line(said.paper) or UNTOLD}")
    if "algorithm" in said.untold:
        yield Text(f"algorithm: {UNTOLD}")
    elif said.algorithm is not None:
        by_default = (
            ""
            if symbols is None
            else ", by default with " + ", ".join(f"{name}={value:g}" for name, value in symbols.items())
        )
        yield Text(f"algorithm: {_line(said.algorithm)}{by_default} (see `simtmm predict {_line(said.algorithm)}`)")


def kernel_document(
    said: Description, symbols: Mapping[str, float] | None = None, known: Known | None = None
) -> dict[str, Any]:
    """The same for JSON. known: where it was found, by its name."""
    document: dict[str, Any] = {
        "name": said.name,
        "about": said.about,
        "parameters": {
            name: {"default": parameter.default, "allowed": parameter.allowed, "help": parameter.help}
            for name, parameter in said.parameters.items()
        },
        "source": str(said.folder / "kernel.cu"),
        "paper": said.paper,
        "algorithm": None if said.algorithm is None else {"name": said.algorithm, "symbols": symbols},
        "untold": list(said.untold),
        "fault": said.fault or None,
    }
    if known is not None:
        document["origin"] = known.origin
        document["hidden"] = [str(other.folder) for other in known.hidden]
    return document


def _summary(known: Known, said: Description) -> str:
    """What a kernel does, and where it lies if it isn't shipped."""
    summary = UNTOLD if "about" in said.untold else _line(said.summary)
    return summary if known.origin == "shipped" else f"{summary} ({_origin(known)})"


def _origin(known: Known) -> str:
    return "the shipped one" if known.origin == "shipped" else _line(str(known.folder))


def _hidden(known: Known, other: Known) -> str:
    """Which kernel is not taken, and which is."""
    said = f"{_origin(other)}: {_origin(known)} is taken"
    return said if other.origin != "here" else f"{said}; for this one name its path or give --kernel-path {HERE}"


def _plain(text: str) -> str:
    """A text that was not written by us: nothing in it may command a terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


def _line(text: str) -> str:
    return " ".join(_plain(text).split())

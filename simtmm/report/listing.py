"""Machines and kernels as a person reads them."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.kernel import Kernel
from simtmm.machine import Machine, units
from simtmm.report.text import table


def describe_machines(machines: Mapping[str, Machine]) -> Iterator[RenderableType]:
    """All machines, a line each."""
    rows = [
        (
            name,
            f"{machine.processors:,}",
            str(machine.cores.cores_per_group),
            str(machine.cores.warp_width),
            f"{machine.cores.threads_per_core:g}",
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


def describe_kernels(kernels: Mapping[str, Kernel]) -> Iterator[RenderableType]:
    """All kernels, a line each: first those that follow an algorithm of the papers, which is named if not alike."""
    following, others = [], []
    for name, kernel in kernels.items():
        followed = _followed(kernel)
        if followed is None:
            others.append((name, kernel.summary))
        else:
            following.append((name, kernel.summary if followed[0] == name else f"{kernel.summary} [{followed[0]}]"))
    yield table("Following an algorithm of the papers [its name, if another]", ("", ""), following, left=(0, 1))
    yield ""
    yield table("Others", ("", ""), others, left=(0, 1))
    yield ""
    yield Text(
        "Of an algorithm, `simtmm predict NAME` says what the models make of any size, and where what binds changes."
    )


def describe_kernel(kernel: Kernel) -> Iterator[RenderableType]:
    """One kernel: what it does, its parameters, its source and paper."""
    yield Text(kernel.name, style="bold")
    yield Text((kernel.host.__doc__ or "").strip())
    yield ""
    rows = [
        (name, str(parameter.default), parameter.allowed, parameter.help)
        for name, parameter in kernel.parameters.items()
    ]
    yield table("", ("parameter", "default", "allowed", ""), rows, left=(0, 1, 2, 3))
    yield ""
    yield Text(f"source: {kernel.source_path}")
    if kernel.paper:
        yield Text(f"follows: {kernel.paper}")
    followed = _followed(kernel)
    if followed:
        symbols = ", ".join(f"{name}={value:g}" for name, value in followed[1].items())
        yield Text(f"algorithm: {followed[0]}, by default with {symbols} (see `simtmm predict {followed[0]}`)")


def kernel_document(kernel: Kernel) -> dict[str, Any]:
    """The same for JSON."""
    followed = _followed(kernel)
    return {
        "name": kernel.name,
        "about": (kernel.host.__doc__ or "").strip(),
        "parameters": {
            name: {"default": parameter.default, "allowed": parameter.allowed, "help": parameter.help}
            for name, parameter in kernel.parameters.items()
        },
        "source": str(kernel.source_path),
        "paper": kernel.paper,
        "algorithm": {"name": followed[0], "symbols": followed[1]} if followed else None,
    }


def _followed(kernel: Kernel) -> tuple[str, dict[str, float]] | None:
    """The algorithm that a kernel follows, and its symbols for the defaults."""
    return kernel.algorithm(kernel.resolve({}))

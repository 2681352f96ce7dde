"""How many threads hide the latency, as rows of a table."""

from collections.abc import Iterator

from simtmm.machine import Machine
from simtmm.model.latency_hiding import Hiding
from simtmm.report.text import short

LIMITS = {
    "threads per core": "X, threads a core may hold",
    "shared memory": "Z / (Q S), what shared memory allows",
    "parallelism": "T1 / (Tinf P), what the program can feed",
}


def hiding_rows(hidden: Hiding, machine: Machine) -> Iterator[tuple[str, str, str]]:
    """A number of threads per core, and what it follows from."""
    yield "threads per core in use", short(hidden.in_use), "T"
    yield (
        "that hide the latency",
        short(hidden.needed),
        f"by the TMM, at L = {machine.memory.latency:g}",
    )
    yield "", short(hidden.needed_warps), "if a warp's threads wait together"
    for name, limit in hidden.limits.items():
        yield f"limit: {name}", short(limit), LIMITS[name]

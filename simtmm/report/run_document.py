"""The document of `simtmm run --json` as a schema: keys that stay, with their types and units.

`python -m simtmm.report.run_document` writes docs/run.schema.json anew; a test compares it. Other keys may come beside
those that are here, which is no new version; a key that goes, or has another meaning, is.
"""

import json
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from simtmm.analysis.run.outcome import FORMAT
from simtmm.files import write_text, written_whole

PAGE = Path("docs/run.schema.json")


class Part(BaseModel):
    """A part of the document, which may have more keys than are named."""

    model_config = ConfigDict(extra="allow")


class MachineOf(Part):
    """The machine, with every key that it has (docs/machine.md)."""

    name: str
    processors: int = Field(description="P, cores of all groups")
    clock_hz: float | None = Field(default=None, description="[Hz]; null for a machine without a clock rate")
    ticks_per_cycle: int = Field(description="of the simulation's own clock")


class Counted(Part):
    """What the models take of a trace."""

    work: int = Field(description="T1, operations")
    span: int = Field(description="Tinf, operations on the longest path")
    memory_operations: float = Field(description="M, chunks")
    threads_per_core: float = Field(description="T in use")
    launches: int


class Simulated(Part):
    """What was simulated."""

    engine: Literal["fast", "reference"]
    ticks: int
    cycles: float
    seconds: float | None = Field(description="[s]; null for a machine without a clock rate")
    issued: int = Field(description="instructions of warps")
    transactions: int = Field(description="chunks that they list")
    l1_hits: int
    l2_hits: int
    launch_ticks: list[int]


class Predicted(Part):
    """What a model predicts."""

    model: str
    cycles: float
    seconds: float | None = Field(description="[s]")
    bound: str = Field(description="the term that binds")
    terms: dict[str, Any] = Field(description="[cycles], by name")
    source: str


class Bound(Part):
    """What binds. share: of the time. where: the line and array that cause it. what_ifs: what was tried."""

    cause: str
    share: float
    parameter: str = Field(description="of the machine, that limits; empty where that is no single one")
    behind: dict[str, Any] | None = Field(
        description="cause and share of what binds behind launches, or where core groups have no work"
    )
    shares: dict[str, float] = Field(description="of the time, by cause")
    where: dict[str, Any] | None
    what_ifs: list[dict[str, Any]]


class Change(Part):
    """What a programmer could change. gain: times as fast. words: what to do, and why."""

    change: str
    words: str
    gain: float
    file: str
    line: int
    array: str


class AccessOf(Part):
    """How a line accesses an array, and how it could at best."""

    file: str
    line: int
    array: str
    kind: str
    requests: int = Field(description="of warps")
    share: float = Field(description="of warps' time")
    chunks: float | None = Field(description="of a request; null of shared memory")
    ideal_chunks: int | None = Field(description="if consecutive threads accessed consecutive elements")
    passes: float | None = Field(description="over the banks of shared memory; null of global memory")
    ideal_passes: int | None
    bytes_asked: int = Field(description="by threads")
    bytes_moved: int | None = Field(description="by the memory ports")
    bytes_below: int | None = Field(description="to and from the L2, or memory where there is none")
    used: float | None = Field(description="the part of bytes_moved that threads asked for")
    reuse: float | None = Field(description="bytes_asked for each of bytes_below")
    saves: float | None = Field(description="the part of the time that the ideal would save; null if not tried")


class UnitOf(Part):
    """How busy a unit of the machine was."""

    name: str
    number: int
    busy: float | None = Field(description="of its time; null where nothing limits it")
    achieved: float | None
    peak: float | None
    unit: str


class RunDocument(Part):
    """What `simtmm run --json` prints."""

    format: Literal["simtmm.run/1"] = Field(description="the kind of document, and its version")
    program: str
    parameters: dict[str, Any]
    sampling: dict[str, Any] | None = Field(description="which blocks the trace leaves out, if any")
    sampled: dict[str, Any] | None = Field(description="what was extrapolated from a sample, and the interval")
    faults: list[str] = Field(description="faults of simtmm itself; a run that has any ends with status 3")
    warnings: list[str]
    schedules: list[dict[str, Any]] = Field(description="the instructions of each compiled kernel")
    machine: MachineOf
    counts: Counted | None = Field(description="null for a workload")
    occupancy: list[dict[str, Any]] = Field(description="each distinct occupancy, and how many launches have it")
    simulated: Simulated
    predictions: dict[str, Predicted] = Field(description="by the model's name")
    hiding: dict[str, Any] | None = Field(description="threads per core in use, and needed to hide the latency")
    verdict: str = Field(description="what binds and what would help, in words")
    bound: Bound
    advice: list[Change] = Field(description="the greatest gain first")
    accesses: list[AccessOf] = Field(description="the hottest first")
    beside_the_model: str = Field(description="why the TMM gives another time")
    units: list[UnitOf]
    stalls: dict[str, Any] | None = Field(description="what warps did, by reason, place, array and launch")
    compared: str = Field(description="whether such a run was ever compared with hardware")
    assumptions: list[str] = Field(description="unknown values of the machine that decide the result")
    provenance: dict[str, Any] = Field(description="versions, the command, digests")


def schema() -> str:
    """The JSON Schema, as a file holds it."""
    assert get_args(RunDocument.model_fields["format"].annotation) == (FORMAT,)
    return json.dumps(RunDocument.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    with written_whole(PAGE) as temporary:
        write_text(temporary, schema())

"""All of a trace but its events: what stands in the metadata of its file, as one JSON document."""

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from simtmm.launch import bare_name
from simtmm.renamed import LAUNCH_KEYS, with_new_names
from simtmm.trace.sampled_blocks import Sampling
from simtmm.trace.schedule import Listing, Schedule
from simtmm.trace.schema import MOST_SITES, MOST_THREADS, VERSION, TraceArray, TraceLaunch, TraceSite
from simtmm.workload import LARGEST

VERSIONS = (1, VERSION)
MOST_BLOCKS = 2**31 - 1  # of a launch: a trace numbers them with 32 bits
_LAUNCH = fields(TraceLaunch)
FORMS = ("written", "compiled", "imported")
SPACES = ("global", "constant")
_IMPORTERS = ("accelsim", "mem-trace")  # as the provenance of version 1 names them, which knew no forms


@dataclass(frozen=True)
class TraceInfo:
    """All of a trace but its events.

    digest: a hash of the events, launches, arrays and of what sites say of work, values and stalls: equal digests,
        equal behaviour.
    provenance: versions, recorder, source hash, command, and under "warnings" what the recorder doubts.
    sampling: which blocks were recorded, if not all.
    form: "written" where events are what the program's author wrote (LD, ST, OP), "compiled" where they are what a
        compiler's output, "imported" where another tool recorded them.
    architecture: what it was compiled for, such as "sm_80"; "" if nothing.
    warp_size: threads of a warp that it was compiled for, where instructions of whole warps are in it; else None.
    version: of the schema that the digest is of.
    listings: the code of compiled kernels, as text; no part of the digest.
    """

    kernel: str
    parameters: dict[str, Any]
    launches: tuple[TraceLaunch, ...]
    arrays: tuple[TraceArray, ...]
    sites: tuple[TraceSite, ...]
    events: int
    digest: str
    provenance: dict[str, Any] = field(default_factory=dict)
    sampling: Sampling | None = None
    form: str = "written"
    architecture: str = ""
    warp_size: int | None = None
    version: int = VERSION
    listings: tuple[Listing, ...] = ()

    @property
    def doubts(self) -> list[str]:
        """Why the recorder doubts that the trace holds all that the kernel did, in words."""
        warnings = self.provenance.get("warnings")
        return [str(doubt) for doubt in warnings] if isinstance(warnings, list) else []

    @property
    def in_graph(self) -> int:
        """How many launches follow another one in a CUDA graph."""
        return sum(launch.in_graph for launch in self.launches)

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """Of a compiled program's kernels, what their instructions are; empty where that is unknown."""
        schedules = self.provenance.get("schedules")
        with contextlib.suppress(KeyError, TypeError, ValueError):
            return tuple(Schedule.from_dict(each) for each in schedules or ())
        return ()

    @property
    def mbarriers(self) -> tuple[int, ...]:
        """The bytes of a block's shared memory at which its kernels use mbarriers, ascending, as far as is known."""
        found = self.provenance.get("mbarriers")
        return tuple(sorted(each for each in found if type(each) is int)) if isinstance(found, list) else ()

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of simtmm that were met when it was recorded, in words."""
        return tuple(each.fault for each in self.schedules if each.fault)

    @property
    def warnings(self) -> list[str]:
        """What a reader of a result of this trace must know: what it leaves out, and what its recorder doubts."""
        as_ptx = [
            f"{each.kernel}: {each.summary}" + (f": {each.why}" if not each.fault else "; see the fault of simtmm")
            for each in self.schedules
            if each.why
        ]
        return [*self.faults, *([self.sampling.warning] if self.sampling else []), *as_ptx, *self.doubts]

    def warnings_on(self, warp_width: int) -> list[str]:
        """What a reader of a result of this trace on a machine must know. warp_width: threads of its warps."""
        if self.warp_size in (None, warp_width):
            return self.warnings
        other = f"compiled for warps of {self.warp_size}; lowered for warps of {warp_width} anyway"
        if warp_width == 64:
            other += "; --warp 64 runs HIP programs in waves of 64"
        return [*self.warnings, other]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        table = {
            "version": self.version,
            "kernel": self.kernel,
            "parameters": self.parameters,
            "launches": [_of_launch(launch) for launch in self.launches],
            "arrays": [asdict(array) for array in self.arrays],
            "sites": [site.to_dict() for site in self.sites],
            "events": self.events,
            "digest": self.digest,
            "provenance": self.provenance,
            "form": self.form,
            "architecture": self.architecture,
            "warp_size": self.warp_size,
        }
        if self.listings:
            table["listings"] = [listing.to_dict() for listing in self.listings]
        if self.sampling is None:
            return table
        kept = asdict(self.sampling)
        if not self.sampling.are_first:  # as files have been
            del kept["are_first"]
        return {**table, "sampling": kept}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "TraceInfo":
        """From `to_dict`'s form.

        table: the document of a file's metadata.

        Raises KeyError, TypeError or ValueError where it is not of that form.
        """
        version = table["version"]
        if version not in VERSIONS:
            known = " and ".join(str(each) for each in VERSIONS)
            raise ValueError(f"schema version {version}, this simtmm reads {known}")
        provenance = dict(table["provenance"])
        imported = provenance.get("recorder") in _IMPORTERS
        warp_size = table.get("warp_size")
        return cls(
            kernel=str(table["kernel"]),
            parameters=dict(table["parameters"]),
            launches=tuple(_launch(entry, version) for entry in table["launches"]),
            arrays=tuple(_array(entry) for entry in table["arrays"]),
            sites=tuple(_site(entry) for entry in table["sites"]),
            events=_whole("events", table["events"], 0, LARGEST),
            digest=str(table["digest"]),
            provenance=provenance,
            sampling=_sampling(table.get("sampling")),
            form=_one_of("form", table.get("form", "imported" if imported else "written"), FORMS),
            architecture=str(table.get("architecture", "")),
            warp_size=None if warp_size is None else _whole("warp_size", warp_size, 1),
            version=version,
            listings=tuple(_listing(entry) for entry in table.get("listings", ())),
        )


def _of_launch(launch: TraceLaunch) -> dict[str, Any]:
    table = {each.name: getattr(launch, each.name) for each in _LAUNCH}  # asdict takes ten times as long
    if not launch.in_graph:  # as files have been
        del table["in_graph"]
    if launch.cluster == 1:
        del table["cluster"]
    return table


def _launch(entry: Mapping[str, Any], version: int) -> TraceLaunch:
    # Version 1 had shared memory by the name that local memory might have now.
    table = with_new_names(entry, LAUNCH_KEYS) if version == 1 else entry
    launch = TraceLaunch(
        str(table["kernel"]),
        _three(table["grid"]),
        _three(table["block"]),
        _whole("registers_per_thread", table["registers_per_thread"], 0),
        _whole("shared_memory_bytes", table["shared_memory_bytes"], 0),
        _whole("local_bytes_per_thread", table.get("local_bytes_per_thread", 0), 0),
        _whole("spill_bytes_per_thread", table.get("spill_bytes_per_thread", 0), 0),
        table.get("in_graph", False) is True,
        _whole("cluster", table.get("cluster", 1), 1),
    )
    if launch.threads_per_block > MOST_THREADS:
        raise ValueError(
            f"launch of {bare_name(launch.kernel)}: block = {launch.block}: must be at most {MOST_THREADS:,} threads"
        )
    if launch.blocks > MOST_BLOCKS:
        raise ValueError(f"launch of {bare_name(launch.kernel)}: grid = {launch.grid}: must be below 2^31 blocks")
    return launch


def _array(entry: Mapping[str, Any]) -> TraceArray:
    array = TraceArray(**{**entry, "shape": tuple(entry["shape"])})
    _one_of("space", array.space, SPACES)
    return array


def _site(entry: Mapping[str, Any]) -> TraceSite:
    site = TraceSite.from_dict(entry)
    _whole("site", site.site, 0, MOST_SITES - 1)
    return site


def _listing(entry: Mapping[str, Any]) -> Listing:
    try:
        return Listing.from_dict(entry)
    except IndexError:
        raise ValueError("listings: has an unknown place") from None


def _one_of(key: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{key} = {value!r}: must be {' or '.join(allowed)}")
    return str(value)


def _whole(key: str, value: Any, least: int, most: int = 2**31 - 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{key} = {value!r}: must be a whole number from {least} to {most}")
    return value


def _sampling(table: Any) -> Sampling | None:
    if table is None:
        return None
    return Sampling(
        _whole("sample_blocks", table["sample_blocks"], 1),
        tuple(_whole("recorded", blocks, 0) for blocks in table["recorded"]),
        tuple(_whole("left_out", blocks, 0) for blocks in table["left_out"]),
        bool(table.get("are_first", False)),
    )


def _three(sizes: Any) -> tuple[int, int, int]:
    x, y, z = (_whole("size", size, 1, LARGEST) for size in sizes)
    return x, y, z

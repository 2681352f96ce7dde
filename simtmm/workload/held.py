"""Workload: launches of blocks of warps of operations, in flat arrays.

Inside, nested lists are offsets: launch l has the blocks `launch_blocks[l]` up to `launch_blocks[l + 1]`, block
b the warps `block_warps[b]` up to `block_warps[b + 1]`, and so on down to operations and chunks. Outside, a
workload is JSON as in section 8 of the machine rules (docs/machine.md).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.computer import available_memory
from simtmm.display import Displayed
from simtmm.documents import LARGEST_FILE, read_json
from simtmm.errors import WorkloadError, escaped, shown
from simtmm.files import written_whole
from simtmm.stalls import Places
from simtmm.workload.alike import kinds_of
from simtmm.workload.json_form import check_keys, is_whole, launches_in, list_of, operation_words, read_operation
from simtmm.workload.operations import COPY, DIGESTED, LISTED, LOAD, OPERATION_PLACES
from simtmm.workload.tally import Tally, Tallying

Integers = npt.NDArray[np.int64]

OF_JSON = 32  # bytes in memory for a byte of a file, at most


@dataclass(frozen=True, eq=False)
class Workload(Displayed):
    """Launches, blocks, warps and operations as flat arrays. Frozen; equal if all arrays are.

    kind: uint8[operations], an index of OPERATIONS; for a compute with a class, OF_CLASS plus an index of CLASSES.
    amount: int64[operations]: instructions of a compute, n of a join or settle, cycles of a pause, 0 for a barrier and
        a sync; of a shared its degree, and above bit PASSES_SHIFT what that would be without conflicts, less one; of a
        load, async, store, atomic, reduce or copy the chunks that it lists, and above that bit its passes, less one.
    chunks: int64[chunks], the chunks of all memory operations, in order.
    warp_operations: int64[warps + 1], warp_chunks: int64[warps + 1], block_warps: int64[blocks + 1],
    launch_blocks: int64[launches + 1]: offsets.
    launch_limits: int64[launches], the most blocks of that launch that a group holds (occupancy), 0 for no limit
        besides the machine's.
    sectors: uint32[chunks], of each of them the bytes that are accessed of each of its sectors, SECTOR_BITS for each,
        0 for all of all; empty if all are.
    in_graph: bool[launches], whether each follows another one in a graph; empty if none does.
    clusters: int64[launches], how many blocks in a row of each are a cluster, 1 without; empty if none has any.
    place: int32[operations], the place in the program of each, as an index of `places`; empty if unknown, and then the
        operation itself is the place.
    places: what these numbers mean. Equality of workloads ignores both.
    """

    kind: npt.NDArray[np.uint8]
    amount: Integers
    chunks: Integers
    warp_operations: Integers
    warp_chunks: Integers
    block_warps: Integers
    launch_blocks: Integers
    launch_limits: Integers
    origin: str = field(default="workload", compare=False)
    sectors: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32), repr=False)
    place: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32), compare=False, repr=False)
    places: Places | None = field(default=None, compare=False, repr=False)
    in_graph: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool), repr=False)
    clusters: Integers = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    _tallies: tuple[Tally, ...] | None = field(default=None, init=False, compare=False, repr=False)
    _kinds: Integers | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"Workload({escaped(self.origin)}: launches: {self.launches:,}, blocks: {self.blocks:,}, "
            f"warps: {self.warps:,}, operations: {self.operations:,})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Workload):
            return NotImplemented
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self._arrays(), other._arrays(), strict=True))

    __hash__ = None  # type: ignore[assignment]  # arrays inside: use `digest`

    def _arrays(self) -> list[npt.NDArray[Any]]:
        return [getattr(self, item.name) for item in fields(self) if item.compare]

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """Totals over the operations of each launch; none of them counts as uncoalesced."""
        if self._tallies is None:
            object.__setattr__(self, "_tallies", self.tallied(Tallying(self.launches)))
        assert self._tallies is not None
        return self._tallies

    @property
    def kinds(self) -> Integers:
        """int64[launches]: launches with the same number do the same, but for limits on blocks of a group."""
        if self._kinds is None:
            object.__setattr__(self, "_kinds", kinds_of(self))
        assert self._kinds is not None
        return self._kinds

    def limited(self, launch_limits: Integers, origin: str) -> "Workload":
        """The same with a machine's limits.

        launch_limits: int64[launches], the most blocks of each that a group holds, 0 for no limit but the
            machine's.
        origin: what messages call the workload.
        """
        other = replace(self, launch_limits=launch_limits, origin=origin)
        object.__setattr__(other, "_tallies", self._tallies)
        object.__setattr__(other, "_kinds", self._kinds)
        return other

    def with_graphs(self, in_graph: npt.NDArray[np.bool_]) -> "Workload":
        """The same with launches in graphs.

        in_graph: bool[launches], whether each follows another one in a graph.
        """
        other = replace(self, in_graph=in_graph)
        object.__setattr__(other, "_tallies", self._tallies)
        return other

    def follows_in_graph(self, launch: int) -> bool:
        """Whether a launch follows another one in a graph. launch: its number, from 0 on."""
        return bool(len(self.in_graph)) and bool(self.in_graph[launch])

    def with_clusters(self, clusters: Integers) -> "Workload":
        """The same with clusters.

        clusters: int64[launches], how many blocks in a row of each are a cluster.
        """
        other = replace(self, clusters=clusters)
        object.__setattr__(other, "_tallies", self._tallies)
        return other

    def cluster_of(self, launch: int) -> int:
        """How many blocks in a row of a launch are a cluster, 1 without. launch: its number, from 0 on."""
        return int(self.clusters[launch]) if len(self.clusters) else 1

    def tallied(self, tallying: Tallying) -> tuple[Tally, ...]:
        """Likewise, with your own rules of counting."""
        for launch in range(self.launches):
            first, last = self.block_warps[self.launch_blocks[launch : launch + 2]].tolist()
            ends = self.warp_operations[first : last + 1]
            operations = slice(int(ends[0]), int(ends[-1]))
            tallying.add(launch, self.kind[operations], self.amount[operations], np.diff(ends))
        return tallying.finish()

    @property
    def launches(self) -> int:
        """Number of launches."""
        return len(self.launch_blocks) - 1

    @property
    def blocks(self) -> int:
        """Number of blocks, over all launches."""
        return len(self.block_warps) - 1

    @property
    def warps(self) -> int:
        """Number of warps, over all blocks."""
        return len(self.warp_operations) - 1

    @property
    def operations(self) -> int:
        """Number of operations, over all warps."""
        return len(self.kind)

    @property
    def has_places(self) -> bool:
        """Whether its operations have places in the program."""
        return self.places is not None and len(self.place) == len(self.kind)

    @property
    def known_places(self) -> Places:
        """The places of its operations: the operations themselves, if they have none."""
        return self.places if self.places is not None and self.has_places else OPERATION_PLACES

    def digest(self) -> str:
        """A hash of the content."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        total = hashlib.sha256()
        *arrays, sectors, in_graph, clusters = self._arrays()[1:]
        # They came later: a workload without them keeps its digest
        arrays += [own for own in (sectors, in_graph, clusters) if len(own)]
        for array in (DIGESTED[self.kind], *arrays):
            total.update(len(array).to_bytes(8, "little"))
            total.update(np.ascontiguousarray(array).view(np.uint8).data)
        return total.hexdigest()[:16]

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], origin: str = "workload") -> "Workload":
        """A workload from the JSON form: {"blocks": ...} or {"launches": [{"blocks": ...}, ...]}.

        A launch may carry "blocks_per_group", its occupancy, "in_graph", whether it follows another one in a graph,
        and "cluster", how many of its blocks in a row are one. Raises WorkloadError, naming the place.

        tables: the document, as JSON has it.
        origin: what messages call it.
        """
        builder = WorkloadBuilder(origin)
        for path, launch in launches_in(tables, origin):
            limit, cluster = launch.get("blocks_per_group", 0), launch.get("cluster", 1)
            for key, value in (("blocks_per_group", limit), ("cluster", cluster)):
                if key in launch and not is_whole(value, 1):
                    raise WorkloadError(f"{origin}: {path}{key} = {shown(value)}: must be a whole number of at least 1")
            in_graph = launch.get("in_graph", False)
            if not isinstance(in_graph, bool):
                raise WorkloadError(f"{origin}: {path}in_graph = {shown(in_graph)}: must be true or false")
            builder.begin_launch(limit, in_graph, cluster)
            for b, block in enumerate(list_of(launch["blocks"], f"{path}blocks", origin)):
                place = f"{path}blocks[{b}]"
                check_keys(block, {"warps"}, {"warps"}, place, origin)
                builder.begin_block()
                for w, warp in enumerate(list_of(block["warps"], f"{place}.warps", origin)):
                    builder.begin_warp()
                    for o, operation in enumerate(list_of(warp, f"{place}.warps[{w}]", origin)):
                        try:
                            builder.add(operation)
                        except WorkloadError as error:
                            raise WorkloadError(f"{origin}: {place}.warps[{w}][{o}]: {error}") from None
        return builder.build()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, always with launches."""
        launches = []
        for launch in range(self.launches):
            blocks = range(self.launch_blocks[launch], self.launch_blocks[launch + 1])
            entry: dict[str, Any] = {"blocks": [{"warps": [list(w) for w in self._block(b)]} for b in blocks]}
            if self.launch_limits[launch]:
                entry["blocks_per_group"] = int(self.launch_limits[launch])
            if self.follows_in_graph(launch):
                entry["in_graph"] = True
            if self.cluster_of(launch) > 1:
                entry["cluster"] = self.cluster_of(launch)
            launches.append(entry)
        return {"launches": launches}

    def _block(self, block: int) -> Iterator[Iterator[list[Any]]]:
        for warp in range(self.block_warps[block], self.block_warps[block + 1]):
            yield self.warp(warp)

    def warp(self, warp: int) -> Iterator[list[Any]]:
        """The operations of one warp, in the JSON form: ["compute", 4, "fp64"], ["load", [0, 1]], ["barrier"].

        warp: its number, from 0 on, over all blocks of all launches.
        """
        chunk = int(self.warp_chunks[warp])
        for index in range(self.warp_operations[warp], self.warp_operations[warp + 1]):
            kind, amount = int(self.kind[index]), int(self.amount[index])
            listed = slice(chunk, chunk + (amount & LISTED if LOAD <= kind <= COPY else 0))
            yield operation_words(kind, amount, self.chunks[listed].tolist(), self.sectors[listed].tolist())
            chunk = listed.stop

    def save(self, path: str | Path) -> None:
        """Write the JSON form to `path`, whole or not at all."""
        with written_whole(path) as temporary:
            temporary.write_text(json.dumps(self.to_dict()), encoding="utf-8")


def load_workload(path: str | Path) -> Workload:
    """Load a workload from a file. Raises WorkloadError.

    path: the path of a JSON file as in section 8 of the machine rules (docs/machine.md).
    """
    if not isinstance(path, (str, Path)):
        raise WorkloadError(f"path = {shown(path)}: must be a path to a workload (.json)")
    tables = read_json(path, WorkloadError, max(LARGEST_FILE, available_memory() // OF_JSON))
    return Workload.from_dict(tables, origin=str(path))


class WorkloadBuilder:
    """Collects a workload operation by operation, in order."""

    def __init__(self, origin: str = "workload") -> None:
        self._origin = origin
        self._kind: list[int] = []
        self._amount: list[int] = []
        self._chunks: list[int] = []
        self._sectors: list[int] = []
        self._warp_operations: list[int] = []
        self._warp_chunks: list[int] = []
        self._block_warps: list[int] = []
        self._launch_blocks: list[int] = []
        self._launch_limits: list[int] = []
        self._in_graph: list[bool] = []
        self._clusters: list[int] = []

    def begin_launch(self, blocks_per_group: int = 0, in_graph: bool = False, cluster: int = 1) -> None:
        """What follows belongs to a new launch.

        blocks_per_group: that a core group holds, 0: no limit but the machine's. in_graph: whether it follows another
            one in a graph. cluster: how many blocks in a row are one, 1 without.
        """
        self._in_graph.append(in_graph)
        self._clusters.append(cluster)
        self._launch_blocks.append(len(self._block_warps))
        self._launch_limits.append(blocks_per_group)

    def begin_block(self) -> None:
        """What follows belongs to a new block."""
        self._block_warps.append(len(self._warp_operations))

    def begin_warp(self) -> None:
        """What follows belongs to a new warp."""
        self._warp_operations.append(len(self._kind))
        self._warp_chunks.append(len(self._chunks))

    def add(self, operation: Any) -> None:
        """Append one operation in the JSON form. Raises WorkloadError without a place."""
        read = read_operation(operation)
        self._kind.append(read.kind)
        self._amount.append(read.amount)
        self._chunks.extend(read.chunks)
        self._sectors.extend(read.sectors)

    def build(self) -> Workload:
        """The workload collected so far."""

        def flat(values: list[int], *end: int) -> Integers:
            return np.array([*values, *end], dtype=np.int64)

        return Workload(
            kind=np.array(self._kind, dtype=np.uint8),
            amount=flat(self._amount),
            chunks=flat(self._chunks),
            sectors=np.array(self._sectors if any(self._sectors) else [], dtype=np.uint32),
            warp_operations=flat(self._warp_operations, len(self._kind)),
            warp_chunks=flat(self._warp_chunks, len(self._chunks)),
            block_warps=flat(self._block_warps, len(self._warp_operations)),
            launch_blocks=flat(self._launch_blocks, len(self._block_warps)),
            launch_limits=flat(self._launch_limits),
            in_graph=np.array(self._in_graph if any(self._in_graph) else [], dtype=bool),
            clusters=flat(self._clusters if any(cluster > 1 for cluster in self._clusters) else []),
            origin=self._origin,
        )

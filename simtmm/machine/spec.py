"""Machine: a highly-threaded machine's parameters, frozen and validated.

Durations are in core cycles and may be fractional; `Machine.durations` has them in the whole ticks that the engines
count in.
"""

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError, model_validator

from simtmm.display import Displayed
from simtmm.errors import MachineError, escaped, nearest
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.machine.bandwidth import BANDWIDTH, FOLLOWS, SERVICE, with_service
from simtmm.machine.changed import Changes, named_with
from simtmm.machine.complaints import one_line, refuse_bytes
from simtmm.machine.durations import Durations
from simtmm.machine.later import LATER
from simtmm.machine.residency import active_blocks, block_limits
from simtmm.machine.rules import RULES
from simtmm.machine.spelled import WHOLE, with_sizes
from simtmm.machine.sustained import CLOCK, SUSTAINED, at_sustained_clock
from simtmm.machine.tables import Source, units_of
from simtmm.machine.tables.cores import Cores, Limits, Resources, Scheduling
from simtmm.machine.tables.instructions import Banks, HongKim, Instructions, Pipe, Pipes, Products, Results
from simtmm.machine.tables.memory import GroupCache, GroupPipe, LastLevelCache, Memory, Rows, SharedCache, SharedL1, Tlb
from simtmm.machine.values import Capability, Count, Link, MemoryBytes, Positive, Table, unit
from simtmm.renamed import MACHINE_KEYS, with_new_keys, with_new_names
from simtmm.stalls import CLASSES

# Decides which trace a program has, what a program's own clock says, what a family's rules make of it, or what service
# is, which the digest has: not what the machine makes of a trace
APART = frozenset((
    "compute_capability", "measured_bandwidth", "sustained_clock_hz", "memory.bandwidth", "memory_bytes", "link",
))  # fmt: skip

NO_VALUES = {"name", "description", "family", "changes", "sources"}


class Machine(Displayed, Table):
    """A machine. Frozen: `replace` returns a changed copy."""

    name: str = unit("", "the machine's name")
    description: str = unit("", "what it is", default="")
    family: str | None = unit("", "the family that values not its own are from", default=None)
    clock_hz: Positive | None = unit("Hz", "core clock; results have no seconds without it", default=None)
    sustained_clock_hz: Positive | None = unit("Hz", "core clock while all pipes multiply matrices", default=None)
    ticks_per_cycle: Count = unit("ticks", "ticks in a core cycle", default=1)
    peak_bandwidth: Positive | None = unit("bytes/s", "what the data sheet promises", default=None)
    measured_bandwidth: Positive | None = unit("bytes/s", "what reads were measured to reach", default=None)
    compute_capability: Capability | None = unit(
        "", "NVIDIA's number of what the GPU can do, for which kernels are compiled", default=None
    )
    memory_bytes: MemoryBytes | None = unit("bytes", "global memory, as programs on the device see it", default=None)
    link: Link | None = unit("", "what joins the device to its host, by which copies take their time", default=None)
    cores: Cores
    scheduling: Scheduling = Scheduling()
    memory: Memory
    limits: Limits = Limits()
    resources: Resources = Resources()
    banks: Banks = Banks()
    instructions: Instructions | None = unit("", "latencies of instructions, by class of work", default=None)
    results: Results | None = unit("", "latencies of what machine code has scoreboards for", default=None)
    pipes: Pipes | None = unit("", "what instructions pass behind their port, by class of work", default=None)
    products: Products | None = unit("", "what multiplies matrices beside the warps", default=None)
    hong_kim: HongKim | None = unit("", "departure delays, for the MWP-CWP model", default=None)
    changes: dict[str, str] | None = unit("", "what was changed of the machine of that name, by key", default=None)
    sources: dict[str, Source] = unit("", "where each value comes from, by dotted key", default={})

    def __repr__(self) -> str:
        cores, memory = self.cores, self.memory
        return (
            f"Machine({escaped(self.name)}: {cores.groups} x {cores.cores_per_group} cores, "
            f"warps of {cores.warp_width}, latency {memory.latency:g} cycles, chunks of {memory.chunk_words} words)"
        )

    __str__ = __repr__

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], origin: str = "machine") -> "Machine":
        """A machine from nested tables as in a TOML file; `origin` names them in errors.

        All values must be there: `family` is a word here, and `simtmm.load_machine` takes from it what a file lacks.
        Raises MachineError, with the key, the value and what is allowed.

        tables: nested tables by key, as TOML has them.
        """
        if not isinstance(tables, Mapping):
            raise MachineError(f"{origin}: must be a table of keys, not {type(tables).__name__}")
        refuse_bytes(tables, origin)
        try:
            machine = cls.model_validate(with_service(with_sizes(_with_new_keys(tables, origin), origin), origin))
        except ValidationError as error:
            # A key that is misspelt comes before one that is missing: the first often explains the second.
            first = min(error.errors(), key=lambda entry: entry["type"] != "extra_forbidden")
            raise MachineError(f"{origin}: {one_line(first, units())}") from None
        known = set(machine.values()) if machine.sources else set()
        for key in machine.sources:
            if key not in known:
                raise MachineError(f"{origin}: sources.{key}: no such key with a value{nearest(key, known)}")
        if machine.memory.bandwidth is not None:
            machine = machine.model_copy(update={"sources": {**machine.sources, SERVICE: Source(**FOLLOWS)}})
        return machine

    @model_validator(mode="after")
    def _values_go_together(self) -> "Machine":
        for rule in RULES:
            rule(self)
        return self

    def replace(self, changes: Mapping[str, Any]) -> "Machine":
        """A machine with some values changed, by dotted key: `replace({"memory.latency": 800})`.

        A text as "x0.5" is that multiple of the value, one as "96KiB" a size, of memory.l2 too. None takes an optional
        key away, and `clock_hz` = "sustained" takes the clock of `sustained_clock_hz` (simtmm/machine/sustained.py).
        What was changed stands in `changes` and in the machine's name. Raises MachineError as `from_dict` does.
        """
        changes = _with_new_names(changes, f"machine {self.name}")
        if changes.get(CLOCK) == SUSTAINED:
            return at_sustained_clock(self, {key: value for key, value in changes.items() if key != CLOCK})
        pending = Changes(self.name, self.model_dump(exclude_none=True, exclude={"sources", "changes"}))
        if changes.get(SERVICE) is not None and changes.get(BANDWIDTH) is not None:
            raise MachineError(f"machine {self.name}: {SERVICE} follows from memory.bandwidth: give one of them")
        stays = self.memory.bandwidth is not None and changes.get(BANDWIDTH, "") is not None
        if stays and SERVICE not in changes:
            pending.follow()
        for dotted, value in changes.items():
            pending.make(dotted, value)
        machine = Machine.from_dict(pending.tables, f"machine {self.name}")
        if "name" not in changes:
            changed = pending.differences(self.values(), machine.values(), self.changes or {})
            name = named_with(self.name, self.changes or {}, changed)
            machine = machine.model_copy(update={"name": name, "changes": changed or None})
        values = machine.values()
        touched = {key for dotted in changes for key in values if key == dotted or key.startswith(f"{dotted}.")}
        kept = {key: source for key, source in self.sources.items() if key in values and key not in touched}
        theirs = {key: Source(source="set by the user", certainty="user") for key in sorted(touched)}
        return machine.model_copy(update={"sources": {**kept, **machine.sources, **theirs}})

    def to_dict(self) -> dict[str, Any]:
        """The nested tables; keys without a value are left out."""
        return self.model_dump(exclude_none=True)

    def values(self) -> dict[str, Any]:
        """Every value by dotted key, in the order of the file, without names, descriptions and `sources`."""
        return _flatten(self.model_dump(exclude_none=True, exclude=NO_VALUES))

    @functools.cached_property
    def _digest(self) -> str:
        # By their first names, so that what was kept of a machine is still found after a key is renamed, or added
        first = {new: old for old, new in MACHINE_KEYS.items()}
        entries = {key: value for key, value in self.values().items() if key not in APART and LATER.get(key) != value}
        values = {first.get(key, key): value for key, value in entries.items()}
        text = json.dumps(values, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def digest(self) -> str:
        """A hash of everything that decides how the machine behaves, so not of names, sources and compute
        capability.
        """
        return self._digest

    def __hash__(self) -> int:
        return hash(self.digest())

    def ticks(self, cycles: float) -> int:
        """A duration in whole ticks: floor(cycles * ticks_per_cycle + 0.5) in double precision.

        cycles: a number of cycles, whole or not, at least 0.
        """
        return math.floor(cycles * float(self.ticks_per_cycle) + 0.5)

    @functools.cached_property
    def durations(self) -> Durations:
        """All durations in whole ticks."""
        return Durations.of(self)

    @property
    def after_its_first_launch(self) -> "Machine":
        """The machine without the extra cost of a run's first launch, its L2 as an earlier launch left it."""
        paid: dict[str, Any] = {"scheduling.first_launch": 0} if self.scheduling.first_launch else {}
        if self.memory.translations == "run" and self.memory.first_access:
            paid["memory.first_access"] = 0
        if self.memory.l2 and self.memory.l2.start == "kept":
            paid["memory.l2.start"] = "warm"
        return self.replace(paid) if paid else self

    @property
    def without_last_level(self) -> "Machine":
        """The machine as what passes its last-level cache finds it: each line that is stored there drives out another,
        and none is found again.
        """
        return self if self.memory.last_level is None else self.replace({"memory.last_level": None})

    @property
    def begins_warm(self) -> bool:
        """Whether launches begin with the L2, or the last-level cache behind it, as an earlier run leaves it."""
        l2, last_level = self.memory.l2, self.memory.last_level
        below = last_level is not None and last_level.start == "warm"
        return l2 is not None and (l2.start == "warm" or (below and l2.start == "cold"))

    @property
    def shared_l1s(self) -> int:
        """Caches between L1s and the L2 that groups share: ceil(groups / `shared_l1.groups`); 0 without any."""
        shared = self.memory.shared_l1
        return -(-self.cores.groups // shared.groups) if shared else 0

    @property
    def keeps_local_stores(self) -> bool:
        """Whether stores to local memory end in the L1 of a group."""
        return self.memory.l1 is not None and self.memory.l1.local_writes == "back"

    @property
    def fastest_store(self) -> int:
        """The shortest time from the port to the end of a store of one chunk [ticks]."""
        takes = self.durations
        return min(takes.store_latency, takes.l1_latency) if self.keeps_local_stores else takes.store_latency

    @property
    def waits_for_stores(self) -> bool:
        """Whether a warp waits for a store at least as long as for global memory, L."""
        return self.memory.stores == "blocking" and self.durations.store_latency >= self.durations.latency

    @property
    def processors(self) -> int:
        """Cores of the whole machine, P."""
        return self.cores.groups * self.cores.cores_per_group

    @property
    def issue_cycles(self) -> int:
        """How long one warp instruction holds an issue port: ceil(W / Q) cycles."""
        return -(-self.cores.warp_width // self.cores.cores_per_group)

    @property
    def ports(self) -> int:
        """Issue ports of a group: `cores.issue_ports`, or max(1, floor(Q / W))."""
        return self.cores.issue_ports or max(1, self.cores.cores_per_group // self.cores.warp_width)

    @property
    def warps_per_group(self) -> int:
        """The most warps that a group holds: floor(X * Q / W), or `limits.warps_per_group` if that is less."""
        cores = self.cores
        by_threads = math.floor(cores.max_threads_per_core * cores.cores_per_group / cores.warp_width)
        return by_threads if self.limits.warps_per_group is None else min(by_threads, self.limits.warps_per_group)

    @property
    def neighbourhoods(self) -> tuple[int, ...]:
        """The first core group of each neighbourhood that clusters are placed in, and behind them `cores.groups`; empty
        where blocks of clusters are placed one by one (machine rules, section 6).
        """
        groups, least = self.cores.groups, self.cores.cluster_groups
        if least is None:
            return ()
        pairs = groups // 2
        count = max(1, min(groups // least, pairs))
        return (*(2 * (number * pairs // count) for number in range(count)), groups)

    @property
    def first_local_chunk(self) -> int:
        """The chunk in which local memory begins, above all global memory."""
        return LOCAL_BASE // self.chunk_bytes

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk of global memory."""
        return self.memory.chunk_words * self.memory.word_bytes

    @property
    def sector_bytes(self) -> int:
        """Bytes of a sector of a chunk; of the whole chunk without sectors."""
        return self.chunk_bytes // self.memory.sectors

    def block_limits(self, threads: int, registers_per_thread: int, shared_memory_bytes: int) -> dict[str, int | None]:
        """How many blocks of a launch each resource lets a group hold at once; None: no limit.

        threads: threads of a block; registers_per_thread: 32-bit registers; shared_memory_bytes: of a block.
        Source: dissertation, Eq (5.2), the four terms as printed where `resources` has no units that they are handed
        out in. The fifth, warps, is what whole warps take where `threads` is no multiple of W (machine rules, section
        6).
        """
        return block_limits(self, threads, registers_per_thread, shared_memory_bytes)

    def active_blocks(self, threads: int, registers_per_thread: int = 0, shared_memory_bytes: int = 0) -> int:
        """Blocks of a launch that a group holds at once: the smallest of `block_limits` (Eq 5.2).

        threads: of a block.
        registers_per_thread: 32-bit registers of each thread.
        shared_memory_bytes: bytes of shared memory of a block.

        Raises MachineError where not even one block fits, naming the resource.
        """
        return active_blocks(self, threads, registers_per_thread, shared_memory_bytes)


def units() -> dict[str, tuple[str, str]]:
    """Unit and meaning of every key a machine may have, by dotted key."""
    tables: dict[str, type[BaseModel]] = {
        "": Machine, "cores": Cores, "scheduling": Scheduling, "memory": Memory, "memory.rows": Rows, "memory.tlb": Tlb,
        "memory.pipe": GroupPipe,
        "memory.l1": GroupCache, "memory.shared_l1": SharedL1, "memory.l2": SharedCache,
        "memory.last_level": LastLevelCache,
        "limits": Limits, "resources": Resources, "banks": Banks,
        "instructions": Instructions, "results": Results, "products": Products,
        "pipes": Pipes, **{f"pipes.{name}": Pipe for name in CLASSES},
        "hong_kim": HongKim,
    }  # fmt: skip
    return units_of(tables)


def _with_new_keys(tables: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Tables by the names that keys have now. Raises MachineError for a key that is there by both its names."""
    renamed = dict(tables)
    renamed.pop(WHOLE, None)  # as all tables are that come here
    try:
        renamed.update(with_new_keys(renamed, MACHINE_KEYS))
        if isinstance(renamed.get("sources"), Mapping):
            renamed["sources"] = with_new_names(renamed["sources"], MACHINE_KEYS)
    except ValueError as error:
        raise MachineError(f"{origin}: {error}") from None
    return renamed


def _with_new_names(changes: Mapping[str, Any], origin: str) -> dict[str, Any]:
    try:
        return with_new_names(changes, MACHINE_KEYS)
    except ValueError as error:
        raise MachineError(f"{origin}: {error}") from None


def _flatten(tables: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):  # as model_dump gives them
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat

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
from pydantic_core import ErrorDetails

from simtmm.display import Displayed
from simtmm.errors import MachineError, nearest, shown
from simtmm.machine.bandwidth import BANDWIDTH, FOLLOWS, SERVICE, with_service
from simtmm.machine.changed import Changes, named_with
from simtmm.machine.durations import Durations
from simtmm.machine.spelled import WHOLE, with_sizes
from simtmm.machine.tables import (
    LARGEST_SEGMENT,
    Banks,
    Capability,
    Cores,
    Count,
    GroupCache,
    HongKim,
    Instructions,
    Limits,
    Memory,
    Pipe,
    Pipes,
    Positive,
    Resources,
    Rows,
    Scheduling,
    SharedCache,
    Source,
    Table,
    Tlb,
    unit,
    units_of,
)
from simtmm.renamed import MACHINE_KEYS, with_new_keys, with_new_names
from simtmm.stalls import CLASSES

# Keys that no rule below ties to another: what they may be depends on no other key
FREE = frozenset(
    (
        "clock_hz",
        "compute_capability",
        "cores.groups",
        "cores.cores_per_group",
        "cores.max_threads_per_core",
        "resources.shared_memory",
        "resources.registers",
    )
)

# Decides which trace a program has, what a family's rules make of it, or what service is, which the digest has: not
# what the machine makes of a trace
APART = frozenset(("compute_capability", "measured_bandwidth", "memory.bandwidth"))

# Keys that came later, and the value at which they change nothing: a machine without them keeps its digest
LATER = {
    "scheduling.first_launch": 0,
    "scheduling.block_interval": 0,
    "scheduling.ports": "any",
    "memory.atomics": "each",
    "memory.reductions": "blocking",
    "memory.l2.atomics": "through",
    "memory.first_access": 0,
    "memory.l1.local_writes": "through",
    "memory.ports": 1,
    "memory.miss_interval": 0,
    "memory.return_interval": 0,
    "memory.return_delay": 0,
    "memory.store_buffer": 0,
    "banks.latency": 0,
    "banks.interval": 0,
}

# What other simulators and papers call it
WORDS_ELSEWHERE = {"gto": "greedy-oldest", "lrr": "round-robin", "rr": "round-robin", "old": "oldest", "fcfs": "fifo"}

LOCAL_BASE = 1 << 61  # the byte from which on memory is local (docs/machine.md, section 9)
# Of memory, in cycles: what only transfers have that overlap
BANDWIDTHS = (
    "port_interval",
    "store_interval",
    "miss_interval",
    "return_interval",
    "return_delay",
    "service",
    "atomic_service",
    "turnaround",
)

NEAR = 0.01  # how near the whole ticks of a chunk must come to a bandwidth that was asked for

NO_VALUES = {"name", "description", "family", "changes", "sources"}


class Machine(Displayed, Table):
    """A machine. Frozen: `replace` gives another one."""

    name: str = unit("", "the machine's name")
    description: str = unit("", "what it is", default="")
    family: str | None = unit("", "the family that values not its own are from", default=None)
    clock_hz: Positive | None = unit("Hz", "core clock; results have no seconds without it", default=None)
    ticks_per_cycle: Count = unit("ticks", "ticks in a core cycle", default=1)
    peak_bandwidth: Positive | None = unit("bytes/s", "what the data sheet promises", default=None)
    measured_bandwidth: Positive | None = unit("bytes/s", "what reads were measured to reach", default=None)
    compute_capability: Capability | None = unit(
        "", "NVIDIA's number of what the GPU can do, for which kernels are compiled", default=None
    )
    cores: Cores
    scheduling: Scheduling = Scheduling()
    memory: Memory
    limits: Limits = Limits()
    resources: Resources = Resources()
    banks: Banks = Banks()
    instructions: Instructions | None = unit("", "latencies of instructions, by class of work", default=None)
    pipes: Pipes | None = unit("", "what instructions pass behind their port, by class of work", default=None)
    hong_kim: HongKim | None = unit("", "departure delays, for the MWP-CWP model", default=None)
    changes: dict[str, str] | None = unit("", "what was changed of the machine of that name, by key", default=None)
    sources: dict[str, Source] = unit("", "where each value comes from, by dotted key", default={})

    def __repr__(self) -> str:
        cores, memory = self.cores, self.memory
        return (
            f"Machine({self.name}: {cores.groups} x {cores.cores_per_group} cores, warps of {cores.warp_width}, "
            f"latency {memory.latency:g} cycles, chunks of {memory.chunk_words} words)"
        )

    __str__ = __repr__

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], origin: str = "machine") -> "Machine":
        """A machine from nested tables as in a TOML file; `origin` names them in errors.

        All values must be there: `family` is a word here, and `simtmm.load_machine` takes from it what a file lacks.
        Raises MachineError, with the key, the value and what is allowed.
        """
        if not isinstance(tables, Mapping):
            raise MachineError(f"{origin}: must be a table of keys, not {type(tables).__name__}")
        try:
            machine = cls.model_validate(with_service(with_sizes(_with_new_keys(tables, origin), origin), origin))
        except ValidationError as error:
            # A key that is misspelt comes before one that is missing: the first often explains the second.
            first = min(error.errors(), key=lambda entry: entry["type"] != "extra_forbidden")
            raise MachineError(f"{origin}: {_one_line(first)}") from None
        known = set(machine.values()) if machine.sources else set()
        for key in machine.sources:
            if key not in known:
                raise MachineError(f"{origin}: sources.{key}: no such key has a value here{nearest(key, known)}")
        if machine.memory.bandwidth is not None:
            machine = machine.model_copy(update={"sources": {**machine.sources, SERVICE: Source(**FOLLOWS)}})
        return machine

    @model_validator(mode="after")
    def _durations_make_sense(self) -> "Machine":
        memory, durations = self.memory, self.durations
        latencies = {
            "memory.latency": (memory.latency, durations.latency),
            "memory.l1.latency": (memory.l1 and memory.l1.latency, durations.l1_latency),
            "memory.l2.latency": (memory.l2 and memory.l2.latency, durations.l2_latency),
            "memory.store_latency": (memory.store_latency, durations.store_latency),
            "memory.l2.atomic_latency": (memory.l2 and memory.l2.atomic_latency, durations.atomic_latency),
        }
        for key, (latency, ticks) in latencies.items():
            if latency is not None and ticks < 1:
                shortest = 1 / self.ticks_per_cycle
                raise ValueError(f"{key} = {latency:g}: must be at least one tick ({shortest:g} cycles)")
        if memory.bandwidth is not None and memory.transfers == "serial":
            raise ValueError(
                f"memory.bandwidth = {memory.bandwidth:g}: must be left out with memory.transfers = 'serial'"
            )
        if memory.bandwidth is not None and abs(durations.service / self.ticks_per_cycle / memory.service - 1) > NEAR:
            raise ValueError(
                f"memory.bandwidth = {memory.bandwidth:g}: a chunk takes a partition for {memory.service:.4g} cycles, "
                f"which ticks_per_cycle = {self.ticks_per_cycle} does not count to within {100 * NEAR:g} %: more ticks"
            )
        if self.memory.transfers == "serial":
            for key in BANDWIDTHS:
                if getattr(self.memory, key):
                    raise ValueError(
                        f"memory.{key} = {getattr(self.memory, key)}: must be 0 with memory.transfers = 'serial'"
                    )
            if self.memory.l2 and self.memory.l2.service != 0:
                raise ValueError(
                    f"memory.l2.service = {self.memory.l2.service}: must be 0 with memory.transfers = 'serial'"
                )
            if self.memory.rows is not None:
                raise ValueError("memory.rows: must be left out with memory.transfers = 'serial'")
            if self.memory.tlb is not None:
                raise ValueError("memory.tlb: must be left out with memory.transfers = 'serial'")
        return self

    @model_validator(mode="after")
    def _pages_are_made_of_chunks(self) -> "Machine":
        if self.memory.tlb and self.memory.tlb.page % self.chunk_bytes:
            raise ValueError(
                f"memory.tlb.page = {self.memory.tlb.page}: must be a multiple of memory.chunk_words * "
                f"memory.word_bytes, {self.chunk_bytes}"
            )
        return self

    @model_validator(mode="after")
    def _segments_lie_in_chunks(self) -> "Machine":
        if self.memory.coalescing == "half-warp-segments" and self.chunk_bytes % LARGEST_SEGMENT:
            raise ValueError(
                f"memory.chunk_words * memory.word_bytes = {self.chunk_bytes}: must be a multiple of "
                f"{LARGEST_SEGMENT} with memory.coalescing = 'half-warp-segments'"
            )
        return self

    def replace(self, changes: Mapping[str, Any]) -> "Machine":
        """A machine with some values changed, by dotted key: `replace({"memory.latency": 800})`.

        A text as "x0.5" is that multiple of the value, one as "96KiB" a size, of memory.l2 too. None takes an optional
        key away. What was changed stands in `changes` and in the machine's name. Raises MachineError as `from_dict`
        does.
        """
        changes = _with_new_names(changes, f"machine {self.name}")
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
        """The nested tables again; keys that have no value are left out."""
        return self.model_dump(exclude_none=True)

    def values(self) -> dict[str, Any]:
        """Every value by dotted key, in the order of the file; not what only names it, and not `sources`."""
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
        """A hash of all that decides how the machine behaves: not names, sources, compute capability."""
        return self._digest

    def __hash__(self) -> int:
        return hash(self.digest())

    def ticks(self, cycles: float) -> int:
        """A duration in whole ticks: floor(cycles * ticks_per_cycle + 0.5) in double precision."""
        return math.floor(cycles * float(self.ticks_per_cycle) + 0.5)

    @functools.cached_property
    def durations(self) -> Durations:
        """All durations in whole ticks."""
        return Durations.of(self)

    @property
    def keeps_local_stores(self) -> bool:
        """Whether stores to local memory end in the L1 of a group."""
        return self.memory.l1 is not None and self.memory.l1.local_writes == "back"

    @property
    def fastest_store(self) -> int:
        """From a port to the finish of a store of one chunk, at least [ticks]."""
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
        """Issue ports of a group: max(1, floor(Q / W))."""
        return max(1, self.cores.cores_per_group // self.cores.warp_width)

    @property
    def warps_per_group(self) -> int:
        """Warps a group holds at most: floor(X * Q / W), or `limits.warps_per_group` if that is less."""
        cores = self.cores
        by_threads = math.floor(cores.max_threads_per_core * cores.cores_per_group / cores.warp_width)
        return by_threads if self.limits.warps_per_group is None else min(by_threads, self.limits.warps_per_group)

    @property
    def first_local_chunk(self) -> int:
        """The chunk in which local memory begins, above all global memory."""
        return LOCAL_BASE // self.chunk_bytes

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk of global memory."""
        return self.memory.chunk_words * self.memory.word_bytes

    def block_limits(self, threads: int, registers_per_thread: int, shared_memory_bytes: int) -> dict[str, int | None]:
        """How many blocks of a launch each resource lets a group hold at once; None: no limit.

        threads: threads of a block; registers_per_thread: 32-bit registers; shared_memory_bytes: of a block.
        Source: dissertation, Eq (5.2), the four terms as printed (no rounding to allocation units). The fifth, warps,
        is what whole warps take where `threads` is no multiple of W (machine rules, section 6).
        """
        cores, resources = self.cores, self.resources
        limits: dict[str, int | None] = {"shared memory": None, "registers": None}
        if resources.shared_memory is not None and shared_memory_bytes > 0:
            limits["shared memory"] = resources.shared_memory // shared_memory_bytes
        if resources.registers is not None and registers_per_thread > 0:
            limits["registers"] = resources.registers // (registers_per_thread * threads)
        limits["blocks"] = self.limits.blocks_per_group
        limits["threads"] = math.floor(cores.max_threads_per_core * cores.cores_per_group) // threads
        limits["warps"] = self.warps_per_group // -(-threads // cores.warp_width)
        return limits

    def active_blocks(self, threads: int, registers_per_thread: int = 0, shared_memory_bytes: int = 0) -> int:
        """Blocks of a launch that a group holds at once: the least of `block_limits` (Eq 5.2).

        Raises MachineError where not even one block fits, naming the resource.
        """
        if self.resources.threads_per_block is not None and threads > self.resources.threads_per_block:
            raise MachineError(
                f"machine {self.name}: a block of {threads} threads does not fit: "
                f"at most {self.resources.threads_per_block} threads a block (resources.threads_per_block)"
            )
        limits = self.block_limits(threads, registers_per_thread, shared_memory_bytes)
        wanted = {
            "shared memory": f"{shared_memory_bytes} bytes of shared memory",
            "registers": f"{registers_per_thread * threads} registers",
            "threads": f"{threads} threads",
            "warps": f"{-(-threads // self.cores.warp_width)} warps",
        }
        available = {
            "shared memory": f"{self.resources.shared_memory} bytes (resources.shared_memory)",
            "registers": f"{self.resources.registers} registers (resources.registers)",
            "threads": f"{math.floor(self.cores.max_threads_per_core * self.cores.cores_per_group)} threads "
            "(cores.max_threads_per_core * cores.cores_per_group)",
            "warps": f"{self.warps_per_group} warps of {self.cores.warp_width} threads",
        }
        for resource, blocks in limits.items():
            if blocks == 0:
                raise MachineError(
                    f"machine {self.name}: a block that needs {wanted[resource]} does not fit: "
                    f"a core group has {available[resource]}"
                )
        return min(blocks for blocks in limits.values() if blocks is not None)


def units() -> dict[str, tuple[str, str]]:
    """Unit and meaning of every key a machine may have, by dotted key."""
    tables: dict[str, type[BaseModel]] = {
        "": Machine, "cores": Cores, "scheduling": Scheduling, "memory": Memory, "memory.rows": Rows, "memory.tlb": Tlb,
        "memory.l1": GroupCache, "memory.l2": SharedCache, "limits": Limits, "resources": Resources, "banks": Banks,
        "instructions": Instructions, "pipes": Pipes, **{f"pipes.{name}": Pipe for name in CLASSES},
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


def _one_line(error: ErrorDetails) -> str:
    """A pydantic complaint in our form: key = value: what is allowed."""
    key = ".".join(str(part) for part in error["loc"])
    match error["type"]:
        case "extra_forbidden":
            known = list(units())
            parent = key.rpartition(".")[0]
            siblings = [other.removeprefix(f"{parent}.").split(".")[0] for other in known if other.startswith(parent)]
            return f"{key}: unknown key{nearest(key, known, siblings)}"
        case "missing":
            return f"{key}: is missing"
        case "literal_error":
            meant = WORDS_ELSEWHERE.get(str(error["input"]).casefold())
            hint = f" (that is {meant!r} here)" if meant and repr(meant) in error["ctx"]["expected"] else ""
            return f"{key} = {shown(error['input'])}: must be {error['ctx']['expected']}{hint}"
        case "value_error" if not key:  # raised by the machine's own validator, which names the key
            return str(error["ctx"]["error"])
        case "value_error":
            return f"{key} = {shown(error['input'])}: {error['ctx']['error']}"
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"{key} = {shown(error['input'])}: must be a table of keys"
        case "string_type":
            return f"{key} = {shown(error['input'])}: must be a text"
        case _:
            return f"{key} = {shown(error['input'])}: {error['msg']}"

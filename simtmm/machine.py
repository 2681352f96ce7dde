"""Machine: a highly-threaded machine's parameters, frozen and validated, from a TOML file.

The keys and their meaning are those of the machine rules (docs/machine.md), section 8. Durations are in core
cycles and may be fractional; `Machine.ticks` turns one into the whole ticks that the engines count in.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from simtmm.errors import MachineError, nearest, shown
from simtmm.files import data_folders

SWITCHES = ("on-stall", "every-instruction")
SCHEDULERS = ("fifo", "oldest", "greedy-oldest", "round-robin")


def _number(value: object, allowed: str) -> int | float:
    """The value as a plain number; NumPy's are welcome, truth values and infinities are not."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(allowed)
    return int(value) if isinstance(value, Integral) else float(value)


def _whole(value: object) -> int:
    allowed = "must be a whole number of at least 1"
    number = _number(value, allowed)
    if number != int(number) or number < 1:
        raise ValueError(allowed)
    return int(number)


def _at_least(bound: float) -> BeforeValidator:
    def check(value: object) -> float:
        allowed = f"must be a number of at least {bound}"
        number = _number(value, allowed)
        if number < bound:
            raise ValueError(allowed)
        return number

    return BeforeValidator(check)


def _positive(value: object) -> float:
    allowed = "must be a number above 0"
    number = _number(value, allowed)
    if number <= 0:
        raise ValueError(allowed)
    return number


Count = Annotated[int, BeforeValidator(_whole)]
Duration = Annotated[float, _at_least(0)]
Threads = Annotated[float, _at_least(1)]
Positive = Annotated[float, BeforeValidator(_positive)]


def _unit(unit: str, description: str, **more: Any) -> Any:
    return Field(description=description, json_schema_extra={"unit": unit}, **more)


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=False)


class Cores(_Table):
    """The cores: P = groups * cores_per_group of them."""

    groups: Count = _unit("core groups", "core groups, P / Q")
    cores_per_group: Count = _unit("cores", "cores in a group, Q")
    warp_width: Count = _unit("threads", "threads in lockstep, W")
    threads_per_core: Threads = _unit("threads", "threads a core may hold, X")


class Scheduling(_Table):
    """Who issues when."""

    switch: Literal["on-stall", "every-instruction"] = _unit("", "when a warp gives up its port", default="on-stall")
    scheduler: Literal["fifo", "oldest", "greedy-oldest", "round-robin"] = _unit(
        "", "which ready warp is granted a port", default="fifo"
    )
    pipeline_depth: Duration = _unit("cycles", "from a grant to the warp's next, every-instruction only", default=1)
    launch_overhead: Duration = _unit("cycles", "added for each launch", default=0)
    block_launch: Duration = _unit("cycles", "from the starting of a warp to its first instruction", default=0)
    warp_launch: Duration = _unit("cycles", "from one warp's start to the next one's in the same group", default=0)


class Cache(_Table):
    """A cache of chunks, least recently used."""

    sets: Count = _unit("sets", "sets; a chunk lives in set chunk mod sets")
    ways: Count = _unit("chunks", "chunks in a set")
    latency: Duration = _unit("cycles", "latency of a hit")


class Memory(_Table):
    """Global memory and what stands before it."""

    latency: Duration = _unit("cycles", "latency of global memory, L")
    chunk_words: Count = _unit("words", "words in a chunk, C")
    word_bytes: Count = _unit("bytes", "bytes in a word", default=4)
    transfers: Literal["pipelined", "serial"] = _unit(
        "", "chunks of an instruction overlap or not", default="pipelined"
    )
    port_interval: Duration = _unit("cycles", "a group's memory port takes a chunk this often", default=0)
    partitions: Count = _unit("partitions", "partitions of global memory", default=1)
    interleave: Literal["modulo", "hash"] = _unit("", "how chunks spread over partitions", default="modulo")
    service: Duration = _unit("cycles", "a partition is taken this long by a chunk", default=0)
    atomic_service: Duration = _unit("cycles", "a partition is taken this long by an atomic update", default=0)
    stores: Literal["blocking", "posted"] = _unit("", "whether a warp waits for its stores", default="blocking")
    outstanding: Count | None = _unit("asyncs", "asyncs in flight for each warp", default=None)
    l1: Cache | None = _unit("", "the cache of a group", default=None)
    l2: Cache | None = _unit("", "the cache of all groups", default=None)


class Limits(_Table):
    """What a group may hold; no limit where a key is left out."""

    blocks_per_group: Count | None = _unit("blocks", "resident blocks of a group", default=None)
    warps_per_group: Count | None = _unit("warps", "resident warps of a group, beside floor(X * Q / W)", default=None)


class Resources(_Table):
    """What blocks share of a group, for occupancy (dissertation, Table 5.2); no limit where left out."""

    registers: Count | None = _unit("32-bit registers", "registers of a group, R", default=None)
    local_memory: Count | None = _unit("bytes", "local memory of a group, Z", default=None)
    threads_per_block: Count | None = _unit("threads", "threads of a block at most, TmaxB", default=None)


class Banks(_Table):
    """Banks of local memory, for the conflict degree of shared accesses."""

    count: Count = _unit("banks", "banks of local memory", default=32)
    word_bytes: Count = _unit("bytes", "width of a bank", default=4)
    lanes: Count | None = _unit("threads", "lanes of a warp served together; all of them if left out", default=None)


class Source(_Table):
    """Where a value comes from and how sure it is."""

    source: str
    certainty: Literal[
        "confirmed",
        "paper",
        "derived",
        "secondhand",
        "config",
        "unconfirmed",
        "assumption",
        "definition",
        "user",
    ]
    note: str = ""


class Machine(_Table):
    """A machine. Frozen: `replace` gives another one."""

    name: str = _unit("", "the machine's name")
    description: str = _unit("", "what it is", default="")
    clock_hz: Positive | None = _unit("Hz", "core clock; results have no seconds without it", default=None)
    ticks_per_cycle: Count = _unit("ticks", "ticks in a core cycle", default=1)
    peak_bandwidth: Positive | None = _unit("bytes/s", "what the data sheet promises", default=None)
    cores: Cores
    scheduling: Scheduling = Scheduling()
    memory: Memory
    limits: Limits = Limits()
    resources: Resources = Resources()
    banks: Banks = Banks()
    sources: dict[str, Source] = _unit("", "where each value comes from, by dotted key", default={})

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], origin: str = "machine") -> "Machine":
        """A machine from nested tables as in a TOML file; `origin` names them in errors.

        Raises MachineError, with the key, the value and what is allowed.
        """
        if not isinstance(tables, Mapping):
            raise MachineError(f"{origin}: must be a table of keys, not {type(tables).__name__}")
        try:
            machine = cls.model_validate(dict(tables))
        except ValidationError as error:
            raise MachineError(f"{origin}: {_one_line(error.errors()[0])}") from None
        known = set(machine.values())
        for key in machine.sources:
            if key not in known:
                raise MachineError(f"{origin}: sources.{key}: no such key has a value here{nearest(key, known)}")
        return machine

    @model_validator(mode="after")
    def _durations_make_sense(self) -> "Machine":
        caches = {"memory.l1": self.memory.l1, "memory.l2": self.memory.l2}
        latencies = {f"{key}.latency": cache.latency for key, cache in caches.items() if cache}
        for key, latency in {"memory.latency": self.memory.latency, **latencies}.items():
            if self.ticks(latency) < 1:
                shortest = 1 / self.ticks_per_cycle
                raise ValueError(f"{key} = {latency:g}: must be at least one tick ({shortest:g} cycles)")
        if self.memory.transfers == "serial":
            for key in ("port_interval", "service", "atomic_service"):
                if getattr(self.memory, key) != 0:
                    raise ValueError(
                        f"memory.{key} = {getattr(self.memory, key)}: must be 0 with memory.transfers = 'serial'"
                    )
        return self

    def replace(self, changes: Mapping[str, Any]) -> "Machine":
        """A machine with some values changed, by dotted key: `replace({"memory.latency": 800})`.

        None takes an optional key away. Raises MachineError as `from_dict` does.
        """
        tables = self.to_dict()
        sources = tables.setdefault("sources", {})
        for dotted, value in changes.items():
            *parents, last = dotted.split(".")
            table = tables
            for parent in parents:
                table = table.setdefault(parent, {})
                if not isinstance(table, dict):
                    raise MachineError(f"machine {self.name}: {dotted}: {parent} is a value, not a table")
            for stale in [key for key in sources if key == dotted or key.startswith(f"{dotted}.")]:
                del sources[stale]
            if value is None:
                table.pop(last, None)
                continue
            table[last] = value
            if not isinstance(value, Mapping):
                sources[dotted] = {"source": "set by the user", "certainty": "user"}
        for parent in [key for key in sources if _lookup(tables, key) is None]:
            del sources[parent]
        return Machine.from_dict(tables, origin=f"machine {self.name}")

    def to_dict(self) -> dict[str, Any]:
        """The nested tables again; keys that have no value are left out."""
        return self.model_dump(exclude_none=True)

    def values(self) -> dict[str, Any]:
        """Every value by dotted key, in the order of the file, `name` and `sources` apart."""
        tables = self.to_dict()
        del tables["sources"], tables["name"], tables["description"]
        return _flatten(tables)

    def digest(self) -> str:
        """A hash of all that decides how the machine behaves: names and sources don't count."""
        text = json.dumps(self.values(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def ticks(self, cycles: float) -> int:
        """A duration in whole ticks: floor(cycles * ticks_per_cycle + 0.5) in double precision."""
        return math.floor(cycles * float(self.ticks_per_cycle) + 0.5)

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
        by_threads = math.floor(cores.threads_per_core * cores.cores_per_group / cores.warp_width)
        return by_threads if self.limits.warps_per_group is None else min(by_threads, self.limits.warps_per_group)

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk of global memory."""
        return self.memory.chunk_words * self.memory.word_bytes

    def block_limits(self, threads: int, registers_per_thread: int, local_memory_bytes: int) -> dict[str, int | None]:
        """How many blocks of a launch each resource lets a group hold at once; None: no limit.

        threads: threads of a block; registers_per_thread: 32-bit registers; local_memory_bytes: of a block.
        Source: dissertation, Eq (5.2), the four terms as printed (no rounding to allocation units).
        """
        cores, resources = self.cores, self.resources
        limits: dict[str, int | None] = {"local memory": None, "registers": None}
        if resources.local_memory is not None and local_memory_bytes > 0:
            limits["local memory"] = resources.local_memory // local_memory_bytes
        if resources.registers is not None and registers_per_thread > 0:
            limits["registers"] = resources.registers // (registers_per_thread * threads)
        limits["blocks"] = self.limits.blocks_per_group
        limits["threads"] = math.floor(cores.threads_per_core * cores.cores_per_group) // threads
        return limits

    def active_blocks(self, threads: int, registers_per_thread: int = 0, local_memory_bytes: int = 0) -> int:
        """Blocks of a launch that a group holds at once: the least of `block_limits` (Eq 5.2).

        Raises MachineError where not even one block fits, naming the resource.
        """
        if self.resources.threads_per_block is not None and threads > self.resources.threads_per_block:
            raise MachineError(
                f"machine {self.name}: a block of {threads} threads does not fit: "
                f"at most {self.resources.threads_per_block} threads a block (resources.threads_per_block)"
            )
        limits = self.block_limits(threads, registers_per_thread, local_memory_bytes)
        wanted = {
            "local memory": f"{local_memory_bytes} bytes of local memory",
            "registers": f"{registers_per_thread * threads} registers",
            "threads": f"{threads} threads",
        }
        available = {
            "local memory": f"{self.resources.local_memory} bytes (resources.local_memory)",
            "registers": f"{self.resources.registers} registers (resources.registers)",
            "threads": f"{math.floor(self.cores.threads_per_core * self.cores.cores_per_group)} threads "
            "(cores.threads_per_core * cores.cores_per_group)",
        }
        for resource, blocks in limits.items():
            if blocks == 0:
                raise MachineError(
                    f"machine {self.name}: a block that needs {wanted[resource]} does not fit: "
                    f"a core group has {available[resource]}"
                )
        return min(blocks for blocks in limits.values() if blocks is not None)


def load_machine(machine: str | Path) -> Machine:
    """The machine of that name, or from the TOML file at that path.

    A word without a suffix .toml and without a path separator is a name: machines/NAME.toml in the folders of
    `simtmm.files.data_folders`. Raises MachineError.
    """
    path = Path(machine)
    if path.suffix != ".toml" and path.name == str(machine):
        known = machine_files()
        if str(machine) not in known:
            raise MachineError(f"machine {str(machine)!r}: unknown{nearest(str(machine), known)}")
        path = known[str(machine)]
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MachineError(f"{path}: can't be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MachineError(f"{path}: is not TOML ({error})") from None
    return Machine.from_dict(tables, origin=str(path))


def machine_files() -> dict[str, Path]:
    """The machines that are known by name, and their files."""
    found: dict[str, Path] = {}
    for folder in data_folders("machines"):
        for path in sorted(folder.glob("*.toml")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def units() -> dict[str, tuple[str, str]]:
    """Unit and meaning of every key a machine may have, by dotted key."""
    found: dict[str, tuple[str, str]] = {}
    tables: dict[str, type[BaseModel]] = {
        "": Machine, "cores": Cores, "scheduling": Scheduling, "memory": Memory, "memory.l1": Cache,
        "memory.l2": Cache, "limits": Limits, "resources": Resources, "banks": Banks,
    }  # fmt: skip
    for prefix, table in tables.items():
        for name, field in table.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, dict) and field.description:
                found[f"{prefix}.{name}".lstrip(".")] = (str(extra["unit"]), field.description)
    return found


def _flatten(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _lookup(tables: Mapping[str, Any], dotted: str) -> Any:
    value: Any = tables
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


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
            return f"{key} = {shown(error['input'])}: must be {error['ctx']['expected']}"
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

"""Families: what a machine's file takes from machines of its kind that were measured.

A machine's file that says `family = "ada"` has all values that are not its own from machines/families/ada.toml, which
has them from measured GPUs, or from a family of its own in turn. docs/families.md says which and how near it comes.

A family's file has the tables of a machine, as far as these are alike in the family, in core cycles; and `rules`, which
hold what scales with a clock or a bandwidth:

latency_seconds      memory.latency in seconds: most of it passes beyond the core's clock
partition_bandwidth  bytes a second of one partition: from it and from what all move follows how many there are
efficiency           what all partitions move together over peak_bandwidth; where the family names `reads`, by the share
                     that one measured read of each of these GPUs has of it
read_efficiency      the same over measured_bandwidth, where the machine has one; up to peak_bandwidth
turnaround           memory.turnaround over memory.service
fetch_interval       memory.fetch_interval over the time in which a group's share of all partitions moves a chunk
l2_load_bytes        bytes that all slices of the L2 give a core cycle, over the number of groups
l2_store_bytes       likewise what they take that is stored
l2_far_bytes         bytes that a half of the L2 takes a core cycle from the other one, over the number of groups
l2_request_share     memory.l2.request_service over memory.l2.service
launch_seconds       scheduling.launch_overhead in seconds: most of it passes before the cores
graph_launch_seconds  likewise scheduling.graph_launch_overhead
dispatch_cycles      core cycles from one block to the next that the whole GPU starts: scheduling.block_interval over
                     the number of groups
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simtmm.documents import read_toml
from simtmm.errors import MachineError, nearest, shown
from simtmm.machine.bandwidth import BANDWIDTH, SERVICE
from simtmm.machine.known import family_files
from simtmm.machine.spec import units
from simtmm.machine.spelled import CACHES, WHOLE, with_sizes
from simtmm.machine.values import is_number
from simtmm.renamed import MACHINE_KEYS, with_new_keys, with_new_names

RULES = (
    "latency_seconds",
    "partition_bandwidth",
    "efficiency",
    "read_efficiency",
    "turnaround",
    "fetch_interval",
    "l2_load_bytes",
    "l2_store_bytes",
    "l2_far_bytes",
    "l2_request_share",
    "launch_seconds",
    "graph_launch_seconds",
    "dispatch_cycles",
)
MAY_BE_0 = ("turnaround", "fetch_interval")
MOST_PARENTS = 8
# Of a family's file, beside a machine's tables
OWN = ("name", "description", "family", "donors", "reads", "sources", "rules")
NEVER = ("name", "description", "sources", "family", "changes", "clock_hz", "sustained_clock_hz", "peak_bandwidth",
         "measured_bandwidth", "memory_bytes", "link", BANDWIDTH)  # fmt: skip
OF_RULES = ("clock_hz", "peak_bandwidth", "measured_bandwidth", BANDWIDTH)  # what a machine gives to a family's rules

Flat = dict[str, Any]


class Family:
    """A family, with what it takes from families of its own. values, sources: by dotted key, `rules.NAME` too."""

    def __init__(self, name: str, path: Path, tables: Mapping[str, Any]) -> None:
        self.name, self.path = name, path
        self.description = str(tables.get("description", ""))
        self.donors: tuple[str, ...] = tuple(tables.get("donors", ()))
        self.reads: tuple[str, ...] = tuple(tables.get("reads", ()))
        self.rules: dict[str, float] = dict(tables.get("rules", {}))
        self.values = flattened({key: value for key, value in tables.items() if key not in OWN})
        self.sources: Flat = dict(tables.get("sources", {}))
        self.parent = tables.get("family")
        self.chain: tuple[str, ...] = (name,)  # this family, the one that it takes from, and so on
        self._check()

    def take(self, parent: "Family") -> None:
        """All that this family doesn't have of its own."""
        for key, value in parent.values.items():
            if key not in self.values:
                self.values[key] = value
                self.sources[key] = parent.sources.get(key, {})
        for rule, number in parent.rules.items():
            if rule not in self.rules:
                self.rules[rule] = number
                self.sources[f"rules.{rule}"] = parent.sources.get(f"rules.{rule}", {})

    def source(self, key: str, note: str = "") -> dict[str, str]:
        """Where a machine has a value of this family from, as its file would have it."""
        entry = self.sources.get(key) or {"source": "no source is given", "certainty": "assumption"}
        provenance = {**entry, "source": f"family {self.name}: {entry.get('source', '')}"}
        if note:
            provenance["note"] = "; ".join(part for part in (note, entry.get("note", "")) if part)
        return provenance

    def _check(self) -> None:
        known = [key for key in units() if key not in NEVER]
        for key in self.values:
            if key not in known:
                raise MachineError(f"{self.path}: {key}: unknown key of a family{nearest(key, known, ())}")
        for rule, number in self.rules.items():
            if rule not in RULES:
                raise MachineError(f"{self.path}: rules.{rule}: unknown{nearest(rule, RULES)}")
            if not is_number(number) or not 0 <= number < float("inf") or (number == 0 and rule not in MAY_BE_0):
                raise MachineError(f"{self.path}: rules.{rule} = {shown(number)}: must be a number above 0")


def load_family(name: str, beside: Path | None = None) -> Family:
    """The family of that name, with all that it has from families of its own. Raises MachineError.

    beside: the file of the machine that names it; a family in the same folder is found first.
    name: the family's name, without the ending of its file.
    """
    known = family_files(beside)
    lowered = {each.casefold(): each for each in known}
    chain: list[Family] = []
    wanted: object = name
    while wanted is not None:
        if not isinstance(wanted, str) or wanted.casefold() not in lowered:
            where = f"{chain[-1].path}: " if chain else ""
            raise MachineError(f"{where}family = {shown(wanted)}: unknown{nearest(str(wanted).casefold(), known)}")
        found = lowered[wanted.casefold()]
        if len(chain) == MOST_PARENTS or any(each.name == found for each in chain):
            raise MachineError(f"{chain[-1].path}: family = {shown(wanted)}: must not lead back to itself")
        chain.append(Family(found, known[found], _read(known[found])))
        wanted = chain[-1].parent
    family = chain[0]
    family.chain = tuple(each.name for each in chain)
    for parent in chain[1:]:
        family.take(parent)
    return family


def with_family(tables: Mapping[str, Any], origin: str, beside: Path | None = None) -> dict[str, Any]:
    """A machine's tables with all that they have from the family they name; as they are where they name none.

    A key with the value "none" takes nothing from the family: the machine has no such thing. Raises MachineError.
    """
    filled = dict(tables)
    whole = filled.pop(WHOLE, False)
    if not isinstance(whole, bool):
        raise MachineError(f"{origin}: {WHOLE} = {shown(whole)}: must be true or false")
    if filled.get("family") is None or whole:
        return filled
    if not isinstance(filled["family"], str):
        raise MachineError(f"{origin}: family = {shown(filled['family'])}: must be a family's name")
    try:
        return completed(filled, load_family(filled["family"], beside))
    except MachineError as error:
        raise MachineError(f"{origin}: {error}") from None


def completed(tables: Mapping[str, Any], family: Family) -> dict[str, Any]:
    """A machine's tables with all that they lack and the family has, or that follows from its rules.

    tables: nested tables of a machine's file, as TOML has them.
    """
    filled = {**tables, "family": family.name}
    flat = flattened({key: value for key, value in filled.items() if key not in ("sources", "changes")})
    sources = dict(filled["sources"]) if isinstance(filled.get("sources"), Mapping) else {}
    absent = {key for key, value in flat.items() if value == "none"}

    def own(key: str) -> bool:
        parts = key.split(".")
        sized = any(key == f"{cache}.sets" and f"{cache}.size" in flat for cache in CACHES)
        follows = key == SERVICE and BANDWIDTH in flat
        return key in flat or sized or follows or any(".".join(parts[:end]) in flat for end in range(1, len(parts)))

    taken: Flat = {}
    for key, value in family.values.items():
        if not own(key):
            taken[key] = value
            sources[key] = family.source(key)
    try:
        ruled = _Ruled(family, flat, taken, sources, own)
        ruled.of_the_clock()
        ruled.of_the_bandwidth()
        ruled.of_the_l2()
        ruled.of_the_groups()
    except (ArithmeticError, ValueError):  # of numbers that are checked as soon as all are there
        given = ", ".join(f"{key} = {shown(flat[key])}" for key in OF_RULES if key in flat)
        raise MachineError(f"{given}: what family {family.name} derives from them is not a finite number") from None
    filled["sources"] = sources
    for key in absent:
        _set(filled, key, None)
    for key, value in taken.items():
        _set(filled, key, value)
    return filled


class _Ruled:
    """What follows from a family's rules for a machine, where it is not the machine's own: in `taken` and `sources`."""

    def __init__(self, family: Family, flat: Flat, taken: Flat, sources: Flat, own: Callable[[str], bool]) -> None:
        self.family, self.rules = family, family.rules
        self.flat, self.taken, self.sources, self.own = flat, taken, sources, own

    def numbers(self, *keys: str) -> list[float] | None:
        """The values of these keys; None where one is no number."""
        default = {"memory.word_bytes": 4}
        found: list[Any] = [self.flat.get(key, self.taken.get(key, default.get(key))) for key in keys]
        return [float(number) for number in found] if all(map(is_number, found)) else None

    def lacks(self, key: str, rule: str) -> bool:
        """Whether the machine has no such value of its own, and the family a rule for it."""
        return rule in self.rules and not self.own(key)

    def take(self, key: str, ruled: float, rule: str, note: str) -> None:
        """Have a value, and say where it is from."""
        self.taken[key] = ruled
        self.sources[key] = self.family.source(f"rules.{rule}", note)

    def of_the_clock(self) -> None:
        """What takes so many seconds."""
        if not (clock := self.numbers("clock_hz")):
            return
        if self.lacks("memory.latency", "latency_seconds"):
            seconds = self.rules["latency_seconds"]
            self.take("memory.latency", round(seconds * clock[0], 1), "latency_seconds",
                      f"{seconds * 1e9:.4g} ns at {clock[0]:.6g} Hz")  # fmt: skip
        for key, rule in (
            ("scheduling.launch_overhead", "launch_seconds"),
            ("scheduling.graph_launch_overhead", "graph_launch_seconds"),
        ):
            if self.lacks(key, rule):
                seconds = self.rules[rule]
                self.take(key, round(seconds * clock[0]), rule, f"{seconds * 1e6:.4g} us at {clock[0]:.6g} Hz")

    def of_the_groups(self) -> None:
        """What all groups share."""
        groups = self.numbers("cores.groups")
        if groups and self.lacks("scheduling.block_interval", "dispatch_cycles"):
            cycles = self.rules["dispatch_cycles"]
            self.take("scheduling.block_interval", round(cycles * groups[0], 1), "dispatch_cycles",
                      f"a block each {cycles:.4g} cycles over {groups[0]:.0f} groups")  # fmt: skip

    def moved(self) -> tuple[float | None, str, str]:
        """Bytes a second of all partitions, by which rule, and how, in words."""
        if given := self.numbers(BANDWIDTH):
            return given[0], "", f"{BANDWIDTH} {given[0]:.6g}"
        for key, rule in (("measured_bandwidth", "read_efficiency"), ("peak_bandwidth", "efficiency")):
            bandwidth = self.numbers(key)
            if bandwidth and rule in self.rules:
                moved = self.rules[rule] * bandwidth[0]
                note = f"{self.rules[rule]:.4g} of {key} {bandwidth[0]:.6g}"
                peak = self.numbers("peak_bandwidth")
                if key == "measured_bandwidth" and peak and moved > max(peak[0], bandwidth[0]):
                    moved, note = max(peak[0], bandwidth[0]), f"{note}, but no more than peak_bandwidth"
                return moved, rule, note
        return None, "", ""

    def of_the_bandwidth(self) -> None:
        """Partitions, and what a chunk takes one."""
        moved, by, note = self.moved()
        has_service = self.own(SERVICE) and BANDWIDTH not in self.flat
        if moved and self.lacks("memory.partitions", "partition_bandwidth") and not has_service:
            each = self.rules["partition_bandwidth"]
            self.take("memory.partitions", max(1, round(moved / each)), "partition_bandwidth",
                      f"of {each:.4g} bytes/s each: {note}")  # fmt: skip
        chunk = self.numbers("clock_hz", "memory.chunk_words", "memory.word_bytes", "memory.partitions")
        if moved and chunk and not self.own("memory.service"):
            service = chunk[3] * chunk[1] * chunk[2] / (moved / chunk[0])
            self.take("memory.service", round(service, 3), by, f"what all partitions move is {note}")
        has = self.numbers("memory.service")
        if chunk and (given := self.numbers(BANDWIDTH)):
            has = [chunk[3] * chunk[1] * chunk[2] / (given[0] / chunk[0])]
        if has and not self.own("memory.atomic_service") and "memory.atomic_service" not in self.taken:
            self.taken["memory.atomic_service"] = has[0]
            self.sources["memory.atomic_service"] = {"certainty": "assumption", "source": "as service"}
        if has and self.lacks("memory.turnaround", "turnaround"):
            self.take("memory.turnaround", round(self.rules["turnaround"] * has[0], 3), "turnaround",
                      f"{self.rules['turnaround']:.4g} of memory.service")  # fmt: skip
        groups = self.numbers("cores.groups")
        if has and chunk and groups and self.lacks("memory.fetch_interval", "fetch_interval"):
            share = has[0] / chunk[3] * groups[0]
            rule = self.rules["fetch_interval"]
            self.take("memory.fetch_interval", round(rule * share, 3), "fetch_interval",
                      f"{rule:.4g} of a chunk of each group's share of the bandwidth")  # fmt: skip

    def of_the_l2(self) -> None:
        """What a chunk takes its slice of the L2, if there is one."""
        chunk = self.numbers("memory.chunk_words", "memory.word_bytes", "memory.partitions", "cores.groups")
        if not chunk or not any(key.startswith("memory.l2.") for key in (*self.flat, *self.taken)):
            return
        words, word_bytes, partitions, groups = chunk
        for key, rule in (("memory.l2.service", "l2_load_bytes"), ("memory.l2.store_service", "l2_store_bytes")):
            if self.lacks(key, rule):
                each = self.rules[rule]
                dies = (self.numbers("memory.l2.dies") or [1.0])[0]
                self.take(key, round(dies * partitions * words * word_bytes / (each * groups), 3), rule,
                          f"{each:.4g} bytes a cycle of each of {groups:.0f} groups")  # fmt: skip
        if self.numbers("memory.l2.halves") == [2] and self.lacks("memory.l2.far_service", "l2_far_bytes"):
            each = self.rules["l2_far_bytes"]
            self.take("memory.l2.far_service", round(words * word_bytes / (each * groups), 3), "l2_far_bytes",
                      f"{each:.4g} bytes a cycle for each of {groups:.0f} groups")  # fmt: skip
        service = self.numbers("memory.l2.service")
        if service and self.lacks("memory.l2.request_service", "l2_request_share"):
            share = self.rules["l2_request_share"]
            self.take("memory.l2.request_service", round(share * service[0], 3), "l2_request_share",
                      f"{share:.4g} of memory.l2.service")  # fmt: skip


def flattened(tables: Mapping[str, Any], prefix: str = "") -> Flat:
    """Nested tables by dotted key."""
    flat: Flat = {}
    for key, value in tables.items():
        flat.update(flattened(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value})
    return flat


def _set(tables: dict[str, Any], dotted: str, value: Any) -> None:
    """Set a value of nested tables, which are copied as far as they change; None takes it away."""
    *parents, last = dotted.split(".")
    table = tables
    for parent in parents:
        inner = table.get(parent)
        table[parent] = dict(inner) if isinstance(inner, Mapping) else {}
        table = table[parent]
    if value is None:
        table.pop(last, None)
    else:
        table[last] = value


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises MachineError."""
    return read_toml(path, MachineError)


def _read(path: Path) -> dict[str, Any]:
    """A family's file. Raises MachineError."""
    tables = read_tables(path)
    for key in ("rules", "sources"):
        if not isinstance(tables.get(key, {}), dict):
            raise MachineError(f"{path}: {key} = {shown(tables[key])}: must be a table of keys")
    for key in ("donors", "reads"):
        if not isinstance(tables.get(key, []), list):
            raise MachineError(f"{path}: {key} = {shown(tables[key])}: must be a list of machines' names")
    try:
        tables = {**tables, **with_new_keys(tables, MACHINE_KEYS)}
        tables["sources"] = with_new_names(tables.get("sources", {}), MACHINE_KEYS)
    except ValueError as error:
        raise MachineError(f"{path}: {error}") from None
    return with_sizes(tables, str(path))

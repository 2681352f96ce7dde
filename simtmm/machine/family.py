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

RULES = ("latency_seconds", "partition_bandwidth", "efficiency", "read_efficiency", "turnaround", "fetch_interval")
MAY_BE_0 = ("turnaround", "fetch_interval")
MOST_PARENTS = 8
OWN = (
    "name",
    "description",
    "family",
    "donors",
    "reads",
    "sources",
    "rules",
)  # of a family's file, beside a machine's tables
NEVER = ("name", "description", "sources", "family", "changes", "clock_hz", "peak_bandwidth", "measured_bandwidth",
         BANDWIDTH)  # fmt: skip
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
    """A machine's tables with all that they lack and the family has, or that follows from its rules."""
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
        _take_by_rule(family, flat, taken, sources, own)
    except (ArithmeticError, ValueError):  # of numbers that are checked as soon as all are there
        given = ", ".join(f"{key} = {shown(flat[key])}" for key in OF_RULES if key in flat)
        raise MachineError(f"{given}: what follows from them by family {family.name} is no finite number") from None
    filled["sources"] = sources
    for key in absent:
        _set(filled, key, None)
    for key, value in taken.items():
        _set(filled, key, value)
    return filled


def _take_by_rule(family: Family, flat: Flat, taken: Flat, sources: Flat, own: Callable[[str], bool]) -> None:
    """What follows from the family's rules and the machine's clock and bandwidth, where it is not the machine's own."""
    rules = family.rules

    def value(key: str, default: Any = None) -> Any:
        return flat.get(key, taken.get(key, default))

    def numbers(*keys: str) -> list[float] | None:
        found = [value(key, 4 if key == "memory.word_bytes" else None) for key in keys]
        return [float(number) for number in found] if all(map(is_number, found)) else None

    def take(key: str, ruled: float, rule: str, note: str) -> None:
        taken[key] = ruled
        sources[key] = family.source(f"rules.{rule}", note)

    clock = numbers("clock_hz")
    if clock and "latency_seconds" in rules and not own("memory.latency"):
        seconds = rules["latency_seconds"]
        take("memory.latency", round(seconds * clock[0], 1), "latency_seconds",
             f"{seconds * 1e9:.4g} ns at {clock[0]:.6g} Hz")  # fmt: skip
    moved, by, note = None, "", ""  # bytes a second of all partitions
    if given := numbers(BANDWIDTH):
        moved, note = given[0], f"{BANDWIDTH} {given[0]:.6g}"
    for key, rule in (("measured_bandwidth", "read_efficiency"), ("peak_bandwidth", "efficiency")):
        bandwidth = numbers(key)
        if moved is None and bandwidth and rule in rules:
            moved, by = rules[rule] * bandwidth[0], rule
            note = f"{rules[rule]:.4g} of {key} {bandwidth[0]:.6g}"
            peak = numbers("peak_bandwidth")
            if key == "measured_bandwidth" and peak and moved > max(peak[0], bandwidth[0]):
                moved, note = max(peak[0], bandwidth[0]), f"{note}, but no more than peak_bandwidth"
    has_service = own(SERVICE) and BANDWIDTH not in flat
    if moved and "partition_bandwidth" in rules and not own("memory.partitions") and not has_service:
        each = rules["partition_bandwidth"]
        take("memory.partitions", max(1, round(moved / each)), "partition_bandwidth",
             f"of {each:.4g} bytes/s each: {note}")  # fmt: skip
    chunk = numbers("clock_hz", "memory.chunk_words", "memory.word_bytes", "memory.partitions")
    if moved and chunk and not own("memory.service"):
        service = chunk[3] * chunk[1] * chunk[2] / (moved / chunk[0])
        take("memory.service", round(service, 3), by, f"what all partitions move is {note}")
    has = numbers("memory.service")
    if chunk and (given := numbers(BANDWIDTH)):
        has = [chunk[3] * chunk[1] * chunk[2] / (given[0] / chunk[0])]
    if has and not own("memory.atomic_service") and "memory.atomic_service" not in taken:
        taken["memory.atomic_service"] = has[0]
        sources["memory.atomic_service"] = {"certainty": "assumption", "source": "as service"}
    if has and "turnaround" in rules and not own("memory.turnaround"):
        take("memory.turnaround", round(rules["turnaround"] * has[0], 3), "turnaround",
             f"{rules['turnaround']:.4g} of memory.service")  # fmt: skip
    groups = numbers("cores.groups")
    if has and chunk and groups and "fetch_interval" in rules and not own("memory.fetch_interval"):
        share = has[0] / chunk[3] * groups[0]
        take("memory.fetch_interval", round(rules["fetch_interval"] * share, 3), "fetch_interval",
             f"{rules['fetch_interval']:.4g} of a chunk of each group's share of the bandwidth")  # fmt: skip


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

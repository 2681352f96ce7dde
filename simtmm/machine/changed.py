"""What is changed of a machine, and the name that shows it."""

from collections.abc import Mapping
from typing import Any

from simtmm.errors import MachineError
from simtmm.machine.bandwidth import ATOMIC_SERVICE, BANDWIDTH, SERVICE, effective_bandwidth, without_service
from simtmm.machine.spelled import CACHES, factor_of, refuse_turned, size_in_bytes, times

MOST_NAMED = 3  # changes in a machine's name; `changes` has all


class Changes:
    """The tables of a machine whose values are changed one after another."""

    def __init__(self, name: str, tables: dict[str, Any]) -> None:
        self.name, self.tables = name, tables
        self._factors: dict[str, float] = {}
        self._taken_away: list[str] = []
        self._bandwidth = effective_bandwidth(tables)  # before a chunk, say, is changed

    def make(self, dotted: str, value: Any) -> None:
        """Set a value: a number or word, "x0.5" for a multiple, "96KiB" for a size, None for none."""
        where = f"machine {self.name}: {dotted}"
        *parents, last = dotted.split(".")
        table = self.tables
        for parent in parents:
            table = table.setdefault(parent, {})
            if not isinstance(table, dict):
                raise MachineError(f"{where}: {parent} is a value, not a table")
        refuse_turned(where, value)
        factor = factor_of(value)
        if dotted in CACHES and (factor is not None or size_in_bytes(where, value) is not None):
            last, table = ("sets" if factor is not None else "size"), table.setdefault(last, {})
            dotted = f"{dotted}.{last}"
        if factor is not None:
            present = self._bandwidth if dotted == BANDWIDTH else table.get(last)
            value = times(where, present, factor)
            self._factors[dotted] = factor
        if dotted == SERVICE:
            table.pop("bandwidth", None)
        if dotted == BANDWIDTH and value is not None and table.get("bandwidth") is None:
            without_service(self.tables)
        if last == "size" and ".".join(parents) in (*CACHES, "memory"):
            table.pop("sets", None)
        if value is None:
            table.pop(last, None)
            self._taken_away.append(dotted)
        else:
            table[last] = dict(value) if isinstance(value, Mapping) else value

    def follow(self) -> None:
        """Take away what follows from a bandwidth, once all is changed."""
        if self.tables["memory"].get("bandwidth") is not None:
            without_service(self.tables)

    def differences(
        self, before: Mapping[str, Any], after: Mapping[str, Any], earlier: Mapping[str, str]
    ) -> dict[str, str]:
        """All that differs from the machine of the name, by key, earlier changes included."""
        changes = dict(earlier)
        for key in (*after, *(key for key in before if key not in after)):
            follows = key == SERVICE or (key == ATOMIC_SERVICE and after.get(key) == after.get(SERVICE))
            if BANDWIDTH in after and follows:
                changes.pop(key, None)
                continue
            if before.get(key) == after.get(key):
                continue
            whole = next((gone for gone in self._taken_away if key.startswith(f"{gone}.")), None)
            if key not in after and whole is not None:
                changes[whole] = "= none"
                continue
            if key in self._factors and key not in earlier:
                changes[key] = f"x{self._factors[key]:g}"
            else:
                changes[key] = f"= {_shown(after.get(key))}"
        return changes


def named_with(name: str, earlier: Mapping[str, str], changes: Mapping[str, str]) -> str:
    """The name with what is changed behind it, as 'V100 (memory.latency x0.5)'; earlier: those in the name already."""
    return name.removesuffix(suffix(earlier)) + suffix(changes)


def suffix(changes: Mapping[str, str] | None) -> str:
    """What is changed as the end of a name; empty where nothing is.

    changes: new values as texts, by dotted key; None for none.
    """
    if not changes:
        return ""
    shown = [f"{key} {change}" for key, change in list(changes.items())[:MOST_NAMED]]
    more = [f"{len(changes) - MOST_NAMED} more"] if len(changes) > MOST_NAMED else []
    return f" ({', '.join([*shown, *more])})"


def _shown(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

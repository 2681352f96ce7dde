"""Rows of what was booked and counted: by place, line, array or launch, with what follows from them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from simtmm.extras import frame
from simtmm.stalls.levels import Levels
from simtmm.stalls.reasons import REASONS

if TYPE_CHECKING:
    import pandas

Row = dict[str, Any]


class Rows(list[Row]):
    """Rows that all have the same columns."""

    def to_frame(self) -> "pandas.DataFrame":
        """As a pandas.DataFrame. Raises OutputError if pandas is not installed."""
        return frame(self)


def merged(rows: Iterable[Row], keys: Sequence[str], columns: Sequence[str]) -> list[Row]:
    """Rows that have the same keys put together, their columns added; None where a value is not known."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(row[name] for name in keys)
        entry = found.setdefault(key, {**dict(zip(keys, key, strict=True)), **dict.fromkeys(columns, 0)})
        for name in columns:
            entry[name] = None if row[name] is None or entry[name] is None else entry[name] + row[name]
    return list(found.values())


def derived(row: Row, levels: Levels | None) -> Row:
    """The row with what follows from its sums; ratios of nothing are None.

    threads_per_warp, chunks_per_request.
    l1_bytes, l2_bytes, memory_bytes: moved through the memory ports of core groups, to and from the L2, and to and from
    global memory (what a cache writes back is counted nowhere). l1_hit_rate, l2_hit_rate: of the chunks of loads that
    come there, and of atomics that end in the L2. With a shared L1
    likewise shared_l1_bytes and shared_l1_hit_rate; with a last-level cache last_level_bytes and last_level_hit_rate,
    of all that it is read for, too. intensity: floating-point instructions, or operations where their classes are not
    known, for each byte of global memory; intensity_of: which.
    """
    entries: Row = {
        "threads_per_warp": _ratio(row["threads"], row["executions"]),
        "chunks_per_request": _ratio(row["chunks"], row["requests"]),
    }
    if levels is not None:
        loads, stores, atomics = row["loads"], row["stores"], row["atomics"]
        behind_l1 = loads - row["l1_hits"]
        looking = behind_l1 - row["shared_l1_hits"] + atomics * levels.atomics_stay  # into the L2
        entries |= {
            "l1_bytes": (loads + stores + atomics) * levels.chunk_bytes,
            "l2_bytes": row["l2_sectors"] * levels.sector_bytes,
            "memory_bytes": row["memory_sectors"] * levels.sector_bytes,
            "l1_hit_rate": _ratio(row["l1_hits"], loads) if levels.l1 else None,
            "l2_hit_rate": _ratio(row["l2_hits"], looking) if levels.l2 else None,
        }
        if levels.shared_l1:
            entries["shared_l1_bytes"] = row["shared_l1_sectors"] * levels.sector_bytes
            entries["shared_l1_hit_rate"] = _ratio(row["shared_l1_hits"], behind_l1)
        if levels.last_level:
            read = looking - row["l2_hits"] + atomics * (not levels.atomics_stay)
            entries["last_level_bytes"] = row["last_level_sectors"] * levels.sector_bytes
            entries["last_level_hit_rate"] = _ratio(row["last_level_hits"], read)
        counted = row["floating_point_instructions"] or row["thread_instructions"]
        entries["intensity"] = _ratio(counted, entries["memory_bytes"])
        which = "floating-point instructions" if row["floating_point_instructions"] else "operations"
        entries["intensity_of"] = None if entries["intensity"] is None else which
    ticks = {name: row[name] for name in REASONS}
    return {**{name: value for name, value in row.items() if name not in ticks}, **entries, **ticks}


def with_bandwidth(row: Row, levels: Levels | None, cycles: float, clock_hz: float | None) -> Row:
    """The row with the bandwidth of each level: its bytes in the whole of a time, beside the most that it could be.

    In bytes a second, or a cycle where there is no clock.

    levels: bytes that each level of memory could move a second; None where nobody knows.
    cycles: the time that the row's bytes take, in cycles.
    clock_hz: cycles a second; None where there is no clock.
    """
    if levels is None:
        return row
    rate = 1.0 if clock_hz is None else clock_hz
    entries: Row = {}
    for name, peak in levels.peak_of.items():
        achieved = row[f"{name}_bytes"] / cycles * rate if cycles else None
        # Units may be taken beyond the end of a run, by chunks that nobody waits for
        most = None if peak is None else peak * rate
        entries[f"{name}_bandwidth"] = achieved if most is None or achieved is None else min(achieved, most)
        entries[f"{name}_peak"] = most
    ticks = {name: row[name] for name in REASONS}
    return {**{name: value for name, value in row.items() if name not in ticks}, **entries, **ticks}


def _ratio(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole

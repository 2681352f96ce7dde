"""What is counted at places of a program, beside the time that they take: a table by line, array or launch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from simtmm.analysis.run.outcome import Run
from simtmm.report.text import number, rate, share, table
from simtmm.stalls import Row

COLUMNS = (
    ("executions", "times"),
    ("instructions", "warp instr."),
    ("thread_instructions", "thread instr."),
    ("floating_point_instructions", "of them fp"),
    ("threads_per_warp", "threads a warp"),
    ("requests", "requests"),
    ("chunks_per_request", "chunks a request"),
    ("conflicts", "bank conflicts"),
    ("atomics", "atomics"),
)
"""Columns of rows and their headings; one that is 0 or unknown everywhere is left out."""

NAMES = {"l1": "ports", "shared_l1": "shared L1", "l2": "L2", "last_level": "last level", "memory": "memory"}
CACHES = {"l1": "L1 hits", "shared_l1": "shared L1 hits", "l2": "L2 hits", "last_level": "last-level hits"}
WHERE: Mapping[str, Callable[[Row], str]] = {
    "line": lambda row: f"{row['file']}:{row['line']}" if row["line"] else row["source"] or "no line",
    "array": lambda row: row["array"] or "no access",
    "launch": lambda row: str(row["number"]),
}


def counted(run: Run, rows: Sequence[Row], by: str) -> Iterator[RenderableType]:
    """What is counted and what moves, a row each. by: line, array or launch."""
    rows = [row for row in rows if row["executions"] or row["instructions"]]
    columns = [(name, heading) for name, heading in COLUMNS if any(row.get(name) for row in rows)]
    has_warps = any(row.get("achieved_occupancy") is not None for row in rows)
    headings = ["", *(heading for _, heading in columns), *["occupancy"] * has_warps]
    cells = [
        [
            WHERE[by](row),
            *(_number(row[name]) for name, _ in columns),
            *[_share(row.get("achieved_occupancy"))] * has_warps,
        ]
        for row in rows
    ]
    yield table("What is counted there", headings, cells, gap=2)
    moving = [row for row in rows if row.get("l1_bytes")]
    if moving:
        yield ""
        yield _moved(moving, by, "s" if run.result.clock_hz is not None else "cycle")


def _moved(rows: Sequence[Row], by: str, per: str) -> RenderableType:
    """What moves between core groups, caches and memory."""
    levels = [level for level in NAMES if any(row.get(f"{level}_bytes") for row in rows)]
    caches = [level for level in CACHES if any(row.get(f"{level}_hit_rate") is not None for row in rows)]
    headings = ["", "bytes asked for", *(f"by {NAMES[level]}" for level in levels)]
    headings += [CACHES[level] for level in caches]
    headings += [f"{NAMES[level]}, of peak" for level in levels] + ["instr. a byte"]
    cells = [
        [
            WHERE[by](row),
            _number(row["bytes_asked"]),
            *(_number(row[f"{level}_bytes"]) for level in levels),
            *(_share(row[f"{level}_hit_rate"]) for level in caches),
            *(_bandwidth(row, level, per) for level in levels),
            _intensity(row),
        ]
        for row in rows
    ]
    return table("What moves, in bytes", headings, cells, gap=2)


def _number(value: float | None) -> str:
    return number(value) if value else ""


def _share(part: float | None) -> str:
    return "" if part is None else share(part, 1)


def _bandwidth(row: Mapping[str, Any], level: str, per: str) -> str:
    achieved, peak = row[f"{level}_bandwidth"], row[f"{level}_peak"]
    if not achieved:
        return ""
    of = f", {share(achieved, peak)}" if peak else ""
    return f"{rate(achieved, f'bytes/{per}')}{of}"


def _intensity(row: Mapping[str, Any]) -> str:
    if row["intensity"] is None:
        return ""
    return f"{row['intensity']:.3g} {'fp' if row['floating_point_instructions'] else 'op.'}"

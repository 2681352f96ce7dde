"""The beginning of docs/accuracy.md: how far off, on which kind of kernel, and how often a decision is right."""

from collections.abc import Sequence

from simtmm.model.series import label
from simtmm.validation.accuracy import Accuracy
from simtmm.validation.glance import APART, FITTED, decisions, glance

PICTURE = "glance"  # the file's name beside those of tables
TEXT = """\
How far off simulated times are, by kind of kernel and by what was known of the GPU. *Fitted* points decided values
of their machine: they show how well the machine can be described, and predict nothing. *Predicted* points were run on a
GPU that other kernels calibrated. *Predicted from relatives* means that other GPUs of the family decided, with at most
a pointer chase and one bandwidth of this one.
"""
DECISIONS = """\
How often the faster of two versions is called faster. Versions do the same work with another block, another number of
blocks on a multiprocessor, or another algorithm; each pair in a table counts, by how far apart the two were measured.
"""


def at_a_glance(tables: Sequence[Accuracy]) -> tuple[tuple[Sequence[str], list[list[str]]], ...]:
    """Columns and rows of both tables: errors by kind, and decisions. No rows where nothing was measured."""
    from simtmm.report.accuracy.tables import percent

    errors = [
        [
            row.kind,
            row.decided,
            ", ".join(f"`{name}`" for name in row.machines),
            f"{row.points:,}",
            percent(row.mean),
            percent(row.median),
            percent(row.worst, sign=True),
            "-" if row.best is None else f"{percent(row.best[1])}, {label(row.best[0])}",
        ]
        for row in glance(tables)
    ]
    found = decisions(tables)
    right = {(row.decided, row.apart): row for row in found}
    calls = []
    for decided in dict.fromkeys(row.decided for row in found):
        cells = []
        for apart in APART:
            row = right.get((decided, apart))
            cells.append("-" if row is None else f"{percent(row.right / row.pairs)} of {row.pairs:,}")
        calls.append([decided, *cells])
    return (
        (("kernels", "points are", "on", "points", "mean error", "median", "largest", "best model"), errors),
        (("points are", *(f"over {apart:.0%} apart".replace("%", " %") for apart in APART)), calls),
    )


__all__ = ["DECISIONS", "FITTED", "PICTURE", "TEXT", "at_a_glance"]

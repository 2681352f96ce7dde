"""What is known of a study, whichever way it is computed and kept: point by point, or as columns."""

from collections.abc import Callable
from pathlib import Path

from simtmm.errors import StudyError
from simtmm.study.forecast import Forecast, forecast, forecast_sheet
from simtmm.study.layout import Layout
from simtmm.study.plan import plan
from simtmm.study.results import Known, gather
from simtmm.study.sheet import is_sheet, read_sheet, sweep_sheet
from simtmm.study.store.store import Store
from simtmm.study.sweep import sweep

Watch = Callable[[str, int, int | None], None]  # stage, done, total


def known(laid: Layout, store: Store) -> Known:
    """What a store has of a study. Raises StudyError for what is damaged, and where all it has is of something else."""
    store.check()
    found = read_sheet(laid, store) if is_sheet(laid) else gather(plan(laid), store)
    if found.number("open") == len(found) and (store.finished() or store.parts()):
        raise StudyError(
            f"{store.path}: its points are of another study or were computed by another simtmm: run it again"
        )
    return found


def computed(
    laid: Layout,
    store: str | Path = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Known:
    """Compute what a store lacks of a study, and give all of it: `sweep.sweep`, or `sheet.sweep_sheet` where it is a
    large one of closed forms, which needs neither workers nor a cluster.
    """
    return sweep_sheet(laid, store, watch) if is_sheet(laid) else _swept(laid, store, workers, cluster, watch)


def _swept(laid: Layout, store: str | Path, workers: int | None, cluster: str | None, watch: Watch | None) -> Known:
    return sweep(plan(laid, watch=watch), store, workers, cluster, watch)


def foreseen(laid: Layout, store: str | Path, workers: int | None = None) -> Forecast:
    """How many points a study has and about how long it would take."""
    return forecast_sheet(laid, store) if is_sheet(laid) else forecast(plan(laid), store, workers)

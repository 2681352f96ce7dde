"""A study: a program over ranges of machine keys and parameters."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simtmm.errors import StudyError, shown
from simtmm.study.known import computed
from simtmm.study.layout import layout, layout_file
from simtmm.study.results import Known
from simtmm.study.study_file import study_of

Watch = Callable[[str, int, int | None], None]  # stage, done, total where it is known


def sweep(
    study: str | Path | Mapping[str, Any],
    store: str | Path = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Known:
    """Run a study, or what its store lacks of it, and give all its points; `simtmm sweep` as a function.

    study: the path of a study file (.toml), or its tables as a dict; docs/studies.md lists them.
    store: an SQLite file that keeps what is done, made if it is not there; nothing is kept if left out.
    workers: processes on this computer, one for each core if left out; 1 runs in this process.
    cluster: a Dask cluster instead, tcp://HOST:PORT, or local:N for N workers here.
    watch: called with (stage, points done, points to do).

    What it gives has `to_table()` (Arrow), `to_frame()` (pandas), `save(path)` and `to_dict()`. A point that fails is
    told in its row. A script that has several workers needs `if __name__ == "__main__":`, as any process pool does.

    Raises StudyError for what is wrong with the study or its store, and the errors of its programs and machines.
    """
    if isinstance(study, Mapping):
        laid = layout(study_of(study))
    elif isinstance(study, (str, Path)):
        laid = layout_file(study)
    else:
        raise StudyError(f"study = {shown(study)}: must be a path to a study file (.toml), or a dict of its tables")
    return computed(laid, store, workers, cluster, watch)

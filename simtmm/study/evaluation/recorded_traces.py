"""Recorded traces: those of kernels that studies run, kept in the user's cache folder."""

import hashlib
import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from simtmm import cache, own_faults
from simtmm.cache.room import prune
from simtmm.provenance import sources
from simtmm.recorder import record
from simtmm.temporary import remove_parts
from simtmm.trace.io import load_trace

logger = logging.getLogger("simtmm")

TRACES = "traces"  # the folder in the user's cache
MOST_KEPT = 8 << 30  # bytes of traces that stay there
STALE = 86_400.0  # seconds after which half a trace has been left behind by a killed process


def recorded(
    kernel: str, digest: str, parameters: Mapping[str, Any], architecture: int | None = None, form: str | None = None
) -> Path:
    """The trace of a kernel as a file in the user's cache folder, recorded if it is not there yet.

    digest: of the kernel's files. architecture: what it is compiled for, where it is recorded as compiled. form: how
    it is recorded, where that is not what suits it. Raises the errors of recording.
    """
    folder, place = cache.own_folder(TRACES), trace_key(kernel, digest, parameters, architecture, form)
    path = cache.find(folder, *place)
    if path is not None:
        info = load_trace(path).info
        for fault in info.faults:
            own_faults.note(fault)
        for warning in info.doubts:
            logger.warning("warning: %s: %s", Path(kernel).name, warning)
        return path
    return cache.keep(
        folder,
        *place,
        lambda temporary: record(kernel, parameters, output=temporary, architecture=architecture, form=form),
        most=None,  # `prune_traces` knows which ones are needed
    )


def is_recorded(kernel: str, digest: str, parameters: Mapping[str, Any], architecture: int | None = None) -> bool:
    """Whether `recorded` need probably not record it."""
    return cache.is_kept(cache.own_folder(TRACES), *trace_key(kernel, digest, parameters, architecture))


def trace_key(
    kernel: str, digest: str, parameters: Mapping[str, Any], architecture: int | None = None, form: str | None = None
) -> tuple[str, str, str]:
    """What `recorded` keeps a trace by: the kernel's name, a hash of all that decides the trace, and a suffix."""
    content: list[Any] = [digest, dict(parameters), sources("recorder", "trace", "kernel.py", "parameter")]
    if architecture is not None:
        from simtmm.cuda.compilers.release import compilers_key  # late: most kernels are recorded as written

        content += [architecture, sources("cuda"), compilers_key()]
    if form is not None:
        content.append(form)
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]
    return Path(kernel).name, key, ".parquet"


def remove_half_traces() -> None:
    """Remove what killed processes left behind."""
    remove_parts(cache.own_folder(TRACES), STALE)


def prune_traces(keep: Collection[tuple[str, str, str]]) -> None:
    """Remove what killed processes left behind, and the traces used least recently beyond MOST_KEPT bytes.

    keep: by `trace_key`, those that are needed now.
    """
    folder = cache.own_folder(TRACES)
    needed = tuple(f"{label}-{key}-" for label, key, _ in keep)
    remove_half_traces()
    prune(
        folder,
        "*.parquet",
        MOST_KEPT,
        lambda path: path.name.startswith(needed),
        lambda path: path.unlink(missing_ok=True),
    )

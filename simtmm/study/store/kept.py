"""Kept stores: those of commands that are given none, one for each program, in the user's cache folder."""

import hashlib
import logging
import re
from pathlib import Path

from simtmm import cache
from simtmm.cache.room import prune, used
from simtmm.errors import StudyError
from simtmm.provenance import computed_by
from simtmm.study.store.store import Store

logger = logging.getLogger("simtmm")

STORES = "studies"  # the folder in the user's cache
MOST_KEPT = 1 << 30  # bytes of stores that stay there
SUFFIX = ".sqlite"
BESIDE = ("-wal", "-shm")  # files that SQLite has beside a store while it is open


def kept_store(name: str, digest: str) -> Path:
    """The store in the user's cache folder of a program, whatever its parameters and the machine.

    name: of the program, for people who look into the folder. digest: of its content. What this simtmm did not compute
    is in others; those used least recently go where they take too much room. One that can't be repaired is made anew.
    """
    folder = cache.own_folder(STORES)
    key = hashlib.sha256(f"{digest} {computed_by()}".encode()).hexdigest()[:20]
    path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', Path(name).stem)[:40] or 'program'}-{key}{SUFFIX}"
    if path.exists():
        try:
            with Store(path) as store:
                store.mended(store.check)
        except StudyError as error:
            logger.warning("warning: %s; it is recreated", error)
            _remove(path)
        used(path)
    prune(folder, f"*{SUFFIX}", MOST_KEPT, path.__eq__, _remove)
    return path


def _remove(path: Path) -> None:
    for ending in ("", *BESIDE):
        path.with_name(path.name + ending).unlink(missing_ok=True)

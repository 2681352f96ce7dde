"""Names that have changed: what people wrote down with an old one keeps its meaning.

In Python an old name is taken silently; in a user's files and on the command line a line on standard error says the
new one, once.
"""

import functools
import logging
from collections.abc import Mapping
from typing import Any, TypeVar

logger = logging.getLogger("simtmm")

MACHINE_KEYS = {
    "cores.threads_per_core": "cores.max_threads_per_core",  # the name of T, the threads in use
    "resources.local_memory": "resources.shared_memory",  # to CUDA, local memory is a thread's own
}
KERNELS = {"local-chase": "shared-chase"}
PARAMETERS = {  # of shipped kernels
    "stream": {"local_memory": "shared_memory"},
    "merge-sort": {"local_elements": "shared_elements"},
    "odd-even-merge-sort": {"local_elements": "shared_elements"},
}
LAUNCH_KEYS = {"local_memory_bytes": "shared_memory_bytes"}

Entry = TypeVar("Entry")


def with_new_names(table: Mapping[str, Entry], renamed: Mapping[str, str]) -> dict[str, Entry]:
    """A table with its old keys renamed, in their place.

    table: by key.
    renamed: the new name of each old one.

    Raises ValueError where a key is there by both names.
    """
    for old, new in renamed.items():
        if old in table and new in table:
            raise ValueError(f"{old}: is the old name of {new}: give only one of them")
    return {renamed.get(key, key): entry for key, entry in table.items()}


def old_names(tables: Mapping[str, Any], renamed: Mapping[str, str]) -> list[str]:
    """The old names, dotted, that are keys of nested tables.

    tables: by key, as TOML has them.
    renamed: the new name of each old one.
    """
    found = []
    for old in renamed:
        table: Any = tables
        for part in old.split("."):
            table = table.get(part) if isinstance(table, Mapping) else None
        if table is not None:
            found.append(old)
    return found


def with_new_keys(tables: Mapping[str, Any], renamed: Mapping[str, str]) -> Mapping[str, Any]:
    """Nested tables with their old keys renamed, each within its table.

    tables: by key, as TOML has them.
    renamed: the new name of each old one.

    Raises ValueError as `with_new_names` does.
    """
    for old in old_names(tables, renamed):
        (parent, last), new = old.split("."), renamed[old]
        if new.split(".")[1] in tables[parent]:
            raise ValueError(f"{old}: is the old name of {new}: give only one of them")
        tables = {**tables, parent: with_new_names(tables[parent], {last: new.split(".")[1]})}
    return tables


@functools.cache
def tell(where: str, old: str, new: str) -> None:
    """Say a name's new form, once for each place.

    where: the file, for messages.
    old, new: both names.
    """
    logger.warning("notice: %s: %s is now called %s", where, old, new)


def renamed_with_notice(where: str, table: Mapping[str, Entry], renamed: Mapping[str, str]) -> dict[str, Entry]:
    """`with_new_names`, and the new names are renamed_with_notice.

    where: the file, for messages.
    table: by key.
    renamed: the new name of each old one.
    """
    renamed_table = with_new_names(table, renamed)
    for old in table:
        if old in renamed:
            tell(where, old, renamed[old])
    return renamed_table

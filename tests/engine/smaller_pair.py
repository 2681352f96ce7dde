"""A machine and a workload that fail, made as small as still fails: keys and parts are left out one by one."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

Tables = dict[str, Any]
Fails = Callable[[Tables, Tables], bool]
MOST_TRIES = 5_000


def smaller(machine: Tables, workload: Tables, fails: Fails) -> Tables:
    """The pair, as {"machine": ..., "workload": ...}, without what it fails without.

    fails: whether a pair fails; asked at most MOST_TRIES times.
    """
    pair = {"machine": deepcopy(machine), "workload": deepcopy(workload)}
    tries, last = 0, None
    while pair != last:
        last = pair
        for way in list(_ways(pair)):
            tries += 1
            tried = _without(pair, way)
            if tried is not None and fails(tried["machine"], tried["workload"]):
                pair = tried
            if tries == MOST_TRIES:
                return pair
    return pair


def _ways(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all parts of a value: of lists from behind, a whole before its parts."""
    parts = list(value.items()) if isinstance(value, dict) else []
    parts = list(enumerate(value))[::-1] if isinstance(value, list) else parts
    for key, part in parts:
        yield (*path, key)
        yield from _ways(part, (*path, key))


def _without(pair: Tables, path: tuple[Any, ...]) -> Tables | None:
    """The pair without a part, None where that is gone already. Sides stay."""
    if len(path) == 1:
        return None
    copied: Any = deepcopy(pair)
    part = copied
    for key in path[:-1]:
        try:
            part = part[key]
        except (KeyError, IndexError, TypeError):
            return None
    try:
        del part[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return dict(copied)

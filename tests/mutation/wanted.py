"""A plugin of pytest: of the functions that it is given, these tests alone, as many of them as there still are.

pytest itself runs no test at all where one of those that it is to run isn't there, as an example that was renamed.
"""

import json
import os
from pathlib import Path
from typing import Any

WANTED = "SIMTMM_WANTED_TESTS"  # a variable: a file with the names of tests, functions and files


def given_to_pytest(tests: list[str]) -> list[str]:
    """Their functions, each once: an example's name is looked for in all of its function's."""
    return list(dict.fromkeys(test.partition("[")[0] for test in tests))


def pytest_collection_modifyitems(items: list[Any]) -> None:
    wanted, left_out = map(set, json.loads(Path(os.environ[WANTED]).read_text(encoding="utf-8")))

    def names(item: Any) -> set[str]:
        return {item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]}

    items[:] = [item for item in items if not wanted.isdisjoint(names(item)) and item.nodeid not in left_out]

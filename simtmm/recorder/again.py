"""A program that failed, run again with warps in other orders, each time in a process of its own.

What it prints then goes nowhere, and it has no input. It does all else again: a file that it writes is written again.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simtmm.children.start import NOTHING, ended_within, python
from simtmm.cuda.disagreement.order_trial import TRIED, WORDS, InOrder, OrderFound
from simtmm.temporary import own_prefix
from simtmm.watch import telling

LEAST_SECONDS, TIMES = 60.0, 4.0  # that a program may take: so many times what it took first, and at least so long
BY_SIGNAL = 128  # exit statuses from here on are of a signal, and no check's


def seconds_for(first: float) -> float:
    """Seconds that a program may take which took so many first.

    first: seconds that it took at first.
    """
    return max(LEAST_SECONDS, TIMES * first)


def run_again(module: str, request: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
    """What came of a program: what the process has written to its outcome's file, with its exit status.

    module: run as `python -m module FILE`, with the request in the file, and `outcome` in that. seconds: that it may
    take. Gives None where it takes longer, or has written nothing.
    request: what the program reads, which JSON can hold.
    """
    with tempfile.TemporaryDirectory(prefix=own_prefix("again")) as folder:
        file, outcome = Path(folder) / "request.json", Path(folder) / "outcome.json"
        paths = {"outcome": str(outcome), "output": str(Path(folder) / "trace.parquet")}
        file.write_text(json.dumps({**request, **paths}))
        child = python(module, [str(file)], stdin=NOTHING, stdout=NOTHING, stderr=NOTHING, is_awaited=True)
        try:
            status = ended_within(child.process, seconds)
        finally:
            child.end()
        if status is None or not outcome.is_file():
            return None
        reply: dict[str, Any] = json.loads(outcome.read_text())
        return {**reply, "status": status}


def in_other_orders(name: str, status: int, once: Callable[[str], dict[str, Any] | None]) -> OrderFound:
    """Whether a program fails in other orders of its warps as well, and what its launches leave then.

    name: of the program. status: with which it ended. once: runs it in an order, and gives what `run_again` does, with
    `differs` and `is_compared` of an OrderTrial.
    """
    tried: list[InOrder] = []
    for order in TRIED:
        telling(f"running {name} again, with warps {WORDS[order]}")
        reply = once(order)
        if reply is None:
            continue
        is_as_before, differs = reply["status"] == status, str(reply["differs"])
        if not is_as_before and not differs and reply["is_compared"]:
            return OrderFound(())  # it fails for something else that changes from run to run
        tried.append(InOrder(order, is_as_before, f"{name} ends with exit status {reply['status']}", differs))
        if tried[-1].tells:
            break
    return OrderFound(tuple(tried))

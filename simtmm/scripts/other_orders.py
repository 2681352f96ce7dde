"""A script that failed, run again with its warps in other orders."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simtmm.cuda.checks.active import active
from simtmm.cuda.disagreement.order_trial import OrderFound
from simtmm.device.own_clock import OwnClock
from simtmm.machine import Machine
from simtmm.recorder.again import in_other_orders, run_again, seconds_for
from simtmm.scripts.run import FAILED


def script_in_other_orders(
    path: str | Path,
    arguments: Sequence[str],
    machine: Machine | None,
    elementwise: bool,
    clock: OwnClock | None,
    seconds: float,
) -> OrderFound:
    """What a script does in other orders that ended with an exception. The arguments are those of its run.

    elementwise: whether functions of CuPy become kernels. seconds: that it took.
    arguments: words of its command line.
    """
    checker = active()
    if checker is not None and checker.checks.any:  # which looks for races
        return OrderFound(())
    how = clock or OwnClock(has_host_time=False)
    request = {
        "path": str(path),
        "arguments": list(arguments),
        "machine": None if machine is None else machine.to_dict(),
        "elementwise": elementwise,
        "clock": [how.kind, how.has_host_time],
    }

    def once(order: str) -> dict[str, Any] | None:
        return run_again("simtmm.scripts.child", {**request, "order": order}, seconds_for(seconds))

    return in_other_orders(Path(path).name, FAILED, once)

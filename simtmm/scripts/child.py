"""The process in which a script that failed runs again: `simtmm.scripts.child FILE`, with the request in the file."""

import json
import sys
from pathlib import Path
from typing import Any

from simtmm.cuda.disagreement.order_trial import OrderTrial
from simtmm.cuda.instead import trying
from simtmm.device.own_clock import OwnClock
from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.scripts.options import options
from simtmm.scripts.recording import recording
from simtmm.scripts.run import FAILED, run_script


def main(request: dict[str, Any]) -> int:
    """Run a script in an order of its warps, and write down what was seen. Gives its exit status."""
    trial = OrderTrial(request["order"])
    machine = None if request["machine"] is None else Machine.from_dict(request["machine"])
    try:
        with options(elementwise=request["elementwise"]), trying(trial):
            under_way = recording(machine, sample_blocks=1, output=request["output"])
            status = run_script(request["path"], request["arguments"], under_way, OwnClock(*request["clock"])).status
    except SimtmmError:
        status = FAILED
    Path(request["outcome"]).write_text(json.dumps({"differs": trial.differs, "is_compared": trial.is_compared}))
    return status


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text())))

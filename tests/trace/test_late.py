"""What a run in memory does without: Arrow, which takes as long to import as a small simulation takes."""

import subprocess
import sys

CODE = """
import sys, simtmm
machine, trace = simtmm.load_machine("gtx480"), simtmm.record("stream", {"n": 1024})
assert simtmm.simulate(machine, simtmm.lower(trace, machine)).ticks > 0
assert sum(len(batch.events) for batch in trace.batches()) == trace.info.events
print("pyarrow" in sys.modules)
print(trace.to_table().num_rows == trace.info.events, "pyarrow" in sys.modules)
"""


def test_a_trace_in_memory_needs_no_arrow():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]

"""A program of many small launches: launches bind, and one launch or a graph of them is the advice."""

from pathlib import Path

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.engine import causes
from simtmm.program import Program
from simtmm.programs.program import cuda_program
from tests.analysis.why_slow.further_questions import STEPS
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code


def test_a_step_for_each_launch_is_slow_by_launches_and_all_steps_in_one_or_a_graph_would_help(tmp_path):
    machine = load_machine("rtx-3080")
    trace = cuda_program([Path(__file__).parent / STEPS]).run(machine, tmp_path / "trace.parquet").trace
    done = run(Program("steps", {}, trace), machine)
    assert done.verdict.cause == causes.LAUNCHES
    assert {each.change for each in done.advice[:2]} == {"fuse", "graph"}

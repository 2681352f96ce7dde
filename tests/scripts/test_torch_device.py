"""torch.cuda as recorded scripts have it."""

import subprocess
import sys
import textwrap

import pytest

from simtmm.scripts.triton.torch_device import _answers


def test_each_name_has_a_function_of_its_own():
    """Torch knows its functions by identity, and takes one under two names for a mistake of its own."""
    answers = _answers()
    assert len({id(answer) for answer in answers.values()}) == len(answers)
    for name, answer in answers.items():
        if not isinstance(answer, type):
            assert (answer.__name__, answer.__qualname__, answer.__module__) == (name, name, "torch.cuda")


def test_torch_dynamo_is_imported_while_a_script_is_recorded():
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    script = """
        import simtmm, torch, triton
        with simtmm.recording(machine="h100-sxm"):
            from torch._dynamo import trace_rules  # not before: it looks at torch.cuda as it is now
            trace_rules.get_torch_obj_rule_map()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr

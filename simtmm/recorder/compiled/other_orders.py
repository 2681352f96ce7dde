"""A kernel whose check failed, run again with warps in other orders."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simtmm.cuda.checks.active import active
from simtmm.cuda.compilers import architecture_of_today
from simtmm.cuda.disagreement.order_trial import TRIED, InOrder, OrderFound, OrderTrial
from simtmm.cuda.instead import trying
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import SimtmmError, one_line
from simtmm.kernel import Array, Kernel, Wrong
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of


def in_other_orders(
    kernel: Kernel,
    parameters: Mapping[str, int | float | str],
    before: Mapping[str, Array],
    wrong: Wrong | None = None,
) -> OrderFound:
    """What the check says of a kernel, compiled, in each other order. Of what does not compile nothing is tried.

    before: the arrays as they are before the first launch. wrong: what the check said of it, compiled; if left out, it
    is run in ascending order first.
    """
    checker = active()
    if checker is not None and checker.checks.any:  # which looks for races
        return OrderFound(())
    tried: list[InOrder] = []
    try:
        linked = module_of(kernel, parameters, architecture_of_today())
        again = _Again(kernel, parameters, before, linked)
        usual = again.outcome() if wrong is None else (str(wrong), f"the answer is wrong ({wrong})")
        for order in TRIED:
            trial = OrderTrial(order)
            with trying(trial):
                message, words = again.outcome()
            # Values of a wrong answer may differ by rounding, which comparisons know
            is_as_before = message == usual[0] or (bool(message and usual[0]) and trial.is_compared)
            tried.append(InOrder(order, is_as_before, words, trial.differs))
            if tried[-1].tells:
                break
    except SimtmmError:
        return OrderFound(())
    return OrderFound(tuple(tried))


@dataclass(frozen=True)
class _Again:
    """A kernel that can be run as often as one likes."""

    kernel: Kernel
    parameters: Mapping[str, int | float | str]
    before: Mapping[str, Array]
    linked: LinkedModule

    def outcome(self) -> tuple[str, str]:
        """What is wrong, "" for nothing, and that in words."""
        arrays = {name: np.array(array, order="C") for name, array in self.before.items()}
        execution = CompiledLaunches(self.linked, arrays, 0, f"kernel {self.kernel.name}")
        try:
            for number, launch in enumerate(self.kernel.launches(self.parameters, arrays)):
                execution.just_run(launch, number)
        except SimtmmError as error:
            return str(error), f"it ends with an error ({one_line(str(error))})"
        found = self.kernel.check(self.parameters, self.before, arrays)
        return ("", "the answer is right") if found is None else (str(found), f"the answer is wrong ({found})")


def told(
    kernel: Kernel,
    parameters: Mapping[str, int | float | str],
    before: Mapping[str, Array],
    wrong: Wrong | None = None,
) -> str:
    """The same as the end of a message on the wrong answer; "" where the order does not decide it."""
    found = in_other_orders(kernel, parameters, before, wrong)
    return f". {found.words.removesuffix('.')}" if found.decides else ""

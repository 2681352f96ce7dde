"""The space: every configuration that the axes give and the constraints admit."""

from collections.abc import Mapping, Sequence

from simtmm.errors import StudyError
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.study.design.axes import Value, axis, flattened, product, size
from simtmm.study.design.constraints import constraint

MOST_CONFIGURATIONS = 100_000  # that are enumerated


def configurations(
    kernel: Kernel, machine: Machine, over: Mapping[str, object], fixed: Mapping[str, object], where: Sequence[str]
) -> tuple[list[dict[str, Value]], int]:
    """The configurations that are tried, and how many combinations the constraints leave out.

    over: ranges or lists of values by parameter (simtmm.study.design.axes). fixed: values of other parameters. where:
    constraints on the kernel's parameters and the machine's keys (simtmm.study.design.constraints).

    Raises KernelError for a parameter or a value that the kernel does not take, StudyError for a constraint that can't
    be computed, and where nothing is left.
    """
    if not over:
        raise StudyError(f"kernel {kernel.name}: there is nothing to choose: give --over NAME=VALUES")
    both = [name for name in over if name in fixed]
    if both:
        raise StudyError(f"--over {both[0]}: is fixed by --param {both[0]}={fixed[both[0]]}")
    axes = [axis(name, given) for name, given in over.items()]
    for each in axes:
        for value in each.values:
            kernel.resolve({**fixed, each.name: value})
    number = size([[each] for each in axes])
    if number > MOST_CONFIGURATIONS:
        raise StudyError(f"--over: {number:,} configurations: must be at most {MOST_CONFIGURATIONS:,}")
    conditions = [constraint(text) for text in where]
    of_machine = flattened(machine.to_dict())
    kept = []
    for chosen in product([[each] for each in axes]):
        values = {**of_machine, **kernel.resolve({**fixed, **chosen})}
        if all(condition.holds(values) for condition in conditions):
            kept.append(chosen)
    if not kept:
        raise StudyError(f"--where: leaves none of {number:,} configurations")
    return kept, number - len(kept)

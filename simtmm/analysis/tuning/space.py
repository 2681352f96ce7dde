"""The space: every configuration that the axes give and the constraints admit."""

from collections.abc import Iterator, Mapping, Sequence

from simtmm.analysis.tuning.trial import Subject
from simtmm.errors import MachineError, StudyError, nearest
from simtmm.machine.spec import units
from simtmm.machine.spelled import factor_of, size_in_bytes
from simtmm.study.design.axes import Axis, Value, axis, product, size
from simtmm.study.design.constraints import Constraint, constraint
from simtmm.study.design.design import is_machine_key, whole_key

MOST_CONFIGURATIONS = 100_000  # that are enumerated


class Space:
    """The combinations of what is tried.

    axes: of the kernel's parameters and of the machine's keys. size: how many combinations they have.
    """

    def __init__(self, subject: Subject, over: Mapping[str, object], where: Sequence[str]) -> None:
        """over: ranges or lists of values by name (simtmm.study.design.axes). where: constraints on the kernel's
        parameters and the machine's keys.

        Raises KernelError for a parameter or a value that the kernel does not take, MachineError for a value that the
        machine does not take, StudyError for another name or a constraint that can't be computed.
        """
        self._subject = subject
        if not over:
            raise StudyError(f"kernel {subject.kernel.name}: nothing to tune: give --over NAME=VALUES")
        both = [name for name in over if name in subject.fixed]
        if both:
            raise StudyError(f"--over {both[0]}: is fixed by --param {both[0]}={subject.fixed[both[0]]}")
        self.axes = tuple(_axis(subject, name, given) for name, given in over.items())
        for each in self.axes:
            _check(subject, each)
        self.size = size([[each] for each in self.axes])
        self._conditions: tuple[Constraint, ...] = tuple(constraint(text) for text in where)

    def admits(self, configuration: Mapping[str, Value]) -> bool:
        """Whether the constraints admit it; those on a machine that can't be are for its trial to tell."""
        if not self._conditions:
            return True
        try:
            values = self._subject.values(configuration)
        except MachineError:
            return True
        return all(condition.holds(values) for condition in self._conditions)

    def combinations(self) -> Iterator[dict[str, Value]]:
        """All of them, in order, what the constraints leave out included. Raises StudyError for too many."""
        if self.size > MOST_CONFIGURATIONS:
            raise StudyError(
                f"--over: {self.size:,} configurations: must be at most {MOST_CONFIGURATIONS:,}, or sample "
                "them: --sampler tpe"
            )
        return product([[each] for each in self.axes])

    def admitted(self) -> tuple[list[dict[str, Value]], int]:
        """Those that the constraints admit, and how many they leave out. Raises StudyError where nothing is left."""
        kept = [each for each in self.combinations() if self.admits(each)]
        if not kept:
            raise StudyError(f"--where: excludes all {self.size:,} configurations")
        return kept, self.size - len(kept)


def _axis(subject: Subject, name: str, given: object) -> Axis:
    parameters = subject.kernel.parameters
    if name in parameters:
        return axis(name, given, whole=isinstance(parameters[name].default, int))
    if is_machine_key(name):
        return axis(name, given, whole=whole_key(name))
    if "." in name:
        keys = [key for key in units() if is_machine_key(key)]
        raise StudyError(f"--over {name}: neither a parameter nor a machine's key{nearest(name, keys, ())}")
    return axis(name, given)  # which the kernel refuses


def _check(subject: Subject, tried: Axis) -> None:
    """Refuse values that no configuration can have."""
    if not subject.is_of_machine(tried.name):
        for value in tried.values:
            subject.kernel.resolve({**subject.fixed, tried.name: value})
        return
    for value in tried.values:
        if factor_of(value) is not None or size_in_bytes(f"--over {tried.name}", value) is not None:
            raise StudyError(f"--over {tried.name}={value}: must be a plain number: multiples and sizes are for --set")

"""Parameter: what can be given to a kernel, as data: its default, what is allowed, and what it means."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simtmm.errors import KernelError, nearest, shown
from simtmm.renamed import PARAMETERS, renamed_with_notice


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its kind (from the default), range or choices, and meaning."""

    default: int | float | str
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[int | float | str, ...] | None = None

    def __post_init__(self) -> None:
        if type(self.default) not in (int, float, str):
            raise TypeError(f"a parameter's default must be an int, a float or a str, not {shown(self.default)}")

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        if self.choices is not None:
            return f"one of {', '.join(str(choice) for choice in self.choices)}"
        kind = {int: "a whole number", float: "a number", str: "a word"}[type(self.default)]
        if self.minimum is not None and self.maximum is not None:
            return f"{kind} from {self.minimum:.12g} to {self.maximum:.12g}"
        if self.minimum is not None:
            return f"{kind} of at least {self.minimum:.12g}"
        return f"{kind} of at most {self.maximum:.12g}" if self.maximum is not None else kind

    def parse(self, value: object) -> int | float | str:
        """Convert a value, or its text on the command line, to this parameter's kind.

        value: a number, or a text that reads as one.

        Raises ValueError.
        """
        parsed = _of_kind(self, value)
        if self.choices is not None and parsed not in self.choices:
            raise ValueError
        if not isinstance(parsed, str):
            low = -np.inf if self.minimum is None else self.minimum
            high = np.inf if self.maximum is None else self.maximum
            if not low <= parsed <= high:
                raise ValueError
        return parsed


SEED = Parameter(0, "seed of the random inputs", minimum=0)  # a parameter of every kernel
OWN_GRAPH = "own_graph"  # the parameter that says which graph of a user's it was, and what host.py sees of that


def is_of_kind(parameter: Parameter, value: object) -> bool:
    """Whether a value reads as a whole number, a number or a word, as the parameter is; in its range or not.

    value: a number, a text or anything else.
    """
    try:
        _of_kind(parameter, value)
    except (ValueError, OverflowError):
        return False
    return True


def _of_kind(parameter: Parameter, value: object) -> int | float | str:
    kind = type(parameter.default)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, np.integer, np.floating)):
        raise ValueError
    if kind is int and not isinstance(value, str) and value != int(value):
        raise ValueError
    converted: int | float | str = kind(value)
    return converted


def resolved(
    kernel: str, parameters: Mapping[str, Parameter], given: Mapping[str, object]
) -> dict[str, int | float | str]:
    """All parameters of a kernel: those given, checked, and the defaults of the others.

    kernel: its name, for messages.
    parameters: those that it declares, by name.
    given: values of some of them, as texts or numbers.

    Raises KernelError.
    """
    try:
        given = renamed_with_notice(f"kernel {kernel}", given, PARAMETERS.get(kernel, {}))
    except ValueError as error:
        raise KernelError(f"kernel {kernel}: parameter {error}") from None
    for name in given:
        if name not in parameters:
            raise KernelError(f"kernel {kernel}: parameter {name!r}: unknown{nearest(name, parameters)}")
    values: dict[str, int | float | str] = {}
    for name, parameter in parameters.items():
        value = given.get(name, parameter.default)
        try:
            values[name] = parameter.parse(value)
        except (ValueError, OverflowError):
            raise KernelError(
                f"kernel {kernel}: parameter {name} = {shown(value)}: must be {parameter.allowed}"
            ) from None
    return values

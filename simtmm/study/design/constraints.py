"""Constraints: which points of a study make sense, as `threads * 4 <= resources.shared_memory`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.errors import StudyError
from simtmm.parameter.expression import Expression, expression


@dataclass(frozen=True)
class Constraint:
    """A condition that points must meet."""

    expression: Expression

    @property
    def text(self) -> str:
        """As it was written."""
        return self.expression.text

    @property
    def names(self) -> set[str]:
        """The names in it."""
        return self.expression.names

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a point with these values meets it.

        values: by name, of parameters and keys.

        Raises StudyError for a name that has no value.
        """
        return bool(self.expression.value(values))


def constraint(text: str) -> Constraint:
    """A constraint from its text.

    text: as "threads * blocks <= 1024".

    Raises StudyError for what is not understood.
    """
    return Constraint(expression(text, "constraint", StudyError))

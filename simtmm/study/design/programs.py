"""Several programs in one study: `program` is then an axis, and each point is one of its program's own.

A point has the key that it has in a study of that program alone, so the two share what is computed. A parameter is one
of those programs that have it; along its axis the others stay unchanged.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simtmm.errors import StudyError
from simtmm.parameter import Parameter
from simtmm.study.design.subject import Subject

PROGRAM = "program"  # the axis


@dataclass(frozen=True)
class Programs(Subject):
    """Several subjects as one. each: by name, in the order of the study."""

    each: Mapping[str, Subject] = field(default_factory=dict, compare=False)

    @property
    def parameters(self) -> list[str]:
        """The names of what can be given to one of them at least, and the axis of programs itself."""
        return list(dict.fromkeys([PROGRAM, *(name for one in self.each.values() for name in one.parameters)]))

    @property
    def sources(self) -> list[str]:
        """As the steps take them."""
        return [one.source for one in self.each.values()]

    def whole(self, name: str) -> bool:
        """Whether a parameter takes only whole numbers."""
        return any(one.whole(name) for one in self.each.values())

    def parameter(self, name: str) -> Parameter | None:
        """Nothing: what is a default of one program need not be another's."""
        return None

    def must_be(self, name: str, value: object) -> str:
        """What a parameter must be, where the value is of the type of none of those that have it."""
        found = [one.must_be(name, value) for one in self.each.values() if name in one.parameters]
        return found[0] if found and all(found) else ""

    def of(self, axes: Mapping[str, Any]) -> Subject:
        """The program of a point."""
        return self.each[axes[PROGRAM]]

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters of the program that is given, checked. Raises KernelError for a value that is refused."""
        own = self.of(given)
        return own.resolve({name: value for name, value in given.items() if name in own.parameters})

    def description(self) -> dict[str, Any] | None:
        """All of them as data, which `stored_design` makes programs of again."""
        return {
            "programs": [
                one.description() or {"kind": one.kind, "source": one.source, "name": one.name, "digest": one.digest}
                for one in self.each.values()
            ]
        }


def several(subjects: Sequence[Subject]) -> Subject:
    """Subjects as one; the one itself if it is alone. Raises StudyError for algorithms and for equal names."""
    if len(subjects) == 1:
        return subjects[0]
    for one in subjects:
        if one.kind == "algorithm":
            raise StudyError(f"program = {one.name!r}: a study of several programs must have only kernels and traces")
        if PROGRAM in one.parameters:
            raise StudyError(f"program = {one.name!r}: has a parameter {PROGRAM!r}, so it can't be one of several")
    names = [one.name for one in subjects]
    # Traces of one kernel differ by their files
    each = {
        Path(one.source).stem if one.kind == "trace" and names.count(one.name) > 1 else one.name: one
        for one in subjects
    }
    if len(each) < len(subjects):
        raise StudyError(f"program: {', '.join(names)}: appears more than once")
    digest = hashlib.sha256("\0".join(one.digest for one in subjects).encode()).hexdigest()[:32]
    kind = "kernel" if any(one.kind == "kernel" for one in subjects) else "trace"
    compiled = any(one.is_compiled for one in subjects)
    return Programs(kind, "", ", ".join(each), digest, compiled, each=each)  # type: ignore[arg-type]  # of two words

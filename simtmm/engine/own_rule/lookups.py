"""What the translation of a rule found in Python: names of modules, closures and classes, to be found again later."""

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

from simtmm.engine.own_rule.operands import known

MISSING = object()  # what is found where there is no such name
Place = FunctionType | ModuleType | type
"""Where a name is looked up: in a function's closure and module, in a module, or in a class."""


@dataclass
class Lookups:
    """Names that were looked up, in order."""

    _found: list[tuple[Place, str, Any, CodeType | None]] = field(default_factory=list)

    def look(self, of: Place, name: str) -> Any:
        """What a name stands for there; MISSING for nothing."""
        value = _value(of, name)
        self._found.append((of, name, value, value.__code__ if isinstance(value, FunctionType) else None))
        return value

    def hold(self, instead: Mapping[Place, Place]) -> bool:
        """Whether all names still stand for the same: equal numbers, and functions of equal code.

        instead: in whose place others are asked now, which have the same code.
        """
        twins = dict(instead)
        for of, name, value, code in self._found:
            now = _value(twins.get(of, of), name)
            if isinstance(value, FunctionType):
                if not isinstance(now, FunctionType) or now.__code__ != code or twins.setdefault(value, now) is not now:
                    return False
            elif (stands_for := known(value)) is None or known(now) != stands_for:
                return False
        return True


def _value(of: Place, name: str) -> Any:
    if isinstance(of, ModuleType):
        return getattr(of, name, MISSING)
    if isinstance(of, type):
        return vars(of).get(name, MISSING)
    code = of.__code__
    if name in code.co_freevars:
        cell = (of.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING
    return of.__globals__.get(name, getattr(builtins, name, MISSING))

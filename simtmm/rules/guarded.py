"""A person's rule, whose exceptions are errors of one line."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from simtmm.errors import SimtmmError, StudyError, shown_error
from simtmm.rules.seen import Rule, rule_name

Value = TypeVar("Value")


def guarded_call(where: str, call: Callable[[], Value]) -> Value:
    """What a call gives.

    where: how messages begin.
    call: what is called, without arguments.

    Raises StudyError, which begins with `where`, for any exception that is not simtmm's own.
    """
    try:
        return call()
    except SimtmmError:
        raise
    except Exception as error:
        raise StudyError(f"{where}: {type(error).__name__}: {shown_error(error)}") from None


def guarded(rule: Rule, where: str) -> Rule:
    """The rule, or the class of rules, with calls that are guarded so.

    rule: a rule, or a class of them.
    where: how messages begin.
    """
    made: Any = rule
    if not isinstance(made, type):

        def of_function(ready: Any, group: Any) -> Any:
            return guarded_call(where, lambda: made(ready, group))

        of_function.__name__ = rule_name(made)
        of_function.guards = made  # type: ignore[attr-defined]
        return of_function

    class Guarded:
        """A new one for each launch."""

        guards = made

        def __init__(self) -> None:
            self._rule = guarded_call(where, made)

        def __call__(self, ready: Any, group: Any) -> Any:
            return guarded_call(where, lambda: self._rule(ready, group))

    Guarded.__name__ = rule_name(made)
    return cast(Rule, Guarded)


def original(rule: object) -> object:
    """The rule behind one whose calls are guarded, or itself.

    rule: a function, an object or a class.
    """
    return rule if isinstance(rule, type) and "guards" not in vars(rule) else getattr(rule, "guards", rule)

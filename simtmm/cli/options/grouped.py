"""Options in groups: a parameter of a command whose type is a dataclass stands for an option for each of its fields."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a parameter for each option, as Typer reads it; it is called with its groups filled.

    A group is a frozen dataclass whose fields are annotated as parameters of a command are. Options are in the order of
    the parameters, those of a group in the order of its fields.

    Raises TypeError where two groups have an option of one name.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            groups[parameter.name] = hint
            options = _options(hint)
        else:
            options = [parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)]
        for option in options:
            if option.name in parameters:
                raise TypeError(f"{command.__name__}: two options are called {option.name}")
            parameters[option.name] = option

    @functools.wraps(command)
    def flat(**values: Any) -> None:
        filled = {
            name: group(**{field.name: values.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        command(**filled, **values)

    flat.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    flat.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return flat


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]

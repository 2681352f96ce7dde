"""What a shell may offer for a word that is being typed: kernels, machines, their keys, parameters, models.

Nothing is compiled or run for it: the description of a kernel is read from the text of its host.py. A fault in a file
offers nothing.
"""

from collections.abc import Iterable, Iterator
from typing import get_args

import typer

from simtmm.errors import SimtmmError

NOT_SET = {"changes", "sources"}  # what a machine keeps of its own history
PROGRAM_ARGUMENTS = ("source", "kernel", "a", "b")  # what commands call the argument that names a kernel


def complete_machine(incomplete: str) -> list[str]:
    """Names of machines.

    incomplete: the word as far as it is typed.
    """
    from simtmm.machine.known import machine_files

    return _matching(machine_files(), incomplete)


def complete_machine_or_new(incomplete: str) -> list[str]:
    """Names of machines, and the words that make, calibrate and compare them.

    incomplete: the word as far as it is typed.
    """
    return [*_matching(["new", "calibrate", "compare", "micro"], incomplete), *complete_machine(incomplete)]


def complete_rule(incomplete: str) -> list[str]:
    """Names of scheduling rules.

    incomplete: the word as far as it is typed.
    """
    from simtmm.rules import BUILT_IN, NUMBERED, SIMPLE

    return _matching(dict.fromkeys([*BUILT_IN, *SIMPLE, *NUMBERED, "list"]), incomplete)


def complete_kernel_or_rule_word(incomplete: str) -> list[str]:
    """Names of kernels, and the words of scheduling rules.

    incomplete: the word as far as it is typed.
    """
    return [*_matching(["rules", "test", "compare"], incomplete), *complete_kernel(incomplete)]


def complete_kernel(incomplete: str) -> list[str]:
    """Names of kernels.

    incomplete: the word as far as it is typed.
    """
    from simtmm.catalogue import known_kernels

    return _matching(known_kernels(), incomplete)


def complete_algorithm(incomplete: str) -> list[str]:
    """Names of the papers' algorithms.

    incomplete: the word as far as it is typed.
    """
    from simtmm.model.algorithms import ALGORITHMS

    return _matching(ALGORITHMS, incomplete)


def complete_program(incomplete: str) -> list[str]:
    """Names of kernels, and of the papers' algorithms."""
    return sorted({*complete_kernel(incomplete), *complete_algorithm(incomplete)})


def complete_model(incomplete: str) -> list[str]:
    """Names of models."""
    from simtmm.model import MODELS

    return _matching([*MODELS, "calibrated"], incomplete)


def complete_quantity(incomplete: str) -> list[str]:
    """What a study computes: simulated, and models."""
    return [*_matching(["simulated"], incomplete), *complete_model(incomplete)]


def complete_equation(incomplete: str) -> list[str]:
    """Names of the papers' single equations.

    incomplete: the word as far as it is typed.
    """
    from simtmm.model.applications.catalogue import EQUATIONS

    return _matching(EQUATIONS, incomplete)


def complete_claim(incomplete: str) -> list[str]:
    """Names of the papers' claims.

    incomplete: the word as far as it is typed.
    """
    from simtmm.validation.claims import known_claims

    return _matching(known_claims(), incomplete)


def complete_changes(incomplete: str) -> list[str]:
    """A machine's keys, each with the sign that a value follows."""
    return [f"{key}=" for key in _matching(machine_keys(), incomplete)]


def complete_study(incomplete: str) -> list[str]:
    """The second words of `sweep`, and what it runs."""
    return [
        *_matching(["compare", "threads", "zigzag", "crossover", "report"], incomplete),
        *complete_program(incomplete),
    ]


def complete_recorded(incomplete: str) -> list[str]:
    """The second words of `record`, and what it records.

    incomplete: the word as far as it is typed.
    """
    return [*_matching(["import", "export", "measure"], incomplete), *complete_kernel(incomplete)]


def complete_symbol(ctx: typer.Context, incomplete: str) -> list[str]:
    """Symbols of the algorithms that the command names, and parameters of kernels of the same name.

    ctx: the command line before it.
    incomplete: the word as far as it is typed.
    """
    from simtmm.model.algorithms import ALGORITHMS

    named = [ALGORITHMS[name] for name in _programs(ctx) if name in ALGORITHMS]
    symbols = _matching([symbol.name for algorithm in named for symbol in algorithm.symbols], incomplete)
    return list(dict.fromkeys([*(f"{name}=" for name in symbols), *complete_parameter(ctx, incomplete)]))


def complete_parameter(ctx: typer.Context, incomplete: str) -> list[str]:
    """Parameters of the kernels that the command names.

    ctx: the command line before it.
    incomplete: the word as far as it is typed.
    """
    return [f"{name}=" for name in _matching(_parameters(ctx), incomplete)]


def complete_axis(ctx: typer.Context, incomplete: str) -> list[str]:
    """What a study can vary: parameters of its program, and keys of a machine.

    ctx: the command line before it.
    incomplete: the word as far as it is typed.
    """
    return [*complete_parameter(ctx, incomplete), *complete_changes(incomplete)]


def machine_keys() -> list[str]:
    """All keys of a machine, dotted, as --set takes them."""
    from simtmm.machine import Machine
    from simtmm.machine.values import Table

    def keys(table: type[Table], prefix: str) -> Iterator[str]:
        for name, field in table.model_fields.items():
            if name in NOT_SET:
                continue
            alternatives = [field.annotation, *get_args(field.annotation)]
            inner = [each for each in alternatives if isinstance(each, type) and issubclass(each, Table)]
            if inner:
                yield from keys(inner[0], f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}"

    return list(keys(Machine, ""))


def _parameters(context: typer.Context) -> list[str]:
    from simtmm.catalogue import describe, known_kernels, typed_kernel

    known = known_kernels()
    found: list[str] = []
    for name in _programs(context):
        try:
            folder = known[name].path if name in known else typed_kernel(name)
        except SimtmmError:
            continue
        found += describe(name, folder).parameters
    return list(dict.fromkeys(found))


def _programs(context: typer.Context) -> list[str]:
    """The programs that a command line names so far: parsed, or left where an option still lacks its value."""
    named: list[str] = []
    for argument in PROGRAM_ARGUMENTS:
        value = context.params.get(argument)
        named += [value] if isinstance(value, str) else value or ()
    return [*named, *(word for word in context.args if not word.startswith("-"))]


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]

"""Scheduling rules by name or from a user's file: their promises, whether they keep them, and kernels' times with them.

A file is executed only if a user names it, as `rules.py:my_rule`; data never names code.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from simtmm.documents import LARGEST_TOML, read_bytes
from simtmm.engine import simulate, why_not_compiled
from simtmm.engine.choice import quickest
from simtmm.errors import SimtmmError, StudyError, nearest, shown_error
from simtmm.extras import imported
from simtmm.machine import Machine
from simtmm.program import open_program
from simtmm.rules import BUILT_IN, NUMBERED, SIMPLE, Rule, example_rule, rule_name
from simtmm.rules.guarded import guarded
from simtmm.testing.laws import Law
from simtmm.testing.promises import BUILT_IN_PROMISES, promises_of
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import Watch, telling, watched

KEY = "scheduling.scheduler"


@dataclass(frozen=True)
class NamedRule:
    """A rule as a person wrote it.

    text: its name, or FILE:NAME. rule: the function, or a class of such. built_in: whether a machine may name it, so
    that both engines have it. promises: of its author's, as far as they are known.
    """

    text: str
    rule: Rule
    built_in: bool = False
    promises: tuple[Law, ...] = ()

    @property
    def engines(self) -> tuple[str, ...]:
        """Those that it runs on: the fast one has the rules of machines, and compiles others."""
        return ("fast", "reference") if self.built_in or not why_not_compiled(self.rule) else ("reference",)

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.rule) or "").partition("\n")[0]


def known_rules() -> dict[str, NamedRule]:
    """Those of machines and those of simtmm.rules, by name; of one with numbers, with its usual ones."""
    names = [*BUILT_IN, *SIMPLE, *(f"{name}({', '.join(map(str, usual))})" for name, (_, usual) in NUMBERED.items())]
    return {name: rule_of(name) for name in names if name in BUILT_IN or SIMPLE.get(name) not in BUILT_IN.values()}


def rule_of(text: str) -> NamedRule:
    """The rule that is written so: a name (`known_rules`), with other numbers too, or FILE.py:NAME.

    text: as "two_level(4)" or "mine.py:rule".

    Raises SimtmmError, and StudyError where the file can't be run or has no such rule.
    """
    if text in BUILT_IN:
        return NamedRule(text, BUILT_IN[text], built_in=True, promises=BUILT_IN_PROMISES[text])
    path, colon, name = text.rpartition(":")
    if colon or text.endswith(".py"):
        return NamedRule(text, _of_file(path if colon else text, name if colon else ""))
    try:
        rule = example_rule(text.replace("-", "_"))  # machines' own names have hyphens
    except SimtmmError:
        if text.partition("(")[0] in {*SIMPLE, *NUMBERED}:
            raise
        known = [*BUILT_IN, *SIMPLE, *NUMBERED]
        raise SimtmmError(f"rule {text!r}: unknown rule, and not FILE.py:NAME{nearest(text, known)}") from None
    return NamedRule(text, rule, promises=promises_of(rule_name(rule)))


def _of_file(path: str, name: str) -> Rule:
    """A rule of a Python file, which is run."""
    source = read_bytes(path, StudyError, LARGEST_TOML)
    space: dict[str, Any] = {"__name__": "rule", "__file__": path}
    try:
        exec(compile(source, path, "exec"), space)  # noqa: S102 - the user gave this file to be run
    except Exception as error:
        raise StudyError(f"{path}: can't be run ({type(error).__name__}: {shown_error(error)})") from None
    own = {key: value for key, value in space.items() if _is_rule(value) and not key.startswith("_")}
    of_file = [key for key, value in own.items() if getattr(value, "__module__", None) == "rule"]
    if not name:
        if len(of_file) != 1:
            raise StudyError(f"{path}: must be FILE.py:NAME; the rules of this file are {', '.join(of_file) or 'none'}")
        return cast(Rule, own[of_file[0]])
    if name not in space:
        raise StudyError(f"{path}: has no {name!r}{nearest(name, of_file)}")
    if name not in own:
        raise StudyError(
            f"{path}: {name}: must be a function of two arguments, the ready warps and the core group, or a class "
            "with such instances"
        )
    return cast(Rule, own[name])


def _is_rule(value: object) -> bool:
    """Whether it may be called with two arguments; of a class, its instances, which are made without any."""
    try:
        if isinstance(value, type):
            inspect.signature(value).bind()
            inspect.signature(cast(Any, value).__call__).bind(None, None, None)
        elif callable(value):
            inspect.signature(value).bind(None, None)
        else:
            return False
    except (TypeError, ValueError, AttributeError):
        return False
    return True


@dataclass(frozen=True)
class Judged:
    """A promise of a rule, and what draws say of it.

    promise: as it is written. draws, turns: how much was looked at. broken: what broke it, in a line; empty where
    nothing did. told: the smallest counter-example that was seen, as text.
    """

    promise: str
    draws: int = 0
    turns: int = 0
    broken: str = ""
    told: str = ""


def judge(
    rule: NamedRule,
    promises: Sequence[Law],
    draws: int,
    seed: int = 0,
    engine: str | None = None,
    picture: Path | None = None,
    watch: Watch | None = None,
) -> list[Judged]:
    """Look for counter-examples to each promise; the arguments are those of simtmm.testing.check_rule.

    picture: of the first counter-example.
    promises: laws that the rule is to keep.
    draws: machines and workloads that are drawn for each.
    seed: of what is drawn.
    engine: a name in simtmm.engine.ENGINES.

    Raises SimtmmError for what check_rule does not take, and where Hypothesis is not installed.
    """
    imported("hypothesis", "", "testing a rule", SimtmmError)
    from simtmm.testing.checking import BrokenPromiseError, check_rule  # late: needs Hypothesis

    found: list[Judged] = []
    checked: Rule | str = rule.text if rule.built_in else rule.rule
    with watched(watch):
        for law in promises:
            drawn = picture if not any(each.broken for each in found) else None
            try:
                kept = check_rule(checked, [law], draws=draws, seed=seed, engine=engine, picture=drawn)
            except BrokenPromiseError as error:
                line, _, told = str(error).partition("\n")
                found.append(Judged(law.name, broken=line, told=told))
            else:
                found.append(Judged(law.name, kept.draws[law.name], kept.turns[law.name]))
            telling("promises")(len(found), len(promises))
    return found


@dataclass(frozen=True)
class ByRule:
    """What a program takes by a rule. cycles: core cycles. engine: that it ran on. reason: why not on the fast one."""

    source: str
    rule: str
    cycles: float
    seconds: float | None
    engine: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "source": self.source, "rule": self.rule, "cycles": self.cycles, "seconds": self.seconds,
            "engine": self.engine, "engine_reason": self.reason,
        }  # fmt: skip


def compare_rules(
    sources: Sequence[str],
    rules: Sequence[NamedRule],
    machine: Machine,
    parameters: Mapping[str, object] | None = None,
    form: str | None = None,
    watch: Watch | None = None,
) -> list[ByRule]:
    """Run programs on a machine by its own rule and by others: on the fast engine, but for rules that are not compiled,
    and for small programs until the engine is.

    sources: kernels, traces or workloads.
    parameters: values of some of the kernels' parameters, as texts or numbers.
    form: how kernels are recorded (see simtmm.record).

    Raises the errors of opening programs and of engines, and StudyError for what goes wrong in a rule.
    """
    found: list[ByRule] = []
    with watched(watch):
        for source in sources:
            workload = open_program(source, parameters, None, machine=machine, form=form).on(machine).workload
            own = machine.scheduling.scheduler
            beside = [rule for rule in rules if rule.text != own]
            found += [_by_rule(source, workload, machine, rule) for rule in [rule_of(own), *beside]]
    return found


def _by_rule(source: str, workload: AnyWorkload, machine: Machine, rule: NamedRule) -> ByRule:
    progress = telling(f"simulating by {rule.text}")
    if rule.built_in:
        on = machine.replace({KEY: rule.text})
        result = simulate(on, workload, quickest(on, workload), breakdown=False, progress=progress)
    else:
        own = guarded(rule.rule, f"rule {rule.text}")
        compiled_later = not why_not_compiled(rule.rule) and quickest(machine, workload, own_rule=True) == "reference"
        engine = "reference" if compiled_later else None  # which says why, where it is no matter of time
        result = simulate(machine, workload, engine, scheduler=own, breakdown=False, progress=progress)
    return ByRule(source, rule.text, result.cycles, result.seconds, result.engine, result.engine_reason)

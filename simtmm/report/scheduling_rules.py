"""Scheduling rules, their promises and what kernels take by them, as a person reads it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.scheduling_rules import ByRule, Judged, NamedRule
from simtmm.report.text import number, seconds, table
from simtmm.testing.laws import FAMILIES, LAWS, Law


def laws() -> list[tuple[str, Law]]:
    """All laws, as a promise of them is written."""
    made = [(f"{name}({', '.join(of)})", make(*[1] * len(of))) for name, (make, of) in FAMILIES.items()]
    return [*LAWS.items(), *made]


def describe_rules(rules: Mapping[str, NamedRule]) -> Iterator[RenderableType]:
    """All rules and all laws, a line each."""
    rows = [(name, "both" if len(rule.engines) > 1 else "reference", rule.summary) for name, rule in rules.items()]
    yield table("Rules", ("rule", "engines", ""), rows, left=(0, 1, 2))
    yield ""
    yield table("Laws, for --promise", ("law", ""), [(name, law.summary) for name, law in laws()], left=(0, 1))


def rules_document(rules: Mapping[str, NamedRule]) -> dict[str, Any]:
    """The same for JSON, with the laws' formulas."""
    return {
        "rules": {name: rule_document(rule) for name, rule in rules.items()},
        "laws": {name: {"summary": law.summary, "formula": law.formula} for name, law in laws()},
    }


def describe_rule(rule: NamedRule) -> Iterator[RenderableType]:
    """One rule: what it does, and its promises with their formulas."""
    yield Text(rule.text, style="bold")
    yield Text(rule.summary)
    yield ""
    rows = [(law.name, law.summary, law.formula) for law in rule.promises]
    yield table("Promises", ("law", "", "formula"), rows, left=(0, 1, 2))


def rule_document(rule: NamedRule) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "summary": rule.summary,
        "engines": list(rule.engines),
        "promises": [law.name for law in rule.promises],
    }


def describe_judged(rule: NamedRule, judged: Sequence[Judged]) -> Iterator[RenderableType]:
    """Which promises a rule keeps, and a counter-example for each that it breaks."""
    rows = [
        (each.promise, *(("broken", "", "") if each.broken else ("kept", number(each.draws), number(each.turns))))
        for each in judged
    ]
    yield table(f"Rule {rule.text}", ("promise", "", "draws", "turns"), rows, left=(0, 1))
    for each in judged:
        if each.broken:
            yield ""
            yield Text(each.broken, style="bold")
            yield Text(each.told)


def judged_document(rule: NamedRule, judged: Sequence[Judged]) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "rule": rule.text,
        "promises": [
            {
                "promise": each.promise,
                "kept": not each.broken,
                "draws": each.draws,
                "turns": each.turns,
                "broken": each.broken,
                "counter_example": each.told,
            }
            for each in judged
        ],
    }


def describe_by_rule(machine: str, found: Sequence[ByRule]) -> Iterator[RenderableType]:
    """What each program takes by each rule, and how much that is of the machine's own.

    machine: its name.
    found: what each program takes.
    """
    yield Text(f"On {machine}", style="bold")
    own: dict[str, float] = {}
    rows = []
    for each in found:
        first = own.setdefault(each.source, each.cycles)
        ratio = f"{each.cycles / first:.3f}" if first else ""
        rows.append((each.source, each.rule, number(each.cycles), seconds(each.seconds), ratio, each.engine))
    columns = ("program", "rule", "cycles", "time", "of the machine's own", "engine")
    yield table("", columns, rows, left=(0, 1, 5))
    for reason in dict.fromkeys(each.reason for each in found if each.reason):
        yield Text(f"On the reference engine: {reason}")

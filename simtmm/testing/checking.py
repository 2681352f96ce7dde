"""Whether a scheduling rule keeps what its author promises: machines and workloads are drawn for each law."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.engine import ENGINES, simulate
from simtmm.engine.reference.schedulers import SCHEDULERS
from simtmm.errors import EngineError, SimtmmError, nearest
from simtmm.machine import Machine
from simtmm.rules import Rule, rule_name
from simtmm.testing.cases import Case, cases
from simtmm.testing.counter_example import save_picture, text_picture, turns_table
from simtmm.testing.grants import Grants, HeldForEverError, Watch
from simtmm.testing.laws import FAMILIES, LAWS, Law, law_named
from simtmm.testing.laws.law import Breach
from simtmm.testing.observed import observed
from simtmm.testing.searching import CONTRACT, check_search, laws_of, smallest_found
from simtmm.workload import Workload

DRAWS = 100
CONTRACT_SUMMARY = (
    "A rule returns a ready warp, None or Idle(until), raises nothing, and does not hold back for ever while nothing "
    "else happens."
)


@dataclass(frozen=True)
class Counterexample:
    """A run, or two, that break a promise.

    promise: its name; CONTRACT where the rule gave what no rule may. breach: what broke, where. grants: the turns of
    the first run. machine, workloads: what was run.
    """

    promise: str
    summary: str
    formula: str
    breach: Breach
    grants: Grants
    machine: Machine
    workloads: tuple[Workload, ...]

    @property
    def size(self) -> tuple[int, ...]:
        """The order of size of two counter-examples: turns up to the breach, warps, operations and their amounts."""
        work = self.workloads
        operations = sum(each.operations + int(each.amount.sum()) for each in work)
        return self.breach.turn, sum(each.warps for each in work), operations

    def __str__(self) -> str:
        formula = [f"Formula: {self.formula}"] if self.formula else []
        lines = [self.summary, *formula, "", turns_table(self.grants, self.breach), ""]
        lines += [text_picture(self.grants, self.breach), "", f"machine: {_in_words(self.machine)}"]
        names = ["workload", "and of the second run"]
        for name, workload in zip(names, self.workloads, strict=False):
            blocks = workload.to_dict()["launches"][0]["blocks"]
            lines.append(f"{name}: {json.dumps({'blocks': blocks})}")
        return "\n".join(lines)


class BrokenPromiseError(AssertionError):
    """A rule, or a replacement policy, does not keep a promise. found: the smallest counter-example that was seen."""

    def __init__(self, name: str, found: Any, what: str, kind: str = "rule") -> None:
        """name: of the rule.
        what: is broken.
        kind: what the rule is one of.
        """
        super().__init__(f"{kind} {name} breaks {found.promise}: {what}\n{found}")
        self.found = found


@dataclass(frozen=True)
class Kept:
    """Promises that no draw broke. draws, turns: of each promise, by its name."""

    rule: str
    draws: dict[str, int]
    turns: dict[str, int]

    def __str__(self) -> str:
        wide = max((len(name) for name in self.draws), default=0)
        lines = [f"  {name:<{wide}}  {self.draws[name]} draws, {self.turns[name]} turns: kept" for name in self.draws]
        return "\n".join([f"rule {self.rule}", *lines])


def check_rule(
    rule: Rule | str,
    promises: Iterable[Law | str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    engine: str | None = None,
    picture: str | Path | None = None,
) -> Kept:
    """Look for runs in which a scheduling rule breaks a promise of its author's.

    rule: a function of the ready warps and the core group, or a class of such rules (docs/schedulers.md), whatever a
    machine's own scheduler is; or the name of a built-in one, which is run on the engine and judged by its timeline.
    promises: laws (simtmm.testing.laws), or their names, as "bounded_wait(16)". draws: of a machine and a workload, for
    each promise, at least 1. seed: of the draws; a rule that is deterministic has the same answer for the same seed.
    engine: for a built-in rule, "fast" or "reference"; "fast" if left out. picture: a file to write a picture of a
    counter-example to, .svg.

    Raises BrokenPromiseError, an AssertionError, with the smallest counter-example that was seen; SimtmmError for a
    promise, a rule or a number that is none.
    """
    laws = laws_of(promises, Law, law_named, [*LAWS, *(f"{name}(...)" for name in FAMILIES)])
    check_search(draws, seed)
    _check_rule(rule, engine)
    name = rule if isinstance(rule, str) else rule_name(rule)
    kept = Kept(name, {}, {})
    for law in laws:
        search = _Search(law, rule, engine or "fast")
        found = smallest_found(cases(law.kinds, law.pair), search.judge, draws, seed)
        if found:
            if picture is not None:
                save_picture(picture, f"rule {name} breaks {found.promise}", found.grants, found.breach)
            raise BrokenPromiseError(name, found, found.breach.what)
        kept.draws[law.name], kept.turns[law.name] = search.draws, search.turns
    return kept


def _check_rule(rule: object, engine: str | None) -> None:
    """Raise SimtmmError for what is no rule, or an engine that does not run it."""
    if isinstance(rule, str):
        if rule not in SCHEDULERS:
            raise SimtmmError(f"rule {rule!r}: unknown{nearest(rule, SCHEDULERS)}")
        if engine is not None and engine not in ENGINES:
            raise EngineError(f"engine {engine!r}: unknown{nearest(str(engine), ENGINES)}")
    elif not callable(rule):
        raise SimtmmError(f"rule {rule!r}: must be a function of the ready warps and the core group")
    elif engine not in (None, "reference"):
        raise EngineError(f"engine {engine!r}: promises of your own rules are tested in Python, on 'reference'")


class _Search:
    """Runs cases for a law. draws, turns: how many so far."""

    def __init__(self, law: Law, rule: Rule | str, engine: str) -> None:
        self.law, self.rule, self.engine = law, rule, engine
        self.draws = self.turns = 0

    def judge(self, case: Case) -> Counterexample | None:
        """Run a case; the counter-example that it is, if it breaks the law."""
        self.draws += 1
        runs, breach, promise = [], None, self.law.name
        for workload in case.workloads:
            grants, breach = self.run(case.machine, workload)
            runs.append(grants)
            self.turns += len(grants.turns)
            if breach:
                promise = CONTRACT
                break
        breach = breach or self.law(*runs)
        if breach is None:
            return None
        contract = promise == CONTRACT
        return Counterexample(
            promise=promise,
            summary=CONTRACT_SUMMARY if contract else self.law.summary,
            formula="" if contract else self.law.formula,
            breach=breach,
            grants=runs[-1] if contract else runs[0],
            machine=case.machine,
            workloads=tuple(case.workloads),
        )

    def run(self, machine: Machine, workload: Workload) -> tuple[Grants, Breach | None]:
        """The turns of a run, and what no rule may do, if the rule did it."""
        if isinstance(self.rule, str):
            on = machine.replace({"scheduling.scheduler": self.rule, "cores.issue_ports": 1})
            return observed(on, workload, simulate(on, workload, self.engine, timeline=True)), None
        watch = Watch(self.rule, machine.ports if machine.scheduling.ports == "own" else 0)
        try:
            simulate(machine, workload, "reference", scheduler=watch, breakdown=False)
        except HeldForEverError as error:
            what = str(error)
        except EngineError as error:
            what = str(error)
        except Exception as error:
            if not watch.raised:
                raise
            what = f"it raised {type(error).__name__}: {error}"
        else:
            return watch.grants, None
        last = max(0, len(watch.turns) - 1)
        return watch.grants, Breach(what, last, last)


def _in_words(machine: Machine) -> str:
    l1 = machine.memory.l1
    return ", ".join(
        [
            f"{machine.cores.groups} core groups" if machine.cores.groups > 1 else "1 core group",
            f"{machine.ports} ports each (ports = {machine.scheduling.ports})" if machine.ports > 1 else "1 port",
            machine.scheduling.switch,
            f"pipeline_depth {machine.scheduling.pipeline_depth:g}",
            f"latency {machine.memory.latency:g}",
            f"an L1 of {l1.sets} sets of {l1.ways}" if l1 else "no L1",
            f"{machine.ticks_per_cycle} ticks a cycle",
            f"{machine.limits.blocks_per_group} blocks a group",
        ]
    )

"""Cases: programs on machines that are no study's points, computed once and kept in stores, as points are."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from simtmm.engine import simulate
from simtmm.engine.causes import shares
from simtmm.errors import SimtmmError, StudyError, WorkloadError
from simtmm.machine import Machine
from simtmm.model.series import SIMULATED
from simtmm.parallel.tasks import Task
from simtmm.provenance import computed_by, provenance
from simtmm.result import Result
from simtmm.study.design.by_sample import ENGINE as SAMPLES
from simtmm.study.design.by_sample import BySample
from simtmm.study.design.points import point_key
from simtmm.study.design.rules import ENGINE as RULES
from simtmm.study.design.rules import Rule
from simtmm.study.evaluation.recorded_traces import prune_traces, recorded, trace_key
from simtmm.study.evaluation.residence import HELD_BY, held_by
from simtmm.study.evaluation.sampled_cases import SAMPLED, sampled_case
from simtmm.study.evaluation.simulations import executor_here, keep_outcomes
from simtmm.study.evaluation.steps import CAUSES, Outcome, opened
from simtmm.study.store.kept import kept_store
from simtmm.study.store.store import Documents, Store
from simtmm.trace.counts import Counts, lower_and_count
from simtmm.trace.io import Trace
from simtmm.watch import Watch, telling, watched

COUNTS, TRACE = "counts", "trace"  # what is kept of a case beside what is simulated
QUANTITIES = (SIMULATED, COUNTS, TRACE)
Status = Literal["skipped", "failed", "open"]


@dataclass(frozen=True)
class Ran:
    """A program whose cases are computed.

    source: a kernel's name or folder, a file of launches, or a trace's file. digest: of its content. parameters: all of
    a kernel's; None for a trace. architecture: what it is compiled for, where it is. form: how it is recorded, where
    that is not what suits it. files: of a kernel, the digest of its files with their comments; the other if left out.
    """

    source: str
    digest: str
    parameters: Mapping[str, Any] | None
    architecture: int | None = None
    form: str | None = None
    files: str = ""

    @property
    def recording(self) -> tuple[str, str, dict[str, Any], int | None, str | None]:
        """Its recording, as `recorded` takes it; of a kernel."""
        assert self.parameters is not None
        return self.source, self.files or self.digest, dict(self.parameters), self.architecture, self.form

    def key(self, machine: Machine, engine: str | BySample, rule: Rule | None = None) -> str:
        """The key of its case on a machine: that of a sweep's point where that is the same.

        engine: a name in simtmm.engine.ENGINES, or a sample.

        Raises StudyError for a rule with a sample.
        """
        form = () if self.form is None else (self.form,)
        by, more = _told(engine, rule)
        return point_key(self.digest, self.parameters or {}, machine, by, self.architecture is not None, *more, *form)


@dataclass(frozen=True)
class MachineCase:
    """A program on a machine. rule: that schedules, instead of the machine's own."""

    ran: Ran
    machine: Machine
    rule: Rule | None = None


@dataclass(frozen=True)
class Done:
    """What came of a case.

    program, parameters, digest, doubts: the trace's. causes: the part of the simulated time that each accounts for
    (simtmm/engine/causes.py); empty of what was kept before there were any. sampled: of a case that was, the interval
    and of how much it was simulated (simtmm/study/evaluation/sampled_cases.py).
    """

    result: Result
    counts: Counts
    program: str
    parameters: Mapping[str, Any]
    digest: str
    doubts: tuple[str, ...]
    causes: Mapping[str, float]
    sampled: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Missing:
    """A case that nothing came of. skipped: the machine can't hold it; open: nobody has computed it yet."""

    status: Status
    reason: str


class Cases:
    """Cases, and the stores that keep them. A context manager."""

    def __init__(self, cases: Sequence[MachineCase], engine: str | BySample, store: str | Path | None) -> None:
        """store: a file, or ":memory:"; one for each program in the user's cache folder if None.

        cases: machines and what runs on each.
        engine: a name in simtmm.engine.ENGINES, or a sample.

        Raises StudyError.
        """
        self._engine = engine
        self._cases = [(case.ran.key(case.machine, engine, case.rule), case) for case in cases]
        sources = {case.ran.digest: case.ran.source for case in cases}
        with ExitStack() as stack:
            if store is not None:
                self._stores = dict.fromkeys(sources, stack.enter_context(Store(store)))
            else:
                paths = {digest: kept_store(source, digest) for digest, source in sources.items()}
                self._stores = {digest: stack.enter_context(Store(path)) for digest, path in paths.items()}
            self._open = list({id(each): each for each in self._stores.values()}.values())
            self._stack = stack.pop_all()

    def __enter__(self) -> "Cases":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def compute(self, workers: int | None, watch: Watch | None) -> set[str]:
        """Compute what is lacking, of the programs with the digests that it gives.

        workers: processes; one for each core if None, and 1 is this process. watch: called with "cases", and with what
        each goes through in this process. An error of a case is stored as that case's. Raises what would go wrong
        with all.
        """
        there = {key: documents for store in self._open for key, documents in store.mended(store.results).items()}
        skipped = self._skipped()
        waiting = {
            key: case
            for key, case in self._cases
            if key not in skipped and _done(there.get(key, {}), case.machine) is None
        }
        if not waiting:
            return set()
        about = {**provenance(), "sources": computed_by(), "engine": str(self._engine), "points": len(waiting)}
        runs = {id(store): store.begin(None, (), about) for store in self._open}
        for store in self._open:
            store.forget_failures(waiting)
        programs = [case.ran for case in waiting.values()]
        if not isinstance(self._engine, BySample):
            prune_traces({trace_key(*ran.recording) for ran in programs if ran.parameters is not None})
        lacking = {
            key: [name for name in QUANTITIES if name not in there.get(key, {})] or QUANTITIES for key in waiting
        }
        threads = None if workers == 1 else 1  # the other cores are busy with other cases

        def place(key: str) -> tuple[Store, int]:
            store = self._stores[waiting[key].ran.digest]
            return store, runs[id(store)]

        tasks = _tasks(waiting, lacking, self._engine, threads)
        with watched(watch):
            keep_outcomes(executor_here(len(waiting), workers), tasks, place, "cases")
        return {ran.digest for ran in programs}

    def read(self) -> list[Done | Missing]:
        """What is known of each case. Raises DamageError."""
        there = {key: documents for store in self._open for key, documents in store.results().items()}
        failures = {key: errors for store in self._open for key, errors in store.failures().items()}
        skipped = self._skipped()
        found: list[Done | Missing] = []
        for key, case in self._cases:
            done = _done(there.get(key, {}), case.machine)
            if done is not None:
                found.append(done)
            elif key in skipped:
                found.append(Missing("skipped", skipped[key]))
            elif key in failures:
                found.append(Missing("failed", "; ".join(failures[key].values())))
            else:
                found.append(Missing("open", "has not run yet"))
        return found

    def _skipped(self) -> dict[str, str]:
        return {key: reason for store in self._open for key, reason in store.skipped().items()}


def _told(engine: str | BySample, rule: Rule | None) -> tuple[str, Sequence[object]]:
    """The engine that simulates a case, and what else decides its time. Raises StudyError for a rule with a sample."""
    if isinstance(engine, BySample):
        if rule is not None:
            raise StudyError(f"rule {rule.name}: can't be sampled: leave out the sample or the rule")
        return SAMPLES, engine.content
    return (RULES, rule.content()) if rule is not None else (engine, ())


def _tasks(
    waiting: Mapping[str, MachineCase],
    lacking: Mapping[str, Sequence[str]],
    engine: str | BySample,
    threads: int | None,
) -> dict[Task, str]:
    """The calls that are needed, each behind those it needs, with the keys of the cases that they compute.

    A program is recorded once for each architecture. Those of one recording stand together, so that few are in hand at
    once.
    """
    if isinstance(engine, BySample):
        return {
            Task(computed_by_sample, (case.ran, case.machine, engine, threads), wanted=True): key
            for key, case in waiting.items()
        }
    tasks: dict[Task, str] = {}
    by_recording: dict[str, list[str]] = {}
    for key, case in waiting.items():
        by_recording.setdefault(repr(case.ran), []).append(key)
    for keys in by_recording.values():
        ran = waiting[keys[0]].ran
        if ran.parameters is None:
            trace = Task(Path, (ran.source,), here=True)
        else:
            trace = Task(recorded, ran.recording, here=True)
        tasks[trace] = ""
        for key in keys:
            case = waiting[key]
            arguments = (trace, case.machine, tuple(lacking[key]), engine, threads, case.rule)
            tasks[Task(computed, arguments, wanted=True)] = key
    return tasks


def computed(
    source: Path | Trace,
    machine: Machine,
    quantities: Sequence[str],
    engine: str,
    threads: int | None,
    rule: Rule | None = None,
) -> Outcome:
    """A case. threads: see simtmm.simulate. rule: that schedules, on the engine that takes it."""
    begun, trace = perf_counter(), opened(source)
    info = trace.info
    results: dict[str, Mapping[str, Any]] = {
        TRACE: {"kernel": info.kernel, "parameters": info.parameters, "digest": info.digest, "doubts": info.doubts}
    }
    try:
        workload, counts = lower_and_count(trace, machine, telling("lowering"))
        results[COUNTS] = asdict(counts)
        if SIMULATED in quantities:
            by, scheduler = (None, rule.function()) if rule else (engine, None)
            progress = telling("simulating")
            result = simulate(
                machine, workload, by, scheduler=scheduler, stalls=True, threads=threads, progress=progress
            )
            more = {CAUSES: shares(machine, result), HELD_BY: held_by(info, machine)}
            results[SIMULATED] = {**result.to_dict(), **more}
    except WorkloadError as error:
        return Outcome(skipped=str(error))
    except SimtmmError as error:
        return Outcome(errors={SIMULATED: str(error)})
    except MemoryError:
        return Outcome(errors={SIMULATED: "out of memory"})
    return Outcome(results, seconds=perf_counter() - begun)


def computed_by_sample(ran: Ran, machine: Machine, by: BySample, threads: int | None) -> Outcome:
    """A case from a sample, which is recorded for it alone. threads: see simtmm.simulate."""
    begun = perf_counter()
    try:
        found = sampled_case(ran.source, ran.parameters, ran.form, machine, by, threads)
    except WorkloadError as error:
        return Outcome(skipped=str(error))
    except SimtmmError as error:
        return Outcome(errors={SIMULATED: str(error)})
    except MemoryError:
        return Outcome(errors={SIMULATED: "out of memory"})
    info = found.info
    simulated = {**found.result.to_dict(), CAUSES: found.causes, HELD_BY: held_by(info, machine), SAMPLED: found.about}
    results: dict[str, Mapping[str, Any]] = {
        TRACE: {"kernel": info.kernel, "parameters": info.parameters, "digest": info.digest, "doubts": info.doubts},
        COUNTS: asdict(found.counts),
        SIMULATED: simulated,
    }
    return Outcome(results, seconds=perf_counter() - begun)


def _done(documents: Documents, machine: Machine) -> Done | None:
    """A case from its stored parts; None if they are incomplete."""
    try:
        trace, counts = documents[TRACE], documents[COUNTS]
        simulated = {
            name: value for name, value in documents[SIMULATED].items() if name not in (CAUSES, HELD_BY, SAMPLED)
        }
        return Done(
            result=Result.from_dict(simulated, machine.ticks_per_cycle, machine.clock_hz),
            counts=Counts.from_dict(counts),
            program=trace["kernel"],
            parameters=trace["parameters"],
            digest=trace["digest"],
            doubts=tuple(trace["doubts"]),
            causes={name: float(part or 0.0) for name, part in (documents[SIMULATED].get(CAUSES) or {}).items()},
            sampled=documents[SIMULATED].get(SAMPLED),
        )
    except (KeyError, TypeError, ValueError):
        return None

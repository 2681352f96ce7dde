"""Faults planted in simtmm, one at a time, and whether its tests notice:
`python -m tests.mutation --rooms trace,cuda/ptx --count 100 --seed 1`.

A fault is a small change: an operator, a constant, an argument that is left out, a statement. It is planted in a copy
of the tree, and the tests that run its lines are run there. Which tests run which lines is recorded first, by file of
tests (`--record`, which needs coverage), and kept in the user's cache. A survivor is a fault that none of them notices:
it is printed as a diff, and is a test that lacks, or is of tests/mutation/equivalents.toml. `--log FILE` keeps each
verdict as it comes: the same words again continue where a run was stopped. Exit status 1: fewer than nine in ten are
noticed, or more than one in twenty is said to be equivalent.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from simtmm.files import cache_folder
from tests.mutation import report
from tests.mutation.chosen import drawn, equivalents, name_of, sources, written
from tests.mutation.covered import AS_PYTHON, Covered
from tests.mutation.faults import KINDS, Fault
from tests.mutation.judged import LAST_SECONDS, Verdict, difference, judged
from tests.mutation.log import continued
from tests.mutation.running import ROOT, Runner
from tests.mutation.tree import OWN, own_places, synced
from tests.mutation.uses import Uses

T = TypeVar("T")
Run = Callable[[Iterable[Callable[[Runner], Verdict]]], Iterable[Verdict | None]]
TOGETHER = 4  # files of tests that are recorded by one process
NONE = 0.0, 0.0  # seconds for loops as Python


def main() -> int:
    """Do what the command line says; the exit status."""
    given = _arguments()
    try:
        import coverage  # noqa: F401 - said before long work begins
    except ImportError:
        raise SystemExit("coverage is needed, which isn't installed: pip install coverage") from None
    folder = cache_folder() / OWN
    with ExitStack() as stack:
        places = stack.enter_context(own_places(folder, given.workers))
        trees = [synced(ROOT, folder / f"tree-{place}") for place in places]
        covered = Covered(trees[0], folder)
        runners: SimpleQueue[Runner] = SimpleQueue()
        for place, tree in zip(places, trees, strict=True):
            runners.put(stack.enter_context(Runner(tree, cache_folder(), folder / f"scratch-{place}")))

        def with_runner(call: Callable[[Runner], Verdict | None]) -> Verdict | None:
            runner = runners.get()
            try:
                return call(runner)
            finally:
                runners.put(runner)

        def in_turn(calls: Iterable[Callable[[Runner], Verdict]]) -> Iterator[Verdict | None]:
            """What each gives, as they end; a call is asked for when a runner is free."""
            waiting: set[Future[Verdict | None]] = set()
            for call in calls:
                waiting.add(pool.submit(with_runner, call))
                if len(waiting) == given.workers:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (one.result() for one in done)
            yield from (one.result() for one in wait(waiting).done)

        with ThreadPoolExecutor(given.workers) as pool:
            if given.record is not None:
                files = _files(given, covered)
                batches = [files[at : at + TOGETHER] for at in range(0, len(files), TOGETHER)]
                list(
                    pool.map(lambda batch: with_runner(lambda one: _record(batch, covered, one, given.bounds)), batches)
                )
                return 0
            if given.log is None:
                verdicts = _judge(given, covered, trees[0], _faults(given, trees[0]), in_turn)
            else:
                verdicts = _continued(given, covered, trees[0], in_turn)
    print(report.summary(verdicts), report.by_part(verdicts), sep="\n")
    report.written(verdicts, given.out)
    return 0 if report.is_enough(verdicts) else 1


def _continued(given: argparse.Namespace, covered: Covered, tree: Path, run: Run) -> list[Verdict]:
    """All verdicts of a log, with those of the faults that were left."""
    draw = {name: getattr(given, name) for name in ("rooms", "kinds", "seed", "count")}
    with continued(given.log, {**draw, "kinds": list(given.kinds)}, lambda: _faults(given, tree), ROOT) as log:
        faults, gone = log.left()
        for place in gone:
            print(f"gone       {place}", flush=True)
        _judge(given, covered, tree, faults, run, log.add)
    found = log.verdicts(equivalents())
    print(f"{len(found)} of {len(log.planned)} were judged, {len(gone)} are no longer there")
    return found


def _judge(
    given: argparse.Namespace,
    covered: Covered,
    tree: Path,
    faults: Sequence[Fault],
    run: Run,
    noted: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """The verdicts of these faults, each of which is noted as it comes."""
    known, uses, lock = equivalents(), Uses(tree), threading.Lock()
    texts = {fault.file: (ROOT / fault.file).read_bytes() for fault in faults}
    for file in texts:
        covered.by_line(file)

    def verdict_of(fault: Fault) -> Callable[[Runner], Verdict]:
        source = texts[fault.file]

        def found(runner: Runner) -> Verdict:
            reason = known.get(name_of(fault, source))
            if reason is not None:
                verdict = Verdict(fault, "equivalent", 0, 0.0, reason, difference(fault, source))
            else:
                verdict = judged(fault, source, covered, uses, runner, given.seconds, given.last)
            with lock:
                noted(verdict)
                print(f"{verdict.what:10} {fault.kind:9} {fault.file}:{fault.line} {verdict.by}", flush=True)
                if verdict.what == "survived":
                    print(verdict.difference, flush=True)
            return verdict

        return found

    found = run(verdict_of(fault) for fault in within(given.minutes, faults))
    return [verdict for verdict in found if verdict is not None]


def within(minutes: float | None, faults: Iterable[T], clock: Callable[[], float] = time.monotonic) -> Iterator[T]:
    """Faults until so many minutes have gone; all of them if none are given."""
    begun = clock()
    for fault in faults:
        if minutes is not None and clock() - begun > 60 * minutes:
            return
        yield fault


def _faults(given: argparse.Namespace, tree: Path) -> list[Fault]:
    """Those that are to be planted."""
    if given.survivors is None:
        return drawn(ROOT, sources(tree, given.rooms), given.count, given.seed, given.kinds)
    try:
        text = given.survivors.read_text(encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"--survivors {given.survivors}: can't be read ({error.strerror})") from None
    found, gone = written(ROOT, text)
    for place in gone:
        print(f"gone       {place}", flush=True)
    return found


def _files(given: argparse.Namespace, covered: Covered) -> list[str]:
    """The files of tests that are to be recorded: those that are named, and those of folders that have no record."""
    found: list[str] = []
    for name in given.record or ["tests"]:
        at = ROOT / name
        if not at.exists():
            raise SystemExit(f"--record {name}: no such file or folder of tests")
        files = [path.relative_to(ROOT).as_posix() for path in (sorted(at.rglob("test_*.py")) if at.is_dir() else [at])]
        found += covered.lacking(files) if at.is_dir() else files
    return found


def _record(files: Sequence[str], covered: Covered, runner: Runner, bounds: tuple[float, float] | None = None) -> None:
    try:
        tests = covered.record(files, runner, bounds, NONE if bounds else AS_PYTHON)
    except RuntimeError as error:  # of these files alone
        print(error, flush=True)
        return
    for file in files:
        own = [test for test in tests.values() if test.file == file]
        print(f"{file}: {len(own)} tests, {sum(test.seconds for test in own):.0f} s", flush=True)


def _arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutation", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--rooms", type=lambda text: text.split(","), default=["."], help="folders or modules of simtmm"
    )
    parser.add_argument(
        "--kinds", type=_kinds, default=KINDS, help=f"of faults; all if none, which are {', '.join(KINDS)}"
    )
    parser.add_argument("--survivors", type=Path, metavar="FILE", help="plant the faults of this survivors.diff again")
    parser.add_argument("--count", type=int, default=100, help="faults that are planted")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument(
        "--seconds", type=float, default=160.0, help="of the processor that the tests of a fault may take"
    )
    parser.add_argument(
        "--last", type=float, default=LAST_SECONDS,
        help="of the processor, as recorded, for more tests of what nothing else has noticed; 0 for none, nor whole "
        "outputs",
    )  # fmt: skip
    parser.add_argument("--minutes", type=float, help="of the clock, behind which no further fault is planted")
    parser.add_argument("--workers", type=int, default=1, help="faults at once, each in a copy of its own")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="keep the draw and its verdicts there; begun if it isn't there, else continued",
    )
    parser.add_argument("--out", type=Path, default=Path(".mutation"), help="the folder of verdicts and survivors")
    parser.add_argument(
        "--record",
        nargs="*",
        metavar="PATH",
        help="record these files of tests, and those of these folders that have no record; all if none",
    )
    parser.add_argument(
        "--bounds", type=float, nargs=2, metavar=("TEST", "FILE"),
        help="seconds for a test and a file of tests that are recorded, whose loops are not run as Python then",
    )  # fmt: skip
    return parser.parse_args(words)


def _kinds(text: str) -> list[str]:
    found = text.split(",")
    if wrong := [kind for kind in found if kind not in KINDS]:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is none of {', '.join(KINDS)}")
    return found


if __name__ == "__main__":
    sys.exit(main())

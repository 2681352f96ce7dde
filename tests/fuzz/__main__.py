"""Inputs of each kind by the hundred thousand: `python -m tests.fuzz [KIND...] --seconds 600`.

Each kind runs in a process of its own, in which cases follow one another, a thousand a second of the cheap ones; a
process that dies or hangs costs the case that it was at, and another goes on behind it. Totals are kept in a folder
(--out), where a later call with the same seed goes on; `--table` prints them. An input that fails, the first at each
place, lies there beside its traceback:
`python -m tests.fuzz KIND --replay FILE` tries it again. Exit status 1: something failed.

Of all sessions, tests/fuzz/totals.csv has the totals: `--record` puts those of the folder into it, and `--page` prints
the table of docs/threats.md. If left out, the seed is one that the file has no case of, and as many cases are tried as
its kind lacks of 100,000.
"""

import argparse
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from simtmm.errors import SimtmmError
from tests.fuzz.bounds import PATIENCE, bounded
from tests.fuzz.cases import Progress, Totals, drawn, keep, run_cases
from tests.fuzz.kinds import KINDS
from tests.fuzz.totals import AIM, reached, record, rows_of, table

ROOT = Path(__file__).parents[2]
GRACE = 60  # seconds that a process has beyond PATIENCE: for what no signal ends, as a compiled loop


def main() -> int:
    """Do what the command line says; the exit status."""
    given = _arguments()
    if given.list:
        for kind in KINDS.values():
            print(f"{kind.name:16} {kind.about}")
        return 0
    if given.child:
        run_cases(given.kinds[0], given.seed, given.cases, given.seconds, given.out)
        return 0
    if given.replay:
        return _replay(given.kinds[0], given.replay)
    if given.page:
        print("\n".join(table(KINDS)))
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    kinds = given.kinds or list(KINDS)
    if not given.table and not given.record:
        for kind in kinds:
            _run(kind, given)
    found = [totals for kind in kinds for totals in _kept(given.out, kind)]
    if given.record:
        record(found)
        enough, fewer = reached(KINDS)
        print(f"{len(enough)} of {len(KINDS)} kinds have {AIM:,} cases; fewer have {', '.join(fewer) or 'none'}")
    return _table(found)


def _kept(out: Path, kind: str) -> list[Totals]:
    """The totals of a folder, of each seed."""
    paths = sorted(path for path in out.glob(f"{kind}-*.json") if path.stem.removeprefix(f"{kind}-").isdigit())
    return [Totals.load(path, kind, int(path.stem.rpartition("-")[2])) for path in paths]


def _lacking(kind: str, seed: int) -> int:
    """How many cases of the seed make the aim, with those that other seeds had."""
    return max(0, AIM - sum(row.cases for row in rows_of().values() if row.kind == kind and row.seed != seed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__, allow_abbrev=False)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="all, if left out; --list names them")
    parser.add_argument("--cases", type=int, help="of each kind; what it lacks of 100,000, if left out")
    parser.add_argument("--seed", type=int, default=1 + max((row.seed for row in rows_of().values()), default=0))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of each kind at most, in this call")
    parser.add_argument("--out", type=Path, default=Path(".fuzz"), help="the folder of totals, and of what fails")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try this input")
    parser.add_argument("--table", action="store_true", help="the totals that there are, and no more cases")
    parser.add_argument("--record", action="store_true", help="put the totals into totals.csv, and no more cases")
    parser.add_argument("--page", action="store_true", help="the table of docs/threats.md, from totals.csv")
    parser.add_argument("--list", action="store_true", help="the kinds")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    unknown = [kind for kind in given.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"{unknown[0]}: known: {', '.join(KINDS)}")
    return given


def _run(kind: str, given: argparse.Namespace) -> None:
    """Run a kind's cases in processes of their own, and tell how far they are."""
    cases = _lacking(kind, given.seed) if given.cases is None else given.cases
    path = given.out / f"{kind}-{given.seed}.json"
    end = time.monotonic() + given.seconds
    while True:
        left = end - time.monotonic()
        words = [
            kind,
            "--child",
            "--seed",
            given.seed,
            "--cases",
            cases,
            "--seconds",
            left,
            "--out",
            given.out.resolve(),
        ]
        log = given.out / f"{kind}-{given.seed}.log"
        with log.open("ab") as output:
            child = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz", *map(str, words)], cwd=ROOT, stdout=output, stderr=output
            )
            what = _watched(child, given.out / f"{kind}-{given.seed}.at", kind, cases)
        if not what:
            break
        if child.returncode == 1:  # no case did that: the process did not begin, or `make` fails
            print(log.read_text()[-2000:], file=sys.stderr)
            break
        number = Progress(given.out / f"{kind}-{given.seed}.at").number
        totals = Totals.load(path, kind, given.seed)
        kept = keep(given.out, kind, given.seed, number, drawn(kind, given.seed, number))
        totals.failures.append({"number": number, "place": what, "file": kept.name})
        totals.next = number + 1  # those since the last save are not counted
        totals.save(path)


def _watched(child: subprocess.Popen[bytes], at: Path, kind: str, cases: int) -> str:
    """Wait for a process; how it ended where that is a failure."""
    number, since, told = -1, time.monotonic(), time.monotonic()
    while True:
        try:
            child.wait(0.2)
            return "" if child.returncode == 0 else f"ended with status {child.returncode}"
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        except BaseException:
            child.kill()
            child.wait()
            raise
        found = Progress(at).number if at.exists() else -1
        if found != number:
            number, since = found, now
        if now > since + PATIENCE + GRACE:
            child.kill()
            child.wait()
            return f"took more than {PATIENCE + GRACE} s"
        if now > told + 10:
            told = now
            print(f"{kind}: {number:,} of {cases:,}", file=sys.stderr, flush=True)


def _replay(kind: str, path: Path) -> int:
    with TemporaryDirectory() as folder:
        try:
            with bounded():
                KINDS[kind].use(Path(folder), path.read_bytes())
        except SimtmmError as error:
            print(f"refused: {error}")
        except Exception:
            traceback.print_exc()
            return 1
    return 0


def _table(all_totals: Sequence[Totals]) -> int:
    print(
        "| kind | seed | cases | s | ms each | accepted | failed | refused | messages | slowest | memory | failed at |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---|")
    for totals in all_totals:
        refused = ", ".join(f"{count:,} {name}" for name, count in totals.refused.most_common())
        failed = "; ".join(f"{each['place']} ({each['file']})" for each in totals.failures)
        known = totals.accepted + sum(totals.refused.values())
        row = [
            totals.kind, f"{totals.seed}", f"{totals.next:,}", f"{totals.seconds:,.0f}",
            f"{1e3 * totals.seconds / max(totals.next, 1):.2g}", f"{totals.accepted:,}", f"{totals.next - known:,}",
            refused, f"{len(totals.messages)}", f"{totals.slowest[0]:.2g} s", f"{totals.memory / 2**30:.1f} GiB",
            failed,
        ]  # fmt: skip
        print(f"| {' | '.join(row)} |")
    return 1 if any(totals.failures for totals in all_totals) else 0


if __name__ == "__main__":
    sys.exit(main())

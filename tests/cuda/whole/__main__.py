"""Whole kernels by the hundred: `python -m tests.cuda.whole --count 500 --seed 1000`.

Each is compiled by GCC and by NVRTC, and run as C++, as PTX, and as machine code of each architecture. Printed are how
many are equal, what went wrong, and why machine code can't be had. A kernel that goes wrong lies in the folder
(--out), as it was drawn and with as little in it as still goes wrong; `--replay FILE` tries it again. Exit status 1:
something went wrong.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path


def main() -> int:
    """Do what the command line says; the exit status."""
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="whole-cache-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache  # what is compiled here, nobody asks for again
        return _run(given)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.cuda.whole", description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=100, help="kernels")
    parser.add_argument("--seed", type=int, default=0, help="of the first kernel; the next have the next numbers")
    parser.add_argument("--architectures", type=int, nargs="+", metavar="N", help="90 for sm_90; all, if left out")
    parser.add_argument("--rotate", action="store_true", help="one of them for each kernel, in turn")
    parser.add_argument("--ptx", action="store_true", help="as PTX and not as machine code, which takes the most time")
    parser.add_argument("--batch", type=int, default=5, help="kernels that are compiled together")
    parser.add_argument("--seconds", type=float, default=200.0, help="that a kernel is made smaller for")
    parser.add_argument("--out", type=Path, default=Path("whole-kernels"), help="folder of what went wrong")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="kernels that were kept")
    parser.add_argument("--show", action="store_true", help="print the kernels, and do no more")
    return parser.parse_args()


def _run(given: argparse.Namespace) -> int:
    from tests.cuda.whole.compared import MACHINE_CODE, PTX, outcomes
    from tests.cuda.whole.device import ARCHITECTURES
    from tests.cuda.whole.kernels import draw, load

    architectures = given.architectures or ARCHITECTURES
    ways = (PTX,) if given.ptx else (PTX, MACHINE_CODE)
    found = []
    if given.replay:
        for path in given.replay:
            found += outcomes([load(path)], architectures, ways)
        print(*found, sep="\n")
        return int(any(each.is_wrong for each in found))
    if given.show:
        print(*(draw(given.seed + at).text for at in range(given.count)), sep="\n")
        return 0
    for number, first in enumerate(range(given.seed, given.seed + given.count, given.batch)):
        kernels = [draw(seed) for seed in range(first, min(first + given.batch, given.seed + given.count))]
        some = [architectures[number % len(architectures)]] if given.rotate else architectures
        new = outcomes(kernels, some, ways)
        for outcome in new:
            if outcome.is_wrong:
                print(outcome, flush=True)
        _keep(given, new)
        found += new
        print(f"{first + len(kernels) - given.seed} kernels", file=sys.stderr, flush=True)
    _summary(found)
    return int(any(each.is_wrong for each in found))


def _keep(given: argparse.Namespace, found) -> None:
    """Keep the first way in which each kernel goes wrong."""
    from tests.cuda.whole.compared import INVALID
    from tests.cuda.whole.reduced import reduced, same

    kept = set()
    for outcome in found:
        kernel = outcome.kernel
        if not outcome.is_wrong or (kernel.seed, outcome.way) in kept:
            continue
        kept.add((kernel.seed, outcome.way))
        given.out.mkdir(parents=True, exist_ok=True)
        name = f"{kernel.seed}-{outcome.way.replace(' ', '-')}"
        said = str(outcome).replace("\n", " ")
        kernel.save(given.out / f"{name}.cu", said)
        if outcome.ended != INVALID and given.seconds:
            goes_wrong = same(outcome)
            if goes_wrong(kernel):
                reduced(kernel, goes_wrong, given.seconds).save(given.out / f"{name}-small.cu", said)
            else:
                print(f"kernel {kernel.seed}: C++ does not define what it does, or it goes wrong no more", flush=True)


def _summary(found) -> None:
    """How many are equal, and why the others are not."""
    from tests.cuda.whole.compared import MACHINE_CODE, REFUSED

    seeds = {each.kernel.seed for each in found}
    wrong = {each.kernel.seed for each in found if each.is_wrong}
    print(f"kernels: {len(seeds)}; equal every way: {len(seeds - wrong)}; wrong: {len(wrong)} {sorted(wrong) or ''}")
    for (way, ended), count in sorted(Counter((each.way, each.ended) for each in found).items()):
        print(f"{way}: {ended}: {count}")
    lifted = [each for each in found if each.way == MACHINE_CODE]
    refused = [each for each in lifted if each.ended == REFUSED]
    print(f"machine code can't be had: {len(refused)} of {len(lifted)} ({len(refused) / max(1, len(lifted)):.1%})")
    by_cause: dict[str, list] = {}
    for each in refused:
        by_cause.setdefault(each.cause, []).append(each)
    for cause, those in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        which = ", ".join(f"{each.kernel.seed}/sm_{each.architecture}" for each in those[:4])
        print(f"  {len(those):4} ({len(those) / len(lifted):.1%})  {cause}  [{which}]")


if __name__ == "__main__":
    sys.exit(main())

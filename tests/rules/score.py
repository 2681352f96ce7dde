"""The score of check_rule: `python -m tests.rules.score --draws 100 --seeds 5` looks for each wrong rule's breach at
each seed, and prints how long it took: time of the processor, as a busy machine says nothing about a rule. With
`--right 10000` it then draws so many cases for each right rule, shared among its promises.
"""

import argparse
import time

from simtmm.rules import example_rule
from simtmm.testing import BrokenPromiseError, check_rule
from simtmm.testing.promises import BUILT_IN_PROMISES, PROMISES
from tests.rules.wrong import WRONG


def caught(rule, promises, seed, draws):
    """The promises that were seen to be broken; each is looked at by itself."""
    found = []
    for promise in promises:
        try:
            check_rule(rule, [promise], draws=draws, seed=seed)
        except BrokenPromiseError as error:
            found.append((promise, error))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--right", type=int, default=0, help="draws of each right rule, in all")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    missed, longest = 0, 0.0
    for name, (rule, promises) in WRONG.items() if wanted.seeds else []:
        spent = [0.0]
        for seed in range(wanted.seed, wanted.seed + wanted.seeds):
            since = time.process_time()
            found = caught(rule, promises, seed, wanted.draws)
            spent.append((time.process_time() - since) / len(promises))
            for promise in promises:
                if promise not in [law for law, _ in found]:
                    missed += 1
                    print(f"  missed: {name}, {promise}, seed {seed}")
        longest = max(longest, *spent)
        print(f"{name:40} {', '.join(map(str, promises)):40} {max(spent):5.2f} s of CPU at most", flush=True)
    print(
        f"{len(WRONG)} wrong rules at {wanted.seeds} seeds each, {missed} missed; "
        f"a promise took {longest:.2f} s of CPU at most"
    )
    accused = 0
    for name, laws in [*PROMISES.items(), *BUILT_IN_PROMISES.items()] if wanted.right else []:
        since = time.process_time()
        try:
            rule = name if name in BUILT_IN_PROMISES else example_rule(name)
            kept = check_rule(rule, laws, draws=-(-wanted.right // len(laws)), seed=wanted.seed)
            print(f"{kept}\n  {time.process_time() - since:.0f} s of CPU", flush=True)
        except BrokenPromiseError as error:
            accused += 1
            print(f"ACCUSED: {error}", flush=True)
    print(f"{accused} right rules accused")


if __name__ == "__main__":
    main()

"""Scheduling rules that the fast engine leaves to Python: statements of a rule, each for one reason."""

import linecache
from pathlib import Path

from simtmm.engine.own_rule.compiled import compiled

STATEMENTS = (
    "return ready[min(*[1, 2])]", "return ready[min(**{})]", "return ready[0]()", "return ready[pow(2, 3)]",
    "return ready[len(ready, ready)]", "return ready[len(3)]", "return Idle(1, 2)", "return Idle(after=3)",
    "return Idle('no')", "return min(ready, key=3)", "return ready[min(1, 2, key=len)]", "return ready[min()]",
    "return max(ready, lowest=1)", "return sorted(ready, reverse=len(ready) > 1)[0]", "return sorted()[0]",
    "return ready[sum()]", "return ready[sum([1], start=2)]", "return next()", "return next(ready)",
    "return ready[next((warp for warp in ready), 1, 2)]", "for at in range(): pass\nreturn ready[0]",
    "for at in range(0, 9, len(ready)): pass\nreturn ready[0]", "for at in range(0, 9, 0): pass\nreturn ready[0]",
    "return ready[abs(1, 2)]", "return ready[0 if any(1) else 1]", "return helper(ready, 1, 2)", "return spread(ready)",
    "return ready[3 ** len(ready)]", "return ready[len(ready) / 2]", "return ready[1 // 0]", "return ready[1 << 63]",
    "return ready[1 << 70]", "return ready[0.5]", "return ready[b'no']",
    "return ready[0 if ready[0] is len(ready) else 1]", "return ready[0 if Idle(3) else 1]",
    "return ready[0 if ready < ready else 1]", "return ready[0 if 1 in 3 else 1]",
    "return ready[0 if ready == ready else 1]", "return ready[0 if (1, 2) < (1, 2, 3) else 1]",
    "return ready[0 if (1, 2) < 3 else 1]", "return (ready[0] if len(ready) > 1 else 7)", "return ready[unheard_of]",
    "return ready[table]", "found = len\nfound = min\nreturn ready[0]", "found = 1\nfound = ready\nreturn ready[0]",
    "found = (1, 2)\nfound = (1, 2, 3)\nreturn ready[0]", "return ready[ready[0]]", "return ready[ready[0].colour]",
    "return group.colour", "return ready[len.colour]", "ready[0].age = 3\nreturn ready[0]",
    "ready[0] += 1\nreturn ready[0]", "one, two = 3\nreturn ready[0]", "one, two = 1, 2, 3\nreturn ready[0]",
    "for one, two in ready: pass\nreturn ready[0]", "for at in 3: pass\nreturn ready[0]",
    "for at in (1, 2): pass\nreturn ready[0]", "for warp in ready: pass\nelse: pass\nreturn ready[0]",
    "while len(ready) > 9: pass\nelse: pass\nreturn ready[0]", "return [Idle(3)][0]", "return [][0]",
    "return [1, ready[0]][1]", "return ready[[1 for at in range(3)][0]]",
    "return ready[len([one for one in ready for two in ready])]",
    "return ready[len([one for one, two in ready])]", "return sorted(3)[0]", "return ready[(1, 2)[len(ready)]]",
    "return ready[(1, 2)[5]]", "return len(ready)[0]", "return ready[::2][0]", "return next(Idle(3) for warp in ready)",
    "return min(ready, key=lambda warp: ())", "return min(ready, key=lambda warp: warp)",
    "return ready[min([1], default=None)]", "import math\nreturn ready[0]", "del ready\nreturn ready[0]",
    "assert ready\nreturn ready[0]", "with open('x'): pass\nreturn ready[0]", "return ready[f'{1}']", "return {1}",
    "@len\ndef inner(): return 1\nreturn ready[0]", "return given(ready)", "try: return ready[0]\nfinally: pass",
    "found = lambda: 1\nfound += 1\nreturn ready[0]", "if len(ready) > 2: found = 1\nreturn ready[found]",
    "return ready[0], ready[1]", "return None if len(ready) > 1 else 'no'",
)  # fmt: skip
HEAD = '''"""Rules that are refused."""

import random

from simtmm.rules import Idle

table = {}


def helper(ready, at):
    return ready[at]


def spread(*ready):
    return ready[0]


def given(ready, at=1):
    return ready[at]


def rule(ready, group):
'''


def refuse(statements: str, folder: Path = Path()) -> None:
    """Compile a rule of these statements; raises NotCompiledError."""
    body = "".join(f"    {line}\n" for line in statements.splitlines())
    path = folder / "refused.py"
    path.write_text(HEAD + body, encoding="utf-8")
    linecache.clearcache()  # which tells texts apart by their times
    names: dict[str, object] = {"__name__": "refused"}
    exec(compile(HEAD + body, str(path.resolve()), "exec"), names)
    compiled(names["rule"])

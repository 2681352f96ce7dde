"""Scheduling rules that are drawn as text: numbers, conditions, lists and warps in each construct that is compiled.

A rule is a function of a file that exists in `linecache` alone, so that its source is found.
"""

import linecache
from itertools import count

from hypothesis import strategies as st

from simtmm.rules import Idle

OF_WARPS = ("number", "age", "slot", "ready_time", "block", "issued", "hits", "misses")
OF_GROUPS = ("group.now", "group.cycle", "group.number", "len(ready)", "len(group.warps)")
SIGNS = ("<", "<=", ">", ">=", "==", "!=")
FILES = count()


def function_of(text, name="rule"):
    """The function of that name in a text, whose source is found as if it were a file's."""
    path = f"<drawn {next(FILES)}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    space = {"Idle": Idle, "__name__": "drawn"}
    exec(compile(text, path, "exec"), space)
    return space[name]


@st.composite
def numbers(draw, depth, warps=("ready[0]",)):
    """An expression that is a number. warps: names of warps that are not None."""
    if depth == 0:
        return draw(
            st.one_of(
                st.integers(-3, 9).map(str),
                st.sampled_from(OF_GROUPS),
                st.tuples(st.sampled_from(warps), st.sampled_from(OF_WARPS)).map(".".join),
                st.sampled_from(("total", "step")),
            )
        )
    deeper = numbers(depth - 1, warps)
    kind = draw(st.integers(0, 8))
    if kind <= 2:
        return f"({draw(deeper)} {draw(st.sampled_from('+-*'))} {draw(deeper)})"
    if kind == 3:
        return f"({draw(deeper)} {draw(st.sampled_from(('//', '%')))} {draw(st.sampled_from((2, 3, 7, -2, -5)))})"
    if kind == 4:
        return f"{draw(st.sampled_from(('min', 'max')))}({draw(deeper)}, {draw(deeper)})"
    if kind == 5:
        return f"({draw(deeper)} if {draw(truths(depth - 1, warps))} else {draw(deeper)})"
    if kind == 6:
        inner = draw(numbers(depth - 1, (*warps, "w")))
        where = draw(st.sampled_from(("", f" if {draw(truths(depth - 1, (*warps, 'w')))}")))
        return f"sum({inner} for w in {draw(lists(depth - 1, warps))}{where})"
    if kind == 7:
        inner = draw(numbers(depth - 1, (*warps, "v")))
        return f"[{inner} for v in {draw(lists(depth - 1, warps))}].count({draw(deeper)})"
    return draw(st.sampled_from(("-", "abs", "~"))) + f"({draw(deeper)})"


@st.composite
def truths(draw, depth, warps=("ready[0]",)):
    """A condition."""
    if depth == 0:
        one = draw(st.sampled_from(warps))
        return draw(
            st.sampled_from(
                (
                    f"{one}.state == 'ready'", f"{one}.operation in ('load', 'async', 'never')",
                    f"{one}.operation != 'compute'", f"{one} is group.granted_last", "group.granted_last is None",
                    f"{one} in group.warps", f"{one} not in ready", f"{one}.state != 'memory'",
                    "not group.granted_last",
                )
            )
        )  # fmt: skip
    kind = draw(st.integers(0, 5))
    deeper = truths(depth - 1, warps)
    if kind <= 1:
        parts = [draw(numbers(depth - 1, warps)) for _ in range(draw(st.integers(2, 3)))]
        signs = [draw(st.sampled_from(SIGNS)) for _ in parts[1:]]
        return f"({parts[0]} {' '.join(f'{sign} {part}' for sign, part in zip(signs, parts[1:], strict=True))})"
    if kind == 2:
        return f"({draw(deeper)} {draw(st.sampled_from(('and', 'or')))} {draw(deeper)})"
    if kind == 3:
        return f"(not {draw(deeper)})"
    if kind == 4:
        condition = draw(truths(depth - 1, (*warps, "u")))
        return f"{draw(st.sampled_from(('any', 'all')))}({condition} for u in {draw(lists(depth - 1, warps))})"
    pairs = [f"({draw(numbers(depth - 1, warps))}, {draw(numbers(depth - 1, warps))})" for _ in range(2)]
    return f"({pairs[0]} {draw(st.sampled_from(SIGNS))} {pairs[1]})"


@st.composite
def lists(draw, depth, warps=("ready[0]",)):
    """A list of warps, which may be empty."""
    if depth == 0:
        return draw(st.sampled_from(("ready", "group.warps", "some")))
    deeper = draw(lists(depth - 1, warps))
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return f"[x for x in {deeper} if {draw(truths(depth - 1, (*warps, 'x')))}]"
    if kind == 1:
        bounds = [draw(st.sampled_from(("", draw(numbers(0, warps))))) for _ in range(2)]
        return f"{deeper}[{':'.join(bounds)}]"
    if kind == 2:
        backwards = draw(st.sampled_from(("", ", reverse=True")))
        return f"sorted({deeper}, key=lambda y: ({draw(numbers(depth - 1, (*warps, 'y')))}, y.slot){backwards})"
    return f"list({deeper})" if kind == 3 else deeper


@st.composite
def warp_of(draw, depth):
    """A warp of `ready`."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return f"ready[{draw(numbers(depth))} % len(ready)]"
    key = f"lambda z: ({draw(numbers(depth, ('ready[0]', 'z')))}, {draw(truths(depth, ('z',)))}, z.age)"
    if kind == 1:
        return f"{draw(st.sampled_from(('min', 'max')))}(ready, key={key})"
    if kind == 2:
        return f"next((n for n in ready if {draw(truths(depth, ('n',)))}), ready[-1])"
    return f"min([m for m in ready if {draw(truths(depth, ('m',)))}], key={key}, default=ready[0])"


@st.composite
def rule_texts(draw):
    """A rule: a few assignments, a loop, a helper, and an answer."""
    depth = draw(st.integers(1, 2))
    waits = draw(st.sampled_from(("", f"    if {draw(truths(1))}:\n        return Idle(group.now + 1 + step)\n")))
    return f"""def helper(warp, group, ready, step, total, some):
    if {draw(truths(1, ("warp",)))}:
        return {draw(numbers(depth, ("warp",)))} % 97
    for other in group.warps:
        if {draw(truths(1, ("warp", "other")))}:
            return other.slot - step
        elif other.age == step:
            continue
        step += 1
        if step > {draw(st.integers(0, 9))}:
            break
    return step


def rule(ready, group):
    total, step = 0, {draw(st.integers(0, 5))}
    some = ready[:2]
    for each in {draw(lists(1))}:
        if {draw(truths(1, ("each",)))}:
            total += {draw(numbers(depth, ("each",)))} % 101
            some = {draw(lists(1, ("each",)))}
        else:
            total -= step
    while step < {draw(st.integers(0, 9))}:
        step += 1
        if {draw(truths(1))}:
            break
    total += helper(ready[-1], group, ready, step, total, some)
{waits}    if {draw(truths(depth))}:
        return {draw(warp_of(1))}
    return {draw(warp_of(depth))}
"""

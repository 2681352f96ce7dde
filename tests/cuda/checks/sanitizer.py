"""What compute-sanitizer says of the kernels of faults.cu on an H100 (sanitizer_h100.csv), beside what simtmm finds.

`python -m tests.cuda.checks.sanitizer FOLDER` prints the rows of the file from outputs of compute-sanitizer, which are
named KERNEL.TOOL; `python -m tests.cuda.checks.sanitizer` prints how many planted faults each finds.
"""

import csv
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

from tests.cuda.checks import faults

TABLE = Path(__file__).with_name("sanitizer_h100.csv")
NOTHING = "nothing"
_WHAT = re.compile(r"^========= (?:(Error|Warning): )?(.*Potential \w+ hazard|Barrier error detected\. [^.]*)", re.M)
_SIDE = re.compile(r"^=========     .*at .*\+0x[0-9a-f]+ in faults\.cu:(\d+)", re.M)
_OURS = re.compile(r"(.*hazard|Barrier error detected\. [^:]*|Uninitialized \S+ memory)")

# Planted faults of which compute-sanitizer says nothing at their lines, by why.
GLOBAL = "racecheck looks at shared memory alone"
UNWRITTEN_SHARED = "initcheck looks at global memory alone"
ONLY_OURS = {
    "shuffle_between_write_and_read_of_global": GLOBAL,
    "atomic_of_a_block_between_blocks": GLOBAL,
    "blocks_write_one": GLOBAL,
    "blocks_add_to_one": GLOBAL,
    "blocks_read_their_neighbours": GLOBAL,
    "last_block_without_fence": GLOBAL,
    "last_block_with_a_fence_of_the_block": GLOBAL,
    "last_block_before_all_have_written": GLOBAL,
    "chain_of_flags_without_fence": GLOBAL,
    "spin_lock_not_taken_by_all": GLOBAL,
    "grid_barrier_without_the_second_half": GLOBAL,
    "acquire_without_release": GLOBAL,
    "unwritten_shared": UNWRITTEN_SHARED,
    "atomic_against_plain": "a plain read beside atomics of other threads is not reported",
    "named_barrier_of_others": "a named barrier of one warp may count as one of the block",
    "neighbours_part": "the assembler has the read before the write; the WAR hazard that is left is not reported",
    "barrier_in_a_loop_of_other_rounds": "the threads that leave the loop early are not missed at its barrier",
}
# What compute-sanitizer says and simtmm does not, by why: in right kernels, and in those with another fault.
FLAG = "it does not know that a flag orders what is written before it, nor that the flag is volatile"
RUN = "which of the two came first is the luck of a run: simtmm saw the other order at the same lines"
ONLY_THEIRS = {
    "right_flag_of_a_block": FLAG,
    "flag_of_a_block_without_fence": FLAG,
    "histogram_without_atomics": RUN,
    "two_calls_of_what_calls_it": "it says block, simtmm warp: halves of one warp come by different calls",
}


@cache
def said():
    """By kernel and tool, what compute-sanitizer says: words and lines, counted from the kernel's first."""
    found = {}
    with TABLE.open(newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            into = found.setdefault((row["kernel"], row["tool"]), set())
            if row["says"] != NOTHING:
                into.add((row["says"], tuple(int(line) for line in row["lines"].split())))
    return found


def ours(kernel, tool):
    """What simtmm says, likewise."""
    found = faults.found(kernel, fresh=kernel == "unwritten_global")
    return {words for each in found.harmful if each.check == tool for words in words_of(kernel, each)}


def words_of(kernel, finding):
    """A finding in the words of compute-sanitizer, which names one of the lines of a barrier's threads."""
    what = _OURS.match(finding.what)[0]
    lines = faults.lines_of(kernel, finding)
    if what.startswith("Barrier"):
        return [(what, (line,)) for line in lines]
    return [(f"{finding.severity}: {what}", lines)]


def finds_planted(kernel):
    """Whether compute-sanitizer finds the fault of a kernel: something at its lines, in either order."""
    lines = faults.FAULTS[kernel][1:]
    return any(set(at) <= set(lines) for (name, _), found in said().items() if name == kernel for _, at in found)


def measured():
    """Kernels of which all that matters was run: the check that finds their planted fault, or all three."""
    tools = {kernel: {tool for name, tool in said() if name == kernel} for kernel, _ in said()}
    return [kernel for kernel in faults.module().entries if kernel in tools and needed(kernel) <= tools[kernel]]


def needed(kernel):
    """The tools that a kernel's planted fault is for."""
    if kernel not in faults.FAULTS:
        return {"racecheck", "synccheck"}
    finding = faults.planted(kernel, faults.found(kernel, fresh=kernel == "unwritten_global"))
    return {finding.check}


def rows(folder):
    """Rows of the table, of outputs in a folder. What was stopped before it said anything is left out."""
    for kernel in faults.module().entries:
        for tool in ("racecheck", "synccheck", "initcheck"):
            path = Path(folder) / f"{kernel}.{tool}"
            text = path.read_text() if path.exists() else ""
            counts = Counter()
            for part in re.split(r"^========= *$", text, flags=re.M):
                if what := _WHAT.search(part):
                    at = [str(int(line) - faults.first_line(kernel)) for line in _SIDE.findall(part)]
                    is_barrier = what[1] is None
                    counts[what[2] if is_barrier else f"{what[1]}: {what[2]}", " ".join(at[: 2 - is_barrier])] += 1
            for (words, lines), times in counts.items():
                yield kernel, tool, words, lines, times
            if not counts and f"{kernel} no error" in text:
                yield kernel, tool, NOTHING, "", ""


def main(arguments):
    if arguments:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows(arguments[0]))
        return
    planted = [kernel for kernel in measured() if kernel in faults.FAULTS]
    right = [kernel for kernel in measured() if kernel not in faults.FAULTS]
    both = sum(finds_planted(kernel) for kernel in planted)
    print(f"{len(planted)} planted faults: compute-sanitizer finds {both}; {len(right)} right kernels")
    for kernel in planted:
        if not finds_planted(kernel):
            print(f"simtmm alone: {kernel}: {ONLY_OURS.get(kernel)}")


if __name__ == "__main__":
    main(sys.argv[1:])

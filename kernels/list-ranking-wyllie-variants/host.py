"""List ranking by pointer jumping, the thesis's four versions.

packed-64, packed-32: all jumps in one launch, in place, on nodes of one word (Algorithm 3; 32 bits for n <= 2^16).
stepwise: a launch a step, until no thread has raised the flag (Algorithm 4).
restricted: as packed-64, with no load that can be spared (Algorithm 5).

Racy: in packed-64, packed-32 and restricted the load of a successor's node in another block meets the stores of that
node's thread, in place and unordered. No grid-wide barrier is needed for the right answer: a node is read and written
whole, so what is read, old or new, is a true node, and every jump leads nearer to the end. Only how many jumps a thread
makes depends on the order. A recording has blocks one after another, so those of the first block are many and those of
the last are few; on a GPU all blocks that are resident run at once, and about lg n jumps are enough. The recorded span
is too long for that reason, unless there is one block only; and on an ordered list far too long, since the nodes behind
a block's own have not moved yet, so that it goes on node by node: n^2 / 2 jumps in all. Algorithm 3 has no barriers and
assumes that the GPU runs in step, as a PRAM; here barriers see to that within a block, as they do in Algorithm 5.

In stepwise nothing races but stores of the same 1 to a flag: the thesis stores in place, which leaves blocks racing,
here two buffers take turns. There is a flag for each step, so that nobody need reset it. Algorithm 4 as printed never
sets `finished`; here a node takes it over from its successor.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "001 (Rehman) sections 3.2 and 3.3.1, Algorithms 3, 4 and 5"

PARAMETERS = {
    "version": Parameter("packed-64", "which version", choices=("packed-64", "packed-32", "stepwise", "restricted")),
    "n": Parameter(4096, "nodes of the list, 65536 at most for packed-32", minimum=1, maximum=2**26),
    "threads": Parameter(512, "threads of a block", minimum=1, maximum=1024),
    "order": Parameter("random", "how the list lies in memory", choices=("random", "ordered")),
}

FINISHED = 1 << 63
RANK = 0x7FFFFFFF  # without that bit
REGISTERS = 10  # assumption: a handful of 64-bit values
MOST_STEPS = 32


def algorithm(p):
    return "list-ranking", {"n": p.n}


def inputs(p):
    half, word = (16, np.uint32) if p.version == "packed-32" else (32, np.uint64)
    if p.n > 2**half:
        raise KernelError(f"n = {p.n}: packed-32 has {half} bits for a node, so n must be at most {2**half}")
    order = np.random.default_rng(p.seed).permutation(p.n) if p.order == "random" else np.arange(p.n)
    nodes = np.full(p.n, 1 << half, dtype=word)
    nodes[order[:-1]] |= order[1:].astype(word)
    nodes[order[-1]] = int(order[-1]) | (FINISHED if p.version == "stepwise" else 0)
    arrays = {"nodes": nodes}
    if p.version == "stepwise":
        arrays |= {"jumped": np.zeros_like(nodes), "unfinished": np.zeros(MOST_STEPS, dtype=np.int32)}
    return arrays


def launches(p, memory):
    shape = {"grid": -(-p.n // p.threads), "block": p.threads, "registers_per_thread": REGISTERS}
    if p.version != "stepwise":
        yield Launch(p.version.replace("-", "_"), ("nodes", p.n), **shape)
        return
    buffers = ("nodes", "jumped")
    step = 0
    while step == 0 or memory["unfinished"][step - 1]:
        yield Launch("stepwise", (buffers[step % 2], buffers[(step + 1) % 2], "unfinished", step, p.n), **shape)
        step += 1


def check(p, before, after):
    half = 16 if p.version == "packed-32" else 32
    successor = [node & (1 << half) - 1 for node in before["nodes"].tolist()]
    predecessor = {of: node for node, of in enumerate(successor) if node != of}
    (node,) = (node for node, of in enumerate(successor) if node == of)  # the last is its own
    expected = np.empty(p.n, dtype=np.int64)
    for rank in range(p.n):
        expected[node] = rank
        node = predecessor.get(node)
    ranked = after["nodes"]
    if p.version == "stepwise" and np.count_nonzero(after["unfinished"]) % 2 == 0:  # an odd number of steps
        ranked = after["jumped"]
    found = (ranked >> ranked.dtype.type(half)).astype(np.int64) & RANK
    expect_equal("rank", found, expected)

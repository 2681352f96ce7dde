"""Reads of a table in constant memory: all threads of a warp at one index, at neighbours, or anywhere.

Each thread adds up a few elements from an index of its own on. The constant cache serves a warp one word at a time: an
instruction for each word that its threads read (docs/machine.md, section 9). Only the compiled form shows that (`--as
compiled`); as written, each read is one operation. With memory = global the same table lies in global memory, whose
caches serve words of one line together, at their latency.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 5.2.1 and 002, which leave constant memory for future work"

PARAMETERS = {
    "n": Parameter(4096, "threads", minimum=1, maximum=2**24),
    "indexes": Parameter("broadcast", "where the threads begin", choices=("broadcast", "neighbours", "random")),
    "memory": Parameter("constant", "where the table lies", choices=("constant", "global")),
    "size": Parameter(256, "elements of the table", minimum=1, maximum=1024),
    "reads": Parameter(16, "elements that a thread reads", minimum=1, maximum=1024),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 10  # assumption: pointers, an index, a sum, a count


def table(p):
    return np.random.default_rng([p.seed, 1]).integers(0, 1 << 16, p.size, dtype=np.uint32)


def defines(p):
    values = ",".join(f"{value}u" for value in table(p).tolist())
    return {
        "SIZE": p.size,
        "READS": p.reads,
        "VALUES": f"{{{values}}}",
        "IN_CONSTANT_MEMORY": int(p.memory == "constant"),
    }


def inputs(p):
    match p.indexes:
        case "broadcast":
            first = np.zeros(p.n)
        case "neighbours":
            first = np.arange(p.n) % p.size
        case "random":
            first = np.random.default_rng(p.seed).integers(0, p.size, p.n)
    sums = np.zeros(p.n, dtype=np.uint32)
    return {"copy": table(p), "first": first.astype(np.uint32), "sums": sums}


def launches(p, memory):
    yield Launch(
        "look_up",
        ("copy", "first", "sums", p.n),
        grid=-(-p.n // p.threads),
        block=p.threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    read = (before["first"][:, None] + np.arange(p.reads)) % p.size
    expect_equal("sums", after["sums"], before["copy"][read].sum(axis=1, dtype=np.uint32))

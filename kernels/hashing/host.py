"""Synthetic hashing: random reads or updates of a table in local or global memory.

The n positions lie in global memory, a range for each block, and are read in order; the table has `working_set`
bytes. In shared memory each block has a table of its own: it fills it by arithmetic before it reads, and stores it
to global memory after it has updated. The papers only read.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 5.2.1, Eq (5.15), (5.16); 002 (Ma and Chamberlain) section III"

PARAMETERS = {
    "n": Parameter(65536, "accesses", minimum=1, maximum=2**28),
    "working_set": Parameter(8192, "bytes of the table, in whole words of 4", minimum=4, maximum=2**28),
    "memory": Parameter("shared", "where the table is", choices=("shared", "global")),
    "operation": Parameter("read", "what is done there", choices=("read", "update")),
    "blocks": Parameter(30, "blocks of the grid", minimum=1, maximum=4096),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

WORD = 4
MOST_SHARED = 2**18  # bytes; no machine gives a block more shared memory
REGISTERS = 12  # assumption: pointers, a range, a sum


def words(p):
    """Words of the table."""
    return p.working_set // WORD


def per_block(p):
    """Accesses of a block; the last ones may have fewer."""
    return -(-p.n // p.blocks)


def defines(p):
    return {"WORDS": words(p) if p.memory == "shared" else 1}


def algorithm(p):
    return "hashing", {"n": p.n, "m": p.working_set // WORD}


def inputs(p):
    if p.memory == "shared" and p.working_set > MOST_SHARED:
        raise KernelError(f"kernel hashing: working_set = {p.working_set}: must be at most {MOST_SHARED} where shared")
    arrays = {"positions": np.random.default_rng(p.seed).integers(0, words(p), p.n, dtype=np.uint32)}
    if p.operation == "read":
        arrays |= {"table": entries(words(p))} if p.memory == "global" else {}
        return arrays | {"sums": np.zeros(p.blocks * p.threads, dtype=np.uint32)}
    tables = p.blocks if p.memory == "shared" else 1
    return arrays | {"table": np.zeros((tables, words(p)), dtype=np.uint32)}


def entries(count):
    """The table that is read."""
    return ((np.arange(count, dtype=np.uint64) * 2654435761 + 12345) % 2**32).astype(np.uint32)


def launches(p, memory):
    yield Launch(
        f"{p.operation}_{p.memory}",
        (*memory, p.n, per_block(p)),
        grid=p.blocks,
        block=p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=words(p) * WORD if p.memory == "shared" else 0,
    )


def check(p, before, after):
    positions = before["positions"]
    block, within = np.divmod(np.arange(p.n), per_block(p))
    if p.operation == "read":
        sums = np.zeros(p.blocks * p.threads, dtype=np.uint32)
        np.add.at(sums, block * p.threads + within % p.threads, entries(words(p))[positions])
        expect_equal("sums", after["sums"], sums)
    else:
        table = np.zeros_like(before["table"])
        np.add.at(table, (block % len(table), positions), 1)
        expect_equal("table", after["table"], table)

"""What a tick of a living warp is booked to, and what is counted beside (docs/machine.md, section 10)."""

from enum import IntEnum


class Reason(IntEnum):
    """What a tick of a living warp is booked to. Those from PORT_QUEUE to FIRST_ACCESS are an access's path."""

    ISSUING = 0
    NOT_GRANTED = 1
    INSTRUCTION_LATENCY = 2
    BANK_CONFLICTS = 3
    PORT_QUEUE = 4
    L2_QUEUE = 5
    LAST_LEVEL_QUEUE = 6
    MEMORY_QUEUE = 7
    ATOMICS_QUEUE = 8
    TURNAROUND = 9
    ROWS = 10
    L1_LATENCY = 11
    L2_LATENCY = 12
    LAST_LEVEL_LATENCY = 13
    MEMORY_LATENCY = 14
    LINE_IN_FLIGHT = 15
    FIRST_ACCESS = 16
    OUTSTANDING = 17
    BARRIER = 18
    LAUNCH = 19
    PIPE_QUEUE = 20
    MBARRIER = 21
    COPIES = 22
    PRODUCER = 23
    CONSUMER = 24
    REGISTERS = 25


class Count(IntEnum):
    """What is counted at a place."""

    INSTRUCTIONS = 0
    REQUESTS = 1
    CHUNKS = 2
    L1_HITS = 3
    L2_HITS = 4
    L1_STORES = 5
    CONFLICTS = 6
    L2_SECTORS = 7
    MEMORY_SECTORS = 8
    LAST_LEVEL_HITS = 9
    LAST_LEVEL_SECTORS = 10


REASONS = tuple(reason.name.lower() for reason in Reason)
COUNTS = tuple(count.name.lower() for count in Count)
QUEUES = tuple(Reason)[Reason.PORT_QUEUE : Reason.ROWS + 1]  # of these, what others keep an access waiting for
PATH = tuple(Reason)[Reason.PORT_QUEUE : Reason.FIRST_ACCESS + 1]  # in the order in which an access goes through it

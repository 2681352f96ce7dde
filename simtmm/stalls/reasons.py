"""What a tick of a living warp is booked to, and what is counted beside (docs/machine.md, section 10)."""

from enum import IntEnum


class Reason(IntEnum):
    """What a tick of a living warp is booked to. Those from PORT_QUEUE to FIRST_ACCESS are an access's path."""

    ISSUING = 0
    NOT_GRANTED = 1
    INSTRUCTION_LATENCY = 2
    BANK_CONFLICTS = 3
    PORT_QUEUE = 4
    SHARED_L1_QUEUE = 5
    L2_QUEUE = 6
    LAST_LEVEL_QUEUE = 7
    MEMORY_QUEUE = 8
    ATOMICS_QUEUE = 9
    TURNAROUND = 10
    ROWS = 11
    L1_LATENCY = 12
    SHARED_L1_LATENCY = 13
    L2_LATENCY = 14
    LAST_LEVEL_LATENCY = 15
    MEMORY_LATENCY = 16
    LINE_IN_FLIGHT = 17
    FIRST_ACCESS = 18
    OUTSTANDING = 19
    BARRIER = 20
    LAUNCH = 21
    PIPE_QUEUE = 22
    MBARRIER = 23
    COPIES = 24
    PRODUCER = 25
    CONSUMER = 26
    REGISTERS = 27


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
    SHARED_L1_HITS = 11
    SHARED_L1_SECTORS = 12


REASONS = tuple(reason.name.lower() for reason in Reason)
COUNTS = tuple(count.name.lower() for count in Count)
QUEUES = tuple(Reason)[Reason.PORT_QUEUE : Reason.ROWS + 1]  # of these, what others keep an access waiting for
PATH = tuple(Reason)[Reason.PORT_QUEUE : Reason.FIRST_ACCESS + 1]  # in the order in which an access goes through it

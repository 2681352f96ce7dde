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
    MEMORY_QUEUE = 6
    ATOMICS_QUEUE = 7
    TURNAROUND = 8
    ROWS = 9
    L1_LATENCY = 10
    L2_LATENCY = 11
    MEMORY_LATENCY = 12
    LINE_IN_FLIGHT = 13
    FIRST_ACCESS = 14
    OUTSTANDING = 15
    BARRIER = 16
    LAUNCH = 17
    PIPE_QUEUE = 18
    MBARRIER = 19
    COPIES = 20
    PRODUCER = 21
    CONSUMER = 22


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


REASONS = tuple(reason.name.lower() for reason in Reason)
COUNTS = tuple(count.name.lower() for count in Count)
QUEUES = tuple(Reason)[Reason.PORT_QUEUE : Reason.ROWS + 1]  # of these, what others keep an access waiting for
PATH = tuple(Reason)[Reason.PORT_QUEUE : Reason.FIRST_ACCESS + 1]  # in the order in which an access goes through it

ODD = [
    {"n": 1},
    {"n": 2, "steps": 1},
    {"n": 3, "steps": 0},
    {"n": 1000, "steps": 77, "threads": 33, "blocks": 3, "seed": 1},
    {"n": 10, "steps": 25, "threads": 100},  # more threads than elements, more than a round
]

EVENTS = [{"n": 64, "steps": 100}, {"n": 100, "steps": 7, "threads": 65, "blocks": 2}]


def events(n, steps, threads=1, blocks=1):
    # A block copies n elements, a load and a store each; a thread: a barrier, the chain, a store.
    return blocks * (2 * n + threads * (steps + 2))


MISTAKES = [
    ("step < steps", "step <= steps", {}),
    ("at = LDS(here, at)", "at = LDS(here, 0)", {}),
    ("STS(here, i, following)", "STS(here, i, i)", {"threads": 64}),
    ("ST(last, thread, at);", "ST(last, thread, thread);", {}),
]

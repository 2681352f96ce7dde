ODD = [
    {"n": 1},
    {"n": 2, "steps": 1, "stride": 1},
    {"n": 3, "steps": 0},
    {"n": 1000, "steps": 77, "threads": 33, "blocks": 3, "stride": 5, "seed": 1},
    {"n": 100, "steps": 250, "threads": 1024, "order": "ordered"},  # more threads than elements, more than a round
]

EVENTS = [{"n": 64, "steps": 100}, {"n": 1000, "steps": 7, "threads": 65, "blocks": 2}]


def events(steps, threads=1, blocks=1, **_):
    return threads * blocks * (steps + 1)  # the loads of the chain, a store


MISTAKES = [
    ("step < steps", "step <= steps", {}),
    ("at = LD(next, at)", "at = LD(next, 0)", {}),
    ("ST(last, thread, at);", "ST(last, thread, thread);", {}),
    ("(thread % n) * stride", "((thread + 1) % n) * stride", {}),
]

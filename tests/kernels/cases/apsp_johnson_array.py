import heapq

from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024, "degree": 2.0},  # all edges
    {"n": 17, "threads": 33, "degree": 0.0},  # a single edge
    {"n": 21, "threads": 7, "seed": 5, "degree": 1.5},
    {"n": 20, "threads": 64, "degree": 100.0},  # more than there can be
]

EVENTS = [{"n": 30, "threads": 32}, {"n": 25, "threads": 7, "degree": 1.0}, {"n": 4, "threads": 1}]


def events(n, threads, **others):
    arrays = inputs_of("apsp-johnson-array", {"n": n, "threads": threads, **others})
    first, end, weight = (arrays[name].tolist() for name in ("first_edge", "end", "weight"))
    levels = (threads - 1).bit_length()
    # Delete-min. A vertex: load, work. A thread: shared store and load, barriers; of the tree, each thread but one is
    # folded into another: 1 shared load, work, 1 shared store.
    delete_min = 2 * n + threads * (3 + levels) + 3 * (threads - 1)
    count = 0
    for source in range(n):
        count += n + threads  # store the keys, a barrier
        distance, done, queue = {source: 0}, set(), [(0, source)]
        while queue:
            length, vertex = heapq.heappop(queue)
            if vertex in done:
                continue
            done.add(vertex)
            count += delete_min + 2 + 4 * threads  # two stores; a thread: 2 asyncs, a join, a barrier
            for edge in range(first[vertex], first[vertex + 1]):
                to, through = end[edge], length + weight[edge]
                count += 5  # 2 asyncs, a join, a load, work
                if to not in done and through < distance.get(to, float("inf")):
                    distance[to] = through
                    heapq.heappush(queue, (through, to))
                    count += 1
        if len(done) < n:
            count += delete_min  # the one that finds nothing that can be reached
    return count


MISTAKES = [
    ("d + w < known", "d + w > known", {}),
    ("t + half < width", "t + half < width - 1", {}),
    ("known != REMOVED &&", "", {}),
    ("e += THREADS", "e += THREADS + 1", {"threads": 1}),
]

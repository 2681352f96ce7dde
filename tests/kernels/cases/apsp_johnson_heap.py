from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024, "degree": 2.0, "layout": "interleaved"},  # all edges
    {"n": 17, "threads": 33, "degree": 0.0},  # a single edge
    {"n": 41, "threads": 7, "seed": 5, "degree": 1.5, "layout": "interleaved"},
    {"n": 20, "threads": 5, "degree": 100.0},  # more than there can be
]

EVENTS = [{"n": 30, "threads": 32}, {"n": 25, "threads": 4, "degree": 1.0}, {"n": 20, "degree": 19.0}]


class Heap:
    """A binary heap of (key, vertex) that swaps neighbours, counting the levels gone and the neighbours looked at."""

    def __init__(self, entries):
        self.entries, self.swaps, self.looks_up, self.looks_down = sorted(entries), 0, 0, 0

    def swap(self, one, other):
        self.entries[one], self.entries[other] = self.entries[other], self.entries[one]
        self.swaps += 1

    def pop(self):
        least, self.entries[0] = self.entries[0], self.entries[-1]
        self.entries.pop()
        at = 0
        while children := range(2 * at + 1, min(2 * at + 3, len(self.entries))):
            # The loads and, once for both, a join and work; none for a child that is not there.
            self.looks_down += len(children) + 2
            child = min(children, key=self.entries.__getitem__)
            if self.entries[at] < self.entries[child]:
                break
            self.swap(at, child)
            at = child
        return least

    def decrease(self, at, entry):
        self.entries[at] = entry
        while at > 0:
            self.looks_up += 2  # a load, work
            if self.entries[(at - 1) // 2] < entry:
                break
            self.swap(at, (at - 1) // 2)
            at = (at - 1) // 2


def events(n, **others):
    arrays = inputs_of("apsp-johnson-heap", {"n": n, **others})
    first, end, weight = (arrays[name].tolist() for name in ("first_edge", "end", "weight"))
    count = 0
    for source in range(n):
        heap = Heap([(0 if vertex == source else float("inf"), vertex) for vertex in range(n)])
        count += 2 * n  # a vertex: stores of its entry and its place
        while True:
            count += 4  # 2 asyncs, a join, work
            if heap.entries[0][0] == float("inf"):
                break
            length, vertex = heap.pop()
            count += 2  # its distance, and that it is deleted
            if not heap.entries:
                break
            count += 2 + 3  # the last entry and its place; 2 asyncs and a join for the edges
            for edge in range(first[vertex], first[vertex + 1]):
                count += 5  # 2 asyncs, a join, a load, work
                (at,) = [at for at, (_, entry) in enumerate(heap.entries) if entry == end[edge]] or (None,)
                if at is None:
                    continue
                count += 2  # its key, work
                if length + weight[edge] < heap.entries[at][0]:
                    heap.decrease(at, (length + weight[edge], end[edge]))
                    count += 2  # the entry and its place
        count += heap.looks_up + heap.looks_down + 2 * heap.swaps
    return count


MISTAKES = [
    ("shorter >= key", "shorter <= key", {}),
    ("if (right < below)", "if (right > below)", {}),
    ("(at - 1) / 2", "at / 2", {}),
    ("i <= source", "i < source", {}),
]

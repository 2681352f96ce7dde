"""Unfinished: Ctrl-C, with the results so far."""

from typing import Generic, TypeVar

Results = TypeVar("Results")


class Unfinished(KeyboardInterrupt, Generic[Results]):
    """Ctrl-C in work of which a part is done. results: what came of that part. done, total: cases or configurations."""

    def __init__(self, results: Results, done: int, total: int) -> None:
        super().__init__(f"{done} of {total}")
        self.results, self.done, self.total = results, done, total

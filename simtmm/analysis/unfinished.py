"""Unfinished: Ctrl-C, with what had been done until then."""

from typing import Generic, TypeVar

Made = TypeVar("Made")


class Unfinished(KeyboardInterrupt, Generic[Made]):
    """Ctrl-C in work of which a part is done. made: what came of that part. done, total: cases or configurations."""

    def __init__(self, made: Made, done: int, total: int) -> None:
        super().__init__(f"{done} of {total}")
        self.made, self.done, self.total = made, done, total

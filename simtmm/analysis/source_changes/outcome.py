"""What is advised."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Advice:
    """A change of the source.

    change: which, a word of docs/why.md. words: what to do, and why.
    file, line, array: where; "" and 0 if that is the launch.
    gain: the time as it is over the time with the change.
    how: "simulated" where the changed operations are those that the changed source would do, "bound" where they leave
    out something that it takes: the gain is at most this then; "compiled" where the changed source was compiled, run,
    compared and simulated.
    part: what of the run was simulated for it; "" for all.
    """

    change: str
    words: str
    file: str
    line: int
    array: str
    gain: float
    how: str
    part: str

    @property
    def where(self) -> str:
        """The place, as in "sgemm.cu:9 (A)"."""
        at = f"{self.file}:{self.line}" if self.line else ""
        return f"{at} ({self.array})" if self.array and at else at

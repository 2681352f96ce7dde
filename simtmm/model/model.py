"""A model as one object: what it is called, its equation and source, and its prediction for a program on a machine."""

from collections.abc import Callable
from dataclasses import dataclass

from simtmm.model.equations.formula import Formula
from simtmm.result import Prediction


@dataclass(frozen=True)
class Model:
    """A model of the time that a program takes.

    label: what tables and pictures call it.
    formula: its equation, which also has the model's name and its source.
    prediction: a function of (machine, counts) that gives a Prediction. Where the model has `constants`, they follow by
        keyword.
    form_of: the name of the model that it is another form of. In pictures both have one colour, and markers that are
        filled for one and open for the other.
    constants: the names of those that no machine and no counts give, as they are fitted to measured times.
    algorithm: the name of the one algorithm that it is of, if it is; without constants `prediction` takes that one's
        symbols, too.
    """

    label: str
    formula: Formula
    prediction: Callable[..., Prediction]
    form_of: str = ""
    constants: tuple[str, ...] = ()
    algorithm: str = ""

    @property
    def name(self) -> str:
        """As in code, in files and on the command line."""
        return self.formula.name

    @property
    def reference(self) -> str:
        """The document, and equation or section."""
        return self.formula.source

    @property
    def family(self) -> str:
        """The name that all forms of one model share: that of the first."""
        return self.form_of or self.name

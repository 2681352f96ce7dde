"""PTX run slowly and plainly, a thread at a time: a second writing, which the compiled one is compared with."""

from tests.cuda.interpreter.memory import AccessError, Memory
from tests.cuda.interpreter.schedule import DeadlockError, InterpreterError, run

__all__ = ["AccessError", "DeadlockError", "InterpreterError", "Memory", "run"]

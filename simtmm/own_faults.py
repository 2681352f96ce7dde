"""Faults of simtmm itself: told as such, with a file to send, and remembered until the command line ends."""

import contextlib
import hashlib
import linecache
import platform
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

from simtmm.errors import InternalError, SimtmmError, shown_error
from simtmm.provenance import provenance

STATUS = 3  # of a command that met one
_OURS = "a fault of simtmm, not"
OURS = f"{_OURS} of your kernel"
_PACKAGE = Path(__file__).resolve().parent
_noted: dict[str, None] = {}  # in this process, in their order


@contextlib.contextmanager
def told_as_ours(doing: str) -> Iterator[None]:
    """Have an exception of the block that is no error of simtmm's become an InternalError.

    doing: what comes to nothing, as the message begins: "launch 3 of saxpy was not checked".

    Raises InternalError; simtmm's own errors and a lack of memory pass.
    """
    try:
        yield
    except (SimtmmError, MemoryError):
        raise
    except Exception as error:
        raise internal_error(error, doing) from error


def internal_error(error: BaseException, doing: str, whose: str = "of your kernel") -> InternalError:
    """An exception of simtmm's own code as one that says so.

    doing: as of `told_as_ours`. whose: fault it is not.
    """
    what = f"{doing}, by {_OURS} {whose}: {type(error).__name__}: {shown_error(error)}{_place(error)}"
    return InternalError(what, to_send(None))


def is_own(error: BaseException) -> bool:
    """Whether an exception that left simtmm's code is a mistake of it, and not what it says of what it was given.

    Adapters raise what the libraries that they stand for raise, by `raise` or out of NumPy. A name or an attribute that
    is not there, and an assertion that fails, come from neither.
    """
    if not isinstance(error, (AttributeError, NameError, AssertionError)):
        return False
    place = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        place = frame.f_code, line
    if place is None or not Path(place[0].co_filename).resolve().is_relative_to(_PACKAGE):
        return False
    code, line = place
    if code.co_name == "__getattr__":  # which hands on what is not there
        return False
    return not linecache.getline(code.co_filename, line).strip().startswith("raise ")


def with_report(error: InternalError, parts: Mapping[str, str]) -> InternalError:
    """The same error, which names a file with what is needed to repeat it.

    parts: texts by their headings, such as a module of PTX, that go into the file beside the traceback.
    """
    trace = "".join(traceback.format_exception(error.__cause__ or error))
    return InternalError(error.fault, to_send(report(error.fault, {**parts, "traceback": trace})))


def to_send(path: Path | None) -> str:
    """What a message asks for, in its last words. path: of the file that `report` wrote."""
    if path is None:
        return "; please send this line and the kernel's source to the developers"
    return f"; please send {path}, which has the code that triggered it, to the developers"


def report(summary: str, parts: Mapping[str, str]) -> Path | None:
    """Write what is needed to repeat a fault into a file for its developers; gives its path, None where it can't be.

    summary: the fault in a line. parts: texts by their headings, such as a traceback or a module of PTX.
    """
    about = {**provenance(), "system": f"{platform.system()} {platform.machine()}"}
    heads = [summary, "", *(f"{key}: {value}" for key, value in about.items())]
    text = "\n".join((*heads, *(f"\n--- {name}\n{content}" for name, content in parts.items()), ""))
    name = hashlib.sha256("".join((summary, *parts.values())).encode(errors="replace")).hexdigest()[:12]
    path = Path(tempfile.gettempdir()) / f"simtmm-fault-{name}.txt"
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace", dir=path.parent, delete=False) as new:
            new.write(text)
        Path(new.name).replace(path)
    except OSError:
        return None
    return path


def _place(error: BaseException) -> str:
    """Where in simtmm an exception comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(_PACKAGE)]
    if not own:
        return ""
    path = Path(own[-1].filename).resolve().relative_to(_PACKAGE.parent).as_posix()
    return f" (at {path}:{own[-1].lineno})"


def note(fault: str) -> None:
    """Remember a fault that a command goes on after, so that it does not end as if there had been none."""
    _noted[fault] = None


def noted() -> tuple[str, ...]:
    """Those noted since the last call, each once."""
    found = tuple(_noted)
    _noted.clear()
    return found

"""`datetime.now()` of a script, on the simulated machine's clock.

Only what the script's own modules import is another class: all others have Python's, whose instances these are, too.
"""

import builtins
import datetime
import types
from collections.abc import Callable, Mapping
from typing import Any

from simtmm.scripts.patches import Patches

_Datetime = datetime.datetime
Read = Callable[[], int]


def patch_dates(patches: Patches, read: Read, is_script: Callable[[str], bool]) -> None:
    """Have scripts import a module `datetime` of their own.

    patches: takes it back.
    read: gives the time since 1970 [ns].
    is_script: whether a file is the script's.
    """
    module = types.ModuleType("datetime", datetime.__doc__)
    module.__dict__.update({**vars(datetime), "datetime": class_reading(read)})
    real = builtins.__import__

    def import_module(name: str, *arguments: Any, **named: Any) -> Any:
        return module if is_chosen(name, *arguments, **named) else real(name, *arguments, **named)

    def is_chosen(
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - what Python calls it, and libraries that pass it
        locals: Any = None,  # noqa: A002
        fromlist: Any = (),
        level: int = 0,
    ) -> bool:
        of_module = str((globals or {}).get("__file__", "<"))
        return name == "datetime" and level == 0 and globals is not None and is_script(of_module)

    patches.set(builtins, "__import__", import_module)


def class_reading(read: Read) -> type[_Datetime]:
    """A class `datetime` whose `now`, `today` and `utcnow` show a time.

    read: gives the time since 1970 [ns].
    """

    class Kind(type):
        """Its instances are Python's."""

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, _Datetime) if cls is OwnDatetime else type.__instancecheck__(cls, value)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, _Datetime) if cls is OwnDatetime else type.__subclasscheck__(cls, other)

    class OwnDatetime(_Datetime, metaclass=Kind):
        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            made = _Datetime if cls is OwnDatetime else cls
            return _Datetime.__new__(made, *arguments, **named)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            microseconds = read() // 1000
            return cls.fromtimestamp(microseconds // 10**6, tz).replace(microsecond=microseconds % 10**6)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(datetime.UTC).replace(tzinfo=None)

    OwnDatetime.__name__ = OwnDatetime.__qualname__ = "datetime"
    OwnDatetime.__module__, OwnDatetime.__doc__ = "datetime", _Datetime.__doc__
    return OwnDatetime

"""Attributes that are replaced for a while."""

import contextlib
from typing import Any

_MISSING = object()
_UNDER_WAY = set[str]()  # what is patched now


class Patches(contextlib.ExitStack):
    """Replaces attributes and entries of dictionaries; left, it puts back what was there, the last one first."""

    def begin(self, what: str) -> bool:
        """Whether there is anything to do: a framework that a block around this one has patched is as it should be."""
        if what in _UNDER_WAY:
            return False
        _UNDER_WAY.add(what)
        self.callback(_UNDER_WAY.discard, what)
        return True

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute; one that was not there is taken out again."""
        # Through the dictionary, so that functions of classes, static methods and properties come back as they were
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        if before is _MISSING:
            self.callback(delattr, owner, name)
        else:
            self.callback(setattr, owner, name, before)

    def set_item(self, owner: dict[str, Any], name: str, value: Any) -> None:
        """Replace an entry of a dictionary."""
        before = owner.get(name, _MISSING)
        owner[name] = value
        if before is _MISSING:
            self.callback(owner.pop, name, None)
        else:
            self.callback(owner.__setitem__, name, before)

"""Signals to the command line: its child processes end with it, and its temporary files are removed.

Ctrl-C, and the signals of a terminal that closes and of a user who ends processes, are exceptions wherever the command
is, so that each block that it is in leaves things as they should be. A command that can't be left within some seconds,
as it computes in a library, or that gets a second signal, is ended without that.
"""

import _thread
import atexit
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

GRACE = 10.0  # seconds
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
ALL = (signal.SIGINT, *_ENDING)
_LEFT = b"\0"  # no signal: the command was left

_received: list[int] = []  # signals of these, in their order, to the command that runs
_is_left = False  # for one of those that end it


class Ended(KeyboardInterrupt):
    """A signal that ends the command. number: its number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.number = number


def status() -> int | None:
    """The exit status of a command that was interrupted or ended: 128 and the signal's number; None if it was not.

    To be asked behind the block of `handled`, when all that have come are known.
    """
    numbers = [each for each in _received if each in _ENDING] or _received
    return 128 + numbers[0] if numbers else None


def at_once() -> None:
    """Until there is something to be left in order, have the process end at once: for one that begins.

    Once it is done its exit status stands: Python takes its own handlers away some time before the process ends, but
    leaves signals alone that are ignored.
    """
    for number in _heeded():
        atexit.register(signal.signal, number, signal.SIG_IGN)
        signal.signal(number, _leave)


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """Have signals be exceptions within the block: KeyboardInterrupt, and Ended, which is one."""
    global _is_left
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _received.clear()
    _is_left = False
    before = {number: signal.getsignal(number) for number in _heeded()}
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    hook = sys.unraisablehook
    watch = threading.Thread(target=_watch, args=(reader,), name="simtmm-signals", daemon=True)
    try:
        sys.unraisablehook = _not_lost(hook)
        for number in before:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _raise)
        watch.start()
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook
        signal.set_wakeup_fd(woken)
        os.write(writer, _LEFT)
        watch.join()
        os.close(reader)
        os.close(writer)


@contextlib.contextmanager
def put_off(to: Callable[[int], Any]) -> Iterator[None]:
    """Have signals not be exceptions within the block, where they might leave a lock taken: `to` gets their numbers.

    It may be called between any two steps. `exception` makes of a number what is to be raised in its turn.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        usual = (signal.default_int_handler, _raise)
        before = {number: signal.getsignal(number) for number in ALL if signal.getsignal(number) in usual}
    for number in before:
        signal.signal(number, lambda got, _: to(got))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exception(number: int) -> KeyboardInterrupt:
    """What a signal is where it may be raised."""
    return KeyboardInterrupt() if number == signal.SIGINT else Ended(number)


def forget() -> None:
    """Have signals do to this process, which was forked, what they do to one that has just begun."""
    signal.set_wakeup_fd(-1)
    sys.unraisablehook = sys.__unraisablehook__
    for number in _heeded():
        signal.signal(number, signal.SIG_DFL)


def _heeded() -> list[int]:
    """Those that are not to be ignored, as `nohup` and shells have it for what runs in the background."""
    return [number for number in ALL if signal.getsignal(number) not in (signal.SIG_IGN, None)]


def _leave(number: int, _: FrameType | None) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"simtmm: {said(number)}\n".encode())
    os._exit(128 + number)


def said(number: int) -> str:
    """What is printed of a signal."""
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


def _raise(number: int, _: FrameType | None) -> None:
    global _is_left
    if not _is_left:
        _is_left = True
        raise Ended(number)


def _not_lost(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    """A signal that came while an object was being deleted, or a library called back, where no exception can be."""

    def told(unraisable: Any) -> None:
        global _is_left
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            _is_left = False
            _thread.interrupt_main(getattr(unraisable.exc_value, "number", signal.SIGINT))
        else:
            hook(unraisable)

    return told


def _watch(reader: int) -> None:
    """Note signals as they come, and end the process where the block is not left."""
    patience: float | None = None
    while True:
        ready, _, _ = select.select([reader], [], [], patience)
        got = os.read(reader, 1) if ready else b""
        if got == _LEFT:
            return
        if got and got[0] in ALL:
            _received.append(got[0])
        ending = [each for each in _received if each in _ENDING]
        if len(ending) > 1 or (ending and not ready):
            _end(ending[0])
        patience = GRACE if ending else None


def _end(number: int) -> None:
    """End without leaving anything in order but what others would stumble over."""
    from simtmm.children.family import end_family
    from simtmm.temporary import remove_own

    end_family()
    remove_own()
    os._exit(128 + number)

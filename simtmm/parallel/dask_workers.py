"""Workers of a cluster: which have the sources that we have, as the results of others would not be ours.

That is checked before anything is computed, and by every task, as workers may join at any time: one with other sources
computes nothing and hands back what it is given. It is named in a warning.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from simtmm.errors import StudyError, shown_error

logger = logging.getLogger("simtmm")

LOOK = 5.0  # seconds between two looks at which workers are there
ALONE = 30.0  # seconds for which a study waits for a worker that can compute it


class Workers:
    """The workers of a cluster, and which of them have other sources than we."""

    def __init__(self, client: Any, where: str, version: Callable[[], str]) -> None:
        """where: the cluster, in messages. version: what a worker calls for its own version."""
        self._client, self._where = client, where
        self._version, self._own = version, version()
        self._versions: dict[str, str] = {}  # by address
        self._next = 0.0
        self._alone: float | None = None  # since when there is no worker that can compute

    def check(self) -> None:
        """Raise StudyError if one of those that are there has other sources, or if there is none."""
        try:
            self._client.wait_for_workers(1, timeout=ALONE)
        except TimeoutError:
            raise StudyError(f"{self._where}: has no workers") from None
        self._ask()
        for problem in self._wrong():
            raise StudyError(f"{self._where}: {problem}, but this computer has {self._own}")

    def look(self) -> None:
        """Now and then: warn, and raise StudyError where the scheduler has gone, or where for a while there has been no
        worker that can compute.
        """
        now = time.monotonic()
        if now < self._next:
            return
        self._check_scheduler()
        self.warn()
        self._next = now + LOOK
        if self._own in self._versions.values():
            self._alone = None
            return
        self._alone = now if self._alone is None else self._alone
        if now - self._alone >= ALONE:
            there = "; ".join(self._wrong()) or "there are no workers"
            raise StudyError(f"{self._where}: no worker with simtmm {self._own} for {ALONE:g} s: {there}")

    def warn(self) -> None:
        """Name the workers with other sources that were not there before."""
        known = set(self._wrong())
        self._ask()
        for problem in self._wrong():
            if problem not in known:
                logger.warning("warning: %s: %s, but this computer has %s: not used", self._where, problem, self._own)

    def outcome(self, future: Any) -> Any:
        """What a task gave; what the cluster could not do, as an error of that point."""
        while future.status in ("finished", "lost", "pending"):  # lost, and to be computed again, with its worker
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                self.look()
            except Exception as unreadable:
                if future.status == "finished":  # a pickle of what is not known here, or of nothing
                    return StudyError(f"a worker's result can't be read ({_told(unreadable)})")
        if future.status == "cancelled":
            self._check_scheduler()
        error = _error_of(future)
        if type(error).__name__ == "KilledWorker":
            return StudyError(
                "it repeatedly killed its worker: out of memory, killed from outside, or crashed; see the workers' logs"
            )
        if isinstance(error, MemoryError):
            return StudyError("out of memory")
        if error is None:
            return StudyError(f"the cluster gave up on it ({future.status})")
        self.warn()
        for problem in self._wrong():  # which may not even be able to read a task
            raise StudyError(
                f"{self._where}: a task failed ({shown_error(error)}), and {problem}, but this computer has {self._own}"
            )
        return StudyError(f"it failed on a worker ({_told(error)}); its log says more")

    def _check_scheduler(self) -> None:
        """Raise StudyError where the scheduler has gone: the client gives all tasks up."""
        if self._client.status != "running":
            raise StudyError(f"{self._where}: lost the connection to the scheduler")

    def _ask(self) -> None:
        """Which workers are there, and what those have that were not there before."""
        if self._client.status != "running":  # the scheduler has gone, and the client gives all tasks up
            return
        try:
            there = self._client.nthreads()
            self._versions = {address: version for address, version in self._versions.items() if address in there}
            new = [address for address in there if address not in self._versions]
            versions = self._client.run(self._version, workers=new, on_error="return") if new else {}
        except (OSError, RuntimeError):  # it goes just now
            return
        for address, version in versions.items():
            if not isinstance(version, Exception):
                self._versions[address] = version
            elif not isinstance(version, OSError):  # a worker that has gone
                self._versions[address] = f"whose version is unknown ({shown_error(version)})"

    def _wrong(self) -> list[str]:
        """The workers with other sources."""
        return [
            f"worker {name} has simtmm {version}" for name, version in self._versions.items() if version != self._own
        ]


def _error_of(future: Any) -> BaseException | None:
    """What a task raised, or what there was instead of it; None where it raised nothing."""
    if future.status != "error":
        return None
    try:
        error = future.exception()
    except Exception as unreadable:
        return unreadable
    return error if isinstance(error, BaseException) else RuntimeError("no reason given")


def _told(error: BaseException) -> str:
    """An exception that somebody else's computer made, whatever it does when it is looked at."""
    kind = type(error).__name__
    try:
        text = shown_error(error)
    except Exception:
        return kind
    return text if text == kind else f"{kind}: {text}"

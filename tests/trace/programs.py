"""Drawn programs, and the events that each of their threads has: loops, branches and addresses of every regularity."""

import random

import numpy as np

from simtmm.trace.schema import EVENT, Batch, Kind

KINDS = (Kind.LOAD, Kind.LOAD, Kind.ASYNC, Kind.STORE, Kind.ATOMIC, Kind.SHARED_LOAD, Kind.SHARED_ATOMIC, Kind.WORK,
         Kind.JOIN, Kind.CONSTANT_LOAD)  # fmt: skip
SMALL = (int(Kind.WORK), int(Kind.JOIN))  # whose values are
LARGEST = 1 << 30  # of an address drawn by chance


class Program:
    """Statements, each with a site of its own; a thread runs them with its coordinates and what loops count."""

    def __init__(self, seed, shape, statements=6, deepest=3, wild=False):
        """wild: whether values may be any of 64 bits."""
        self._random = np.random.default_rng(seed)
        self._chance = random.Random(int(self._random.integers(0, 1 << 62)))  # of single events: quicker than NumPy's
        self._shape, self._wild = shape, wild
        self._sites = 0
        self._body = self._statements(statements, deepest)

    def _statements(self, most, deep):
        return [self._statement(deep) for _ in range(self._random.integers(1, most + 1))]

    def _statement(self, deep):
        draw = self._random.integers
        what = draw(0, 10 if deep else 6)
        if what < 6:
            kind = KINDS[draw(0, len(KINDS))]
            site, self._sites = self._sites, self._sites + 1
            size = int(draw(0, 17)) if kind not in (Kind.WORK, Kind.JOIN) else 0
            form = draw(0, 5)  # even in x, in all, in what loops count as well; by chance; the same
            factors = [int(factor) for factor in draw(-3, 40, 6)]
            return "event", site, int(kind), size, form, factors, int(draw(0, 1 << 20))
        if what == 6:
            site, self._sites = self._sites, self._sites + 1
            return "event", site, int(Kind.BARRIER), 0, 5, [0] * 6, 0
        body = self._statements(3, deep - 1)
        if what < 9:
            return "loop", int(draw(0, 9)), int(draw(0, 3)), body
        return "branch", int(draw(0, 4)), int(draw(0, 40)), body

    def batch(self, blocks):
        """The events of so many blocks of launch 0."""
        x, y, z = self._shape
        rows, ends = [], []
        for block in range(blocks):
            for thread in range(x * y * z):
                self._at = (thread % x, thread // x % y, thread // (x * y), block)
                self._thread, self._rows, self._counters = thread, rows, []
                self._run(self._body)
            ends.append(len(rows))
        events = np.array(rows, EVENT) if rows else np.empty(0, EVENT)
        return Batch(events, np.zeros(blocks, np.int32), np.arange(blocks, dtype=np.int32), np.array(ends, np.int64))

    def _run(self, body):
        for statement in body:
            if statement[0] == "event":
                self._event(*statement[1:])
            elif statement[0] == "loop":
                _, trips, of_thread, inner = statement
                trips += self._thread % 3 if of_thread == 0 else 0  # some threads go round more often
                for trip in range(trips):
                    self._counters.append(trip)
                    self._run(inner)
                    self._counters.pop()
            elif self._goes(*statement[1:3]):
                self._run(statement[3])

    def _goes(self, rule, number):
        if rule == 0:
            return self._thread < number
        if rule == 1:
            return self._thread % (number + 2) != 0
        if rule == 2:
            return self._at[1] == 0
        return self._chance.random() < 0.5

    def _event(self, site, kind, size, form, factors, base):
        value = base
        if form <= 2:
            x, y, z, block = self._at
            value += factors[0] * x + factors[5] * block * 64
            if form >= 1:
                value += factors[1] * 16 * y + factors[2] * 256 * z
            if form == 2:
                for factor, trip in zip(factors[3:], self._counters, strict=False):
                    value += factor * 8 * trip
        elif form == 3:
            value = self._chance.randrange(LARGEST)
        elif form == 5:
            value = 0
        if self._wild:
            value = value * 0x9E3779B97F4A7C15 % (1 << 64) if form != 4 else (1 << 64) - 1 - value
        else:
            value = abs(value) % 50 if kind in SMALL else abs(value)
        self._rows.append((value, site, self._thread, kind, size))

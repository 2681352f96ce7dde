"""Contention: how many threads meet at a word in a step, and which PRAM a trace therefore needs."""

from simtmm.trace.contention.finding import Contention as Contention
from simtmm.trace.contention.finding import Meeting as Meeting
from simtmm.trace.contention.finding import find_contention as find_contention

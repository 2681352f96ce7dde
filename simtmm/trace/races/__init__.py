"""Races of a trace: what one is, and who looks for them (finding); the loop that does (scan)."""

from simtmm.trace.races.finding import Access, Race, RaceFinder, Races, find_races

__all__ = ["Access", "Race", "RaceFinder", "Races", "find_races"]

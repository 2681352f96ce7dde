"""Occupations with one machine and one program or a few: run, predict, compare, tune, and what came of it in words."""

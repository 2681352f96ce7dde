"""Accuracy as people read it: tables, and the folder of a page with its pictures and data."""

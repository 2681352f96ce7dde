"""Kinds of input: what is made of each, and how one is drawn by a seeded generator."""

from tests.fuzz.kinds import code, data, documents, pages
from tests.fuzz.kinds.kind import Kind

KINDS: dict[str, Kind] = {kind.name: kind for kind in (*documents.KINDS, *data.KINDS, *code.KINDS, *pages.KINDS)}

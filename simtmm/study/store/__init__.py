"""Store: a study in an SQLite file."""

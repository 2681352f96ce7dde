"""Store: where a study is kept, an SQLite file."""

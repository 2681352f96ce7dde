"""The commands: each parses its words, makes one library call, and prints what comes of it."""

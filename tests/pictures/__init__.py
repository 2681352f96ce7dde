"""Pictures of pages for the README, made by a script: `python -m tests.pictures`."""

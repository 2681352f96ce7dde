"""What is done with an input of each kind, by the properties of Hypothesis and by `python -m tests.fuzz` alike."""

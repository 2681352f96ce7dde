"""Studies as a person reads them: how far a sweep came, its answers, what came of tuning, advice on launch shapes."""

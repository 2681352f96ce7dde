"""Launches of which not even a wave can be simulated: by their pace (docs/sampling.md, "Long blocks")."""

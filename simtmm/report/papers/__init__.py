"""What the papers claim, draw and compute, as a person reads it: claims, equations, models' predictions, threads."""

"""How the points of a study are computed: simulations one by one, closed forms as columns."""

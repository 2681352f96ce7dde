"""Values in a notebook: as tables of HTML (html, from the same parts as reports), and as pictures."""

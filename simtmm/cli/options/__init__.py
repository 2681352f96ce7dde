"""Options that several commands share, and what their words mean."""

"""What a study asks for: its file, what it runs, its axes, and the points that they make."""

"""What was charged, down to each slice of a run, and why."""

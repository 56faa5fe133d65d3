"""The queue: who waits and why, who has what share, what is kept for whom, what gave way."""

"""Pages of what-if."""

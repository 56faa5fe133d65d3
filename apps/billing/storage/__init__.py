"""What stored data costs, metered like work."""

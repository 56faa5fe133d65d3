"""The cost of stored data, metered like that of work."""

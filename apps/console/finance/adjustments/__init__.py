"""Credit and debit notes: the list, and a new one in two steps."""

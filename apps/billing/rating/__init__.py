"""Rating: usage becomes charges, and charges become postings, each slice and period once."""

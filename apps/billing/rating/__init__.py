"""Usage becomes charges, and charges postings: each slice and period once."""

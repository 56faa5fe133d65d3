"""Money in through the platform's staff, and credit."""

"""Money, as the platform's staff see it: what was used, paid, owed, priced and billed."""

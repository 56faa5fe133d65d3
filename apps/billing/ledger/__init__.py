"""The ledger: every movement of money, and the books checked against it."""

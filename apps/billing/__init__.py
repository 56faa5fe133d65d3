"""Money: prices, meters, rating and the ledger; and the rooms that stand on them and do not know each other.

`budgets`, `invoices`, `payments`, `prepaid` and `statements` have services, selectors and pages of their own; `exports`
makes files of all of them. What they share is here: `models`, `selectors` and `services`.
"""

"""Budgets: how much may be spent in a month, and who is told."""

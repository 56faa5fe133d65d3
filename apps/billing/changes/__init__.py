"""Prices, discounts, credit limits and what one person may do alone: changed at once, or by two people."""

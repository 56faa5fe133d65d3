"""Prepaid time: orders, renewal, change, refund, and recognising revenue day by day."""

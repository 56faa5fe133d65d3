"""Prepaid time: orders, and a package's prices by the period."""

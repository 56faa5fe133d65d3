"""Ctrl K: everything that one may see, found by name or number."""

"""Organisations: the list, one of them, freezing it."""

"""Organisations without money: their terms, and releasing their data."""

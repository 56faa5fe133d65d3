"""Packages: the catalogue and what is on offer."""

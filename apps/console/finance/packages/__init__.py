"""Packages and their prices."""

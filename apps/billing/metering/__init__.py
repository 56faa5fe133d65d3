"""Meters: the proven running time of work, and what prepaid orders cover of it."""

"""Zones and their clusters, simulated ones too."""

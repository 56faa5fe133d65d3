"""Nodes: their state, load, and what operators do with them."""

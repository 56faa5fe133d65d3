"""Offline recharges, their proofs, and what waits for a second person."""

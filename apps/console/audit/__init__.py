"""The operation log: who changed what."""

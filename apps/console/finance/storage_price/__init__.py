"""The price of storage."""

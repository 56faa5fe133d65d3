"""The first page of Finance."""

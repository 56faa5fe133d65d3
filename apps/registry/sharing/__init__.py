"""Repositories that one organisation shares with another, whose people may pull them and start work in them."""

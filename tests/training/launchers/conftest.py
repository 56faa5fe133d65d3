"""Runs with a launcher really run, on one home, so that the runtime is built once."""

from tests.homes import home, shared_home
from tests.people import alice, world

__all__ = ["alice", "home", "shared_home", "world"]

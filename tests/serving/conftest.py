"""Services' tests: people around one organisation, and a home of their own for the files."""

from tests.homes import home as home
from tests.homes import shared_home as shared_home
from tests.people import alice, bob, charlie, dora, frank, staff, world

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]

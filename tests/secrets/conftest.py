"""One organisation with Alice, a member, Dora, its admin, and a stranger; a home in which work really runs."""

from tests.homes import home, shared_home
from tests.people import alice, bob, charlie, dora, frank, staff, world

__all__ = ["alice", "bob", "charlie", "dora", "frank", "home", "shared_home", "staff", "world"]

"""The people of storage's tests: Alice and Bob in one organisation, Charlie in another."""

from tests.storage.conftest import alice, bob, charlie, people

__all__ = ["alice", "bob", "charlie", "people"]

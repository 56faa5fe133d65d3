"""Where a node stands in the network, from its labels: members of one run go to nodes that are near to each other."""

from collections.abc import Mapping

# Widest first. What a label names is looked for in that order, so racks of two rows may have one name.
LABELS = ("row", "rack", "switch")


def domains(labels: Mapping[str, str]) -> tuple[str, ...]:
    """As `scheduler.Node.topology` takes them, down to the narrowest that is named; () where none is."""
    named = [str(labels.get(name, "")) for name in LABELS]
    while named and not named[-1]:
        named.pop()
    return tuple(named)

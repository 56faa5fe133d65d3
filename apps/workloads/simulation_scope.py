"""Real and simulated hardware are two worlds: neither's work ever waits for, displaces or outweighs the other's."""

from django.db.models import Q


def of_world(simulated: bool) -> Q:
    """Workloads of the simulated world, or of the real one; those of old have no word about it in their spec."""
    asked = Q(spec__simulated=True)
    return asked if simulated else ~asked

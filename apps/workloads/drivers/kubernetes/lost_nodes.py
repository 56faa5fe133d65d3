"""What is asked of a node that fell silent, and how its work is kept from running beside the try that replaces it."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

from apps.workloads.drivers.errors import CannotSee, now_or_later
from apps.workloads.drivers.kubernetes.cluster import Place, asking
from apps.workloads.drivers.kubernetes.collection import pages
from apps.workloads.drivers.kubernetes.inventory import read_node
from apps.workloads.drivers.kubernetes.journal import run_below
from apps.workloads.drivers.local import stopping

FENCED_WITHIN = timedelta(seconds=65)
"""From the order to stop until a shim that reaches the storage has seen it: an NFS client may remember for a minute
that a file is not there (nfs(5), acdirmax)."""


class LostNodes:
    """The mixins of answers and of fencing. `_journals_root`: where the platform sees the journals of all clusters."""

    _lookup: Callable[[str], Place]
    _journals_root: Callable[[], Path | None]

    def answers(self, node: str) -> bool:
        """Whether its cluster says that the node is ready. A cluster that does not answer says nothing against it."""
        try:
            place = self._lookup(node)
            with now_or_later(), asking():
                listed = pages(partial(place.cluster.core.list_node, field_selector=f"metadata.name={place.node}"))
                return any(read_node(each)[1].ready for items, _version in listed for each in items)
        except CannotSee:
            return True

    @property
    def fenced_within(self) -> timedelta:
        return FENCED_WITHIN

    def fence(self, ref: str) -> None:
        """An order to stop in its journal, where its shim looks: this needs neither the cluster nor its network.

        One that was never launched has none; should a launch be on its way, the next turn finds it.
        """
        root = self._journals_root()
        run = None if root is None else run_below(root, ref)
        if run is not None and not run.exit.exists() and not run.stop.is_symlink():
            stopping.ask(run.stop, 0.0)

    def unfence(self, ref: str) -> None:
        """The order lies in the journal, and goes with it."""

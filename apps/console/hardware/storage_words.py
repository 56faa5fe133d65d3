"""What came of a node's trying the platform's files, in words for operators."""

from django.utils.translation import gettext as _

from apps.clusters.node_storage import StorageProbe, StorageProblem
from apps.common.formatting import file_size


def problem_words(probe: StorageProbe) -> str:
    """What is wrong and what mends it; "" where nothing is."""
    if probe.problem is None:
        return ""
    return {
        StorageProblem.HANGS: _("The storage does not answer. Check the server and the network to it."),
        StorageProblem.DENIED: _(
            "The agent may not write there or give files to their owners. Export it writable and, of NFS, with "
            "no_root_squash."
        ),
        StorageProblem.OTHER_OWNER: _(
            "Files belong to somebody else than who wrote them. Switch the mapping of user ids off."
        ),
        StorageProblem.FULL: _("The storage is full."),
        StorageProblem.DAMAGED: _("What was written was read back otherwise. Check the storage before anything else."),
        StorageProblem.FAILED: _("A file could not be written and read back there."),
    }[probe.problem]


def probe_words(probe: StorageProbe | None) -> str:
    """How quick it is and how much room it has; "" where nothing was tried, or it failed."""
    if probe is None or probe.problem is not None:
        return ""
    told = {"ms": f"{probe.write_ms:.0f}", "free": file_size(probe.free_bytes)}
    return _("A file was written and read back in %(ms)s ms; %(free)s are free.") % told

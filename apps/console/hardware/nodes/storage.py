"""The platform's files on a joined node: their card on its page, and their part of the API's answer."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.clusters.dataset_caches import NodeCache, cache_mib, cache_of
from apps.clusters.models import Node
from apps.clusters.node_storage import NodeStorage, StorageProbe, StorageProblem, probe_of, storage_of
from apps.common.formatting import file_size, memory
from apps.console.hardware.storage_words import probe_words, problem_words


@dataclass(frozen=True, slots=True)
class StorageWords:
    title: str
    text: str
    tone: str
    mount: str
    cache: str = ""
    probe: str = ""


def storage_words(node: Node) -> StorageWords | None:
    """None for a node that does not tell: the platform's own machine, a simulated one, an older agent."""
    if not node.storage:
        return None
    found, probe = storage_of(node), probe_of(node)
    mount = _("%(kind)s: %(source)s at %(root)s") % {
        "kind": found.kind or "—", "source": found.source or "—", "root": found.root
    }  # fmt: skip
    if found.present:
        return StorageWords(
            _("The platform's files are here"), _("Work finds its data in the shared folder."), "", mount,
            cache_words(node),
            probe_words(probe),
        )  # fmt: skip
    if probe is not None and probe.problem is not None:
        text = _("%(problem)s Nothing new starts here until it works again, which the node notices by itself.")
        title = _("Work cannot use the platform's files")
        return StorageWords(title, text % {"problem": problem_words(probe)}, "warn", mount)
    text = _("Nothing new starts here until the platform's data folder is mounted again. The node notices by itself.")
    return StorageWords(_("The platform's files are missing"), text, "warn", mount)


def cache_words(node: Node) -> str:
    """The copies of datasets that it keeps; "" for one that is to keep none and has none."""
    cache, limit = cache_of(node), cache_mib(node)
    if cache is None or not (limit or cache.count):
        return ""
    words = _("Copies of datasets: %(count)s, %(used)s of at most %(limit)s") % {
        "count": cache.count, "used": file_size(cache.used_bytes), "limit": memory(limit)
    }  # fmt: skip
    if not cache.bytes_per_s:
        return words
    return _("%(words)s; the last were made at %(speed)s/s") % {"words": words, "speed": file_size(cache.bytes_per_s)}


class DatasetCacheOut(serializers.Serializer[NodeCache]):
    """The copies of datasets that a node keeps."""

    count = serializers.IntegerField()
    used_bytes = serializers.IntegerField()
    bytes_per_s = serializers.IntegerField(help_text="How fast the last ones were made; 0: none was.")


class StorageProbeOut(serializers.Serializer[StorageProbe]):
    """What came of writing a file there and reading it back, as a tenant's user."""

    problem = serializers.ChoiceField(
        choices=[each.value for each in StorageProblem], allow_null=True, help_text="Why work cannot use the files."
    )
    write_ms = serializers.FloatField(help_text="For how long that took.")
    free_bytes = serializers.IntegerField(help_text="The room that the storage has left.")


class NodeStorageOut(serializers.Serializer[NodeStorage]):
    """How the node sees the platform's files."""

    present = serializers.BooleanField(help_text="Whether they are there; without them nothing new starts on the node.")
    kind = serializers.CharField(help_text="The file system, such as nfs4.")
    mounted_from = serializers.CharField(source="source", help_text="What is mounted.")
    mounted_at = serializers.CharField(source="root", help_text="Where the node has the folder.")

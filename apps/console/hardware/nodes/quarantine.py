"""Why the platform gives a node no work: the note on its page, and its part of the API's answer."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.clusters.choices import UNPROVED, Quarantine
from apps.clusters.models import Node
from apps.clusters.node_quarantine import grounds_of


@dataclass(frozen=True, slots=True)
class QuarantineNote:
    """`error`, `command`: as the last check-up found them. `by_checkup`: a check-up alone opens the node."""

    node: Node
    title: str
    text: str
    error: str
    command: str
    by_checkup: bool


def quarantine_note(node: Node) -> QuarantineNote | None:
    """None for a node that takes work, as far as the platform is concerned."""
    if not node.quarantine:
        return None
    found = grounds_of(node)
    title, text = _words(Quarantine(node.quarantine), node.name, found.losses)
    error = "" if found.error == "–" else found.error
    return QuarantineNote(node, title, text, error, found.command, node.quarantine in UNPROVED)


def _words(why: Quarantine, name: str, losses: int) -> tuple[str, str]:
    names = {"name": name, "count": losses}
    if why is Quarantine.UNPROVED:
        return _("Not proved yet"), _(
            "%(name)s takes no work until the check-up has proved that it sees the platform's files and can be "
            "reached. It is ordered by itself; what runs there goes on."
        ) % names  # fmt: skip
    if why is Quarantine.FILES:
        return _("It does not see the platform's files"), _(
            "Work would be lost there within seconds, so %(name)s takes none until a check-up has proved that it does "
            "see the platform's files. Have the cluster examined once that is mended; the platform tries again by "
            "itself from time to time."
        ) % names  # fmt: skip
    if why is Quarantine.UNREACHED:
        return _("It could not be tried"), _(
            "A small pod did not start on %(name)s, or could not be reached from here, so it takes no work until a "
            "check-up has proved that it can. The platform tries again by itself from time to time."
        ) % names  # fmt: skip
    return _("It loses work"), _(
        "%(count)s tries of work in a row were lost on %(name)s before their programs began, so it takes no more. They "
        "do not count against their work, which goes to other nodes. It is tried again after half an hour; "
        "find out what is wrong, or let it take work now."
    ) % names  # fmt: skip


class QuarantineOut(serializers.Serializer[Any]):
    """Why the platform itself gives the node no work."""

    reason = serializers.ChoiceField(source="node.quarantine", choices=Quarantine.choices)
    since = serializers.DateTimeField(source="node.quarantine_changed_at")
    text = serializers.CharField(help_text="What it means and what to do, in the language of the request.")
    error = serializers.CharField(help_text="What the last check-up saw there.")
    command = serializers.CharField(help_text="What mends it, or says more; empty: nothing is known.")

"""The keys by which servers are known: shown once with their fingerprint, confirmed by a person, kept per organisation.

A server that shows another one later is refused until somebody forgets the old one.
"""

import base64
import binascii
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.tenants.ssh_format import KINDS, fingerprint_of
from apps.training.git.ssh.address import SshAddress
from apps.training.models import GitHostKey

MOST = 200


@dataclass(frozen=True, slots=True)
class HostKey:
    """`line`: algorithm and base64, as files of known hosts have them after the name."""

    line: str

    @property
    def fingerprint(self) -> str:
        """As ssh-keygen -l prints it."""
        return fingerprint_of(base64.b64decode(self.line.split(" ")[1]))

    @property
    def words(self) -> str:
        algorithm = self.line.split(" ")[0]
        return KINDS.get(algorithm, algorithm)


class HostUnknown(Invalid):
    """Nobody of the organisation has confirmed the key that the server shows. `key` is that one."""

    code = "git_host_unknown"

    def __init__(self, host: str, key: HostKey, confirmed: str) -> None:
        values = {"host": host, "kind": key.words, "fingerprint": key.fingerprint}
        said = _("%(host)s is not known here yet. It shows this key: %(kind)s %(fingerprint)s.")
        if confirmed:
            said = _("%(host)s shows another key than the one that was confirmed: %(kind)s %(fingerprint)s.")
        message = str(said) % values
        hint = _("Compare it with what the server's operator publishes, and confirm it if it is the same.")
        super().__init__(message, hint=hint, fields={"host_key": message})
        self.host, self.key = host, key


def host_key_in(text: str) -> HostKey | None:
    """The first of a file of known hosts; None where there is none that can be read."""
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) >= 3 and not line.startswith(("#", "@")):
            try:
                blob = base64.b64decode(words[2], validate=True)
            except (binascii.Error, ValueError):
                continue
            return HostKey(f"{words[1]} {base64.b64encode(blob).decode()}")
    return None


def known_hosts(actor: Actor) -> "QuerySet[GitHostKey]":
    """Those of the organisation, by name."""
    actor.require(Permission.TRAINING_SUBMIT)
    return (
        GitHostKey.objects.filter(organisation_id=actor.organisation()).select_related("confirmed_by").order_by("host")
    )


def known_key(actor: Actor, address: SshAddress) -> HostKey | None:
    row = known_hosts(actor).filter(host=address.known_name).first()
    return None if row is None else HostKey(row.key)


def confirm(actor: Actor, address: SshAddress, key: HostKey, fingerprint: str) -> HostKey:
    """Keep the key that the server shows, if it is the one that the person confirms. Raises `HostUnknown` otherwise.

    Where a colleague was faster, theirs is the one that counts.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    if fingerprint.strip() != key.fingerprint:
        raise HostUnknown(address.shown, key, fingerprint.strip())
    organisation_id = actor.organisation()
    if known_hosts(actor).count() >= MOST:
        raise Conflict(
            _("Your organisation knows 200 SSH servers already."), hint=_("Forget those that are not used any more.")
        )
    with transaction.atomic():
        row, is_new = GitHostKey.objects.get_or_create(
            organisation_id=organisation_id,
            host=address.known_name,
            defaults={"key": key.line, "fingerprint": key.fingerprint, "confirmed_by_id": actor.person()},
        )
        if is_new:
            _log(actor, "git_host.confirmed", row, after={"fingerprint": row.fingerprint})
    return HostKey(row.key)


def may_forget(actor: Actor, row: GitHostKey) -> bool:
    """Who confirmed it, and administrators."""
    return row.confirmed_by_id == actor.user_id or actor.may(Permission.ORGANISATION_MANAGE)


def forget(actor: Actor, host_id: UUID) -> GitHostKey:
    """The next fetch shows the server's key again. Raises `NotFound`, `Denied`."""
    actor.require(Permission.TRAINING_SUBMIT)
    with transaction.atomic():
        row = known_hosts(actor).select_for_update(of=("self",)).filter(pk=host_id).first()
        if row is None:
            raise NotFound
        if not may_forget(actor, row):
            raise Denied(Permission.ORGANISATION_MANAGE)
        _log(actor, "git_host.forgotten", row, before={"fingerprint": row.fingerprint})
        row.delete()
    return row


def _log(
    actor: Actor,
    action: str,
    row: GitHostKey,
    *,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> None:
    target = Target("git_host", str(row.pk), row.host[:200])
    record(actor, action=action, organisation_id=row.organisation_id, target=target, before=before, after=after)

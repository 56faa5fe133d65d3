"""Collections of what nothing in the registry points to any more: asked for by an administrator, or each night.

A row says that one is wanted; the loop here hands it to who runs the embedded registry (`plstack.launch.collecting`),
by a file, and writes down what is answered. A registry that runs elsewhere is collected by its operator.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.registry.choices import CollectionProblem
from apps.registry.distribution import recording
from apps.registry.distribution.client import Client, RegistryAway
from apps.registry.models import Collection, DeletedManifest

FOLDER, ASKED, ANSWERED = "registry-collection", "request.json", "result.json"  # as in plstack.launch.collecting
GIVE_UP_AFTER = timedelta(hours=1)
NIGHTLY, WEEKLY = timedelta(hours=20), timedelta(days=7)
KEPT_FOR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Answer:
    problem: str
    blobs: int
    freed: int
    away_ms: int


def is_offered() -> bool:
    """Whether the platform runs the registry itself."""
    return bool(settings.REGISTRY_SOCKET)


def collections(actor: Actor) -> QuerySet[Collection]:
    """Newest first."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    return Collection.objects.select_related("asked_by")


def ask(actor: Actor) -> Collection:
    """Have one done soon. `Conflict` where one is on, or where the registry is not ours to collect."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    if not is_offered():
        raise Conflict(
            _("The platform does not run this registry itself."),
            hint=_("Its operator collects what nothing points to."),
        )
    found = _ask(actor.user_id)
    if found is None:
        raise Conflict(_("A collection is on already."), hint=_("Wait until it has ended."))
    target = Target("registry_collection", str(found.pk), str(found.pk))
    record(actor, action="registry.collection_asked", target=target)
    return found


def advance() -> None:
    """Begin what is due, hand over what was asked for, write down what was answered. Call it as the platform."""
    if not is_offered():
        return
    waiting = Collection.objects.filter(ended_at__isnull=True).first()
    if waiting is None:
        waiting = _ask(None) if _is_due() else None
    if waiting is None:
        return
    answer = _answered(waiting.pk)
    if answer is not None:
        _end(waiting, answer)
    elif waiting.asked_at < db_now() - GIVE_UP_AFTER:
        _end(waiting, Answer(CollectionProblem.UNANSWERED, 0, 0, 0))
        (_folder() / ASKED).unlink(missing_ok=True)
    else:
        _hand_over(waiting.pk)


def _ask(user_id: int | None) -> Collection | None:
    """None: one is on."""
    try:
        with transaction.atomic():
            found: Collection = Collection.objects.create(asked_by_id=user_id)
    except IntegrityError:
        return None
    found.refresh_from_db()
    return found


def _is_due() -> bool:
    """At night, once after something was deleted, and once a week for what pushes left behind."""
    now = db_now()
    if timezone.localtime(now).hour != settings.REGISTRY_COLLECTION_HOUR:
        return False
    rows = Collection.objects.order_by("-asked_at")
    if rows.filter(asked_at__gt=now - NIGHTLY, asked_by__isnull=True).exists():
        return False
    last = rows.filter(problem="", ended_at__isnull=False).first()
    if last is None or last.asked_at < now - WEEKLY:
        return True
    return bool(DeletedManifest.objects.filter(deleted_at__gt=last.asked_at).exists())


def _hand_over(collection_id: UUID) -> None:
    """The file may be there already, or be one that nobody waits for any more."""
    path = _folder() / ASKED
    wanted = json.dumps({"id": str(collection_id)})
    if path.exists() and path.read_text() == wanted:
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{ASKED}.new")
    draft.write_text(wanted)
    draft.replace(path)


def _answered(collection_id: UUID) -> Answer | None:
    try:
        told: Any = json.loads((_folder() / ANSWERED).read_text())
        if told["id"] != str(collection_id):
            return None
        return Answer(str(told["problem"]), int(told["blobs"]), int(told["freed"]), int(told["away_ms"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _end(found: Collection, answer: Answer) -> None:
    known = answer.problem in ("", *CollectionProblem.values)
    problem = answer.problem if known else CollectionProblem.FAILED
    values = {"blobs": answer.blobs, "freed": answer.freed, "away_ms": answer.away_ms}
    rows = Collection.objects.filter(pk=found.pk, ended_at__isnull=True)
    if rows.update(ended_at=Now(), problem=problem, **values):
        Collection.objects.filter(asked_at__lt=db_now() - KEPT_FOR).delete()
    try:  # what the registry told while it ended may be lost
        with Client() as client:
            recording.read_all(client)
    except RegistryAway:
        pass  # it is read again every ten minutes


def _folder() -> Path:
    return Path(settings.PLSTACK_HOME) / FOLDER

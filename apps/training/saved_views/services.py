"""Save, change and delete views. A view holds an address alone: whoever opens it sees only what they may see anyway."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.training.metric_pages import chosen_runs
from apps.training.models import SavedView, ViewSubject
from apps.training.saved_views.selectors import changeable, run_ids

MOST = 200
"""Of one person in one organisation."""
LONGEST_NAME, LONGEST_QUERY, MOST_PARTS = 80, 8000, 300
FLEETING = {"page", "view", "cursor", "csrfmiddlewaretoken"}
"""What an address says that is no part of how the page looks."""


def save(actor: Actor, *, subject: ViewSubject, name: str, query: str, shared: bool = False) -> SavedView:
    """Keep the address under the name; the actor's own view of that subject and name is replaced. Raises `Invalid`."""
    actor.require(Permission.TRAINING_SUBMIT)
    name = _checked_name(name)
    kept = {"query": _checked_query(actor, subject, query), "shared": shared}
    found = {"organisation_id": actor.organisation(), "owner_id": actor.person(), "subject": subject}
    if SavedView.objects.filter(**found).exclude(name=name).count() >= MOST:
        raise Conflict(_("You have 200 saved views already."), hint=_("Delete those that are not used any more."))
    with transaction.atomic():
        row, _is_new = SavedView.objects.update_or_create(
            **found, name=name, defaults={**kept, "changed_at": Now()}, create_defaults=kept
        )
        _log(actor, "view.saved", row, after=kept)
    row.refresh_from_db()
    return row


def change(
    actor: Actor, view_id: UUID, *, name: str | None = None, query: str | None = None, shared: bool | None = None
) -> SavedView:
    """What is None stays."""
    row = changeable(actor, view_id)
    fields: dict[str, Any] = {}
    if name is not None:
        fields["name"] = _checked_name(name)
    if query is not None:
        fields["query"] = _checked_query(actor, ViewSubject(row.subject), query)
    if shared is not None:
        fields["shared"] = shared
    before = {key: getattr(row, key) for key in fields}
    if before == fields:
        return row
    try:
        with transaction.atomic():
            SavedView.objects.filter(pk=row.pk).update(**fields, changed_at=Now())
            _log(actor, "view.changed", row, before=before, after=fields)
    except IntegrityError as error:
        raise Invalid.field("name", _("There is a view of this name already.")) from error
    row.refresh_from_db()
    return row


def delete(actor: Actor, view_id: UUID) -> SavedView:
    row = changeable(actor, view_id)
    with transaction.atomic():
        _log(actor, "view.deleted", row, before={"query": row.query, "shared": row.shared})
        SavedView.objects.filter(pk=row.pk).delete()
    return row


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise Invalid.field("name", _("Give it a name."))
    if len(name) > LONGEST_NAME:
        raise Invalid.field("name", _("At most %(most)s characters.") % {"most": LONGEST_NAME})
    return name


def _checked_query(actor: Actor, subject: ViewSubject, query: str) -> str:
    """Without what passes. Of a comparison its runs are checked, so that no view begins with what nobody can open."""
    too_long = Invalid.field("query", _("This address is too long to be kept."))
    try:
        parts = parse_qsl(query.removeprefix("?"), max_num_fields=MOST_PARTS)
    except ValueError as error:
        raise too_long from error
    kept = urlencode([(key, value) for key, value in parts if key not in FLEETING])
    if len(kept) > LONGEST_QUERY:
        raise too_long
    if subject is ViewSubject.COMPARISON:
        try:
            chosen_runs(actor, run_ids(kept), least=2)
        except NotFound as error:
            raise Invalid.field("query", _("It names a run that does not exist, or that you cannot see.")) from error
        except Invalid as error:
            raise Invalid.field("query", error.message, hint=error.hint) from error
    return kept


def _log(
    actor: Actor,
    action: str,
    row: SavedView,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    target = Target("view", str(row.pk), row.name)
    record(actor, action=action, organisation_id=row.organisation_id, target=target, before=before, after=after)

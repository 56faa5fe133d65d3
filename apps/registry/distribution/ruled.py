"""What an operator sets for one organisation in place of the installation's own setting."""

from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Now

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.tenants.models import Organisation


def set_own(
    actor: Actor, row: type[models.Model], organisation_id: UUID, column: str, value: Any, *, action: str, shown: str
) -> None:
    """Keep `value` in the organisation's row; None removes it. `action`, `shown`: of the audit log.

    Who may is asked by the caller. Raises `NotFound`.
    """
    with transaction.atomic():
        organisation = Organisation.objects.select_for_update().filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        rows = row._default_manager.filter(organisation_id=organisation_id)
        before = rows.values_list(column, flat=True).first()
        if value == before:
            return
        if value is None:
            rows.delete()
        else:
            values = {column: value, "set_by_id": actor.user_id, "set_at": Now()}
            row._default_manager.update_or_create(organisation_id=organisation_id, defaults=values)
        record(
            actor,
            action=action,
            target=Target("organisation", str(organisation_id), organisation.name),
            organisation_id=organisation_id,
            before={shown: before},
            after={shown: value},
        )

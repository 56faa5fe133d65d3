"""Tenancy in one place: a manager that raises unless an actor's scope is active."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import models
from django_scopes import ScopedManager, scope, scopes_disabled
from django_scopes.manager import DisabledQuerySet

from apps.common.actor import Actor

# The library closes most of a query set without a scope; these it forgets.
for _name in ("exists", "explain", "contains", "in_bulk", "bulk_update", "defer", "values_list", "exclude", "alias"):
    setattr(DisabledQuerySet, _name, DisabledQuerySet.error)

# Matches no row. django-scopes reads None as "every organisation", so an actor without one must not pass None.
NOBODY = UUID(int=0)


def organisation_manager(path: str = "organisation_id") -> Any:
    """The default manager of a tenant's model; `path` leads from the model to the organisation's id."""
    return ScopedManager(organisation=path)


@contextmanager
def acting(actor: Actor) -> Iterator[Actor]:
    """Queries inside reach exactly the rows that `actor` may reach."""
    with scopes_disabled() if actor.platform else scope(organisation=actor.organisation_id or NOBODY):
        yield actor


class TenantModel(models.Model):
    """Base of every model whose rows belong to one organisation (field `organisation`)."""

    objects = organisation_manager()

    class Meta:
        abstract = True

"""Departments and people with what they use and may use, as columns of lists."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import django_tables2 as tables
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.tables import Table, column
from apps.console.kit.quotas import shown_amount, shown_used
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Membership, Quota

SHOWN = (Resource.CPU_MILLI, Resource.GPU_MILLI, Resource.STORAGE_MIB)
Books = Mapping[Any, Mapping[str, str]]


def with_counts(rows: "QuerySet[Department]") -> "QuerySet[Department]":
    """With `people` (right in it) and `parts` (right below it)."""
    people = Membership.objects.filter(department=OuterRef("pk")).order_by().values("department")
    below = Department.objects.filter(parent=OuterRef("pk")).order_by().values("parent")
    return rows.annotate(
        people=Coalesce(Subquery(people.annotate(n=Count("pk")).values("n")), 0),
        parts=Coalesce(Subquery(below.annotate(n=Count("pk")).values("n")), 0),
    )


def books_of_departments(ids: Iterable[UUID]) -> Books:
    """`2 of 8` for each department and resource of `SHOWN`."""
    return _books(Quota.objects.filter(department_id__in=list(ids)), "department_id")


def books_of_people(organisation_id: UUID, ids: Iterable[int]) -> Books:
    """The same for people of one organisation."""
    return _books(Quota.objects.filter(organisation_id=organisation_id, user_id__in=list(ids)), "user_id")


def _books(rows: "QuerySet[Quota]", level: str) -> Books:
    books: dict[Any, dict[str, str]] = {}
    for row in rows.filter(model="", resource__in=SHOWN):
        resource = Resource(row.resource)
        words = shown_used(resource, row.used)
        if row.limit is not None:
            words = _("%(used)s of %(limit)s") % {"used": words, "limit": shown_amount(resource, row.limit)}
        books.setdefault(getattr(row, level), {})[row.resource] = words
    return books


class LevelTable(Table):
    """`books` of the page's rows by their key: used and limit, as the cells show them."""

    cpu = tables.Column(
        verbose_name=gettext_lazy("CPU cores"), orderable=False, empty_values=(), attrs=column(fold="CPU")
    )
    gpu = tables.Column(
        verbose_name=gettext_lazy("GPU cards"), orderable=False, empty_values=(), attrs=column(fold="GPU")
    )
    storage = tables.Column(
        verbose_name=gettext_lazy("Storage GiB"), orderable=False, empty_values=(), attrs=column("pl-wide")
    )

    books: Books

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.books = {}
        super().__init__(*args, **kwargs)

    def key(self, record: Any) -> Any:
        """Of the row's book."""
        return record.pk

    def render_cpu(self, record: Any) -> str:
        return self._shown(record, Resource.CPU_MILLI)

    def render_gpu(self, record: Any) -> str:
        return self._shown(record, Resource.GPU_MILLI)

    def render_storage(self, record: Any) -> str:
        return self._shown(record, Resource.STORAGE_MIB)

    def _shown(self, record: Any, resource: Resource) -> str:
        return self.books.get(self.key(record), {}).get(resource.value, "0")

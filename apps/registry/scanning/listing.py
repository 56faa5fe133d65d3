"""Lists of findings and of exceptions: columns and filters. Page and API share the filters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import django_filters
import django_tables2 as tables
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.registry.scanning.choices import Severity
from apps.registry.scanning.models import ScanException
from apps.registry.scanning.policy import Exempt
from apps.registry.scanning.report import Finding
from apps.registry.scanning.verdicts import today, unexcepted

FIXED = [("yes", _("With a fix")), ("no", _("Without a fix"))]


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as pages show it. `exempt`: an exception overlooks it."""

    id: str
    package: str
    version: str
    fixed: str
    severity: str
    kind: str
    exempt: bool

    @property
    def severity_label(self) -> str:
        return str(Severity(self.severity).label)

    @property
    def rank(self) -> int:
        return Severity(self.severity).rank


def finding_rows(findings: Iterable[Finding], exempt: frozenset[Exempt]) -> list[FindingRow]:
    return [
        FindingRow(each.id, each.package, each.version, each.fixed, each.severity, each.kind, overlooked)
        for each, overlooked in unexcepted(findings, exempt)
    ]


class FindingFilter(forms.Form):
    """Over rows that are in memory already: those of one scan."""

    q = forms.CharField(label=_("Number or package"), required=False, max_length=200, widget=search_box())
    severity = forms.ChoiceField(
        label=_("Severity"), required=False, choices=[("", _("All severities")), *Severity.choices]
    )
    fix = forms.ChoiceField(label=_("Fix"), required=False, choices=[("", _("With and without a fix")), *FIXED])

    def __init__(self, data: Any = None) -> None:
        super().__init__(data or {})

    def filtered(self, rows: Iterable[FindingRow]) -> list[FindingRow]:
        """What is no choice of a field filters nothing."""
        asked = self.cleaned_data if self.is_valid() else {}
        text = asked.get("q", "").strip().lower()
        return [
            row
            for row in rows
            if (not text or text in row.id.lower() or text in row.package.lower())
            and asked.get("severity", "") in ("", row.severity)
            and asked.get("fix", "") in ("", "yes" if row.fixed else "no")
        ]


class FindingTable(Table):
    caption = _("Findings")
    may_except = False

    package = Cell(
        '<span class="pl-name pl-break">{{ record.package }}</span>'
        '<span class="pl-sub pl-break">{{ record.id }}</span>',
        verbose_name=pgettext_lazy("software", "Package"),
        attrs=column(width=FULL),
    )
    severity = Cell(
        template_name="registry/cells/severity.html",
        verbose_name=_("Severity"),
        order_by=("-rank", "id"),
        attrs=column(fold=_("Severity")),
    )
    version = Cell(
        '<span class="pl-code pl-break">{{ record.version }}</span>',
        verbose_name=pgettext_lazy("version", "Installed"),
        attrs=column(fold=pgettext_lazy("version", "Installed")),
    )
    fixed = Cell(
        template_name="registry/cells/finding_fixed.html", verbose_name=_("Fixed in"), attrs=column(fold=_("Fixed in"))
    )
    kind = tables.Column(verbose_name=_("Type"), attrs=column(fold=_("Type")))
    actions = Cell(
        template_name="registry/cells/finding_actions.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-acts", numeric=True, width=FULL),
    )

    class Meta(Table.Meta):
        empty_text = _("No finding is like this.")


class ExceptionTable(Table):
    caption = pgettext_lazy("image policy", "Exceptions")
    may_manage = False
    end_url = ""
    today: date

    finding = Cell(
        template_name="registry/cells/exception_name.html", verbose_name=_("Finding"), attrs=column(width=FULL)
    )
    reason = tables.Column(verbose_name=_("Reason"), orderable=False, attrs=column("pl-inline", width=FULL))
    until = Cell(
        template_name="registry/cells/exception_until.html", verbose_name=_("Counts"), attrs=column(fold=_("Counts"))
    )
    made_by = Cell(
        '{% load pl %}{{ record.made_by.display_name|default:"–" }}'
        '<span class="pl-sub">{% when record.created_at %}</span>',
        verbose_name=_("By"),
        orderable=False,
        attrs=column(fold=_("By")),
    )
    actions = Cell(
        template_name="registry/cells/exception_actions.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-acts", numeric=True, width=FULL),
    )


class ExceptionFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Number, package or reason"), widget=search_box())
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[("on", _("In force")), ("over", _("Over"))],
        label=_("State"),
        empty_label=_("In force and over"),
    )

    class Meta:
        model = ScanException
        fields: Sequence[str] = ()

    def search(self, rows: QuerySet[ScanException], name: str, value: str) -> QuerySet[ScanException]:
        found = Q(finding__icontains=value) | Q(package__icontains=value) | Q(reason__icontains=value)
        return rows.filter(found)

    def by_state(self, rows: QuerySet[ScanException], name: str, value: str) -> QuerySet[ScanException]:
        running = Q(ended_at__isnull=True, until__gte=today())
        return rows.filter(running if value == "on" else ~running)

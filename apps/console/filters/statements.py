"""The filter of all organisations' statements."""

import django_filters
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import StatementState
from apps.billing.models import Statement
from apps.billing.statements.filters import BillFilter
from apps.console.filters.base import OrganisationFilter


class StatementFilter(BillFilter):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=StatementState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = Statement
        fields: tuple[str, ...] = ()

    @property
    def narrowed(self) -> bool:
        """Whether anything but the month was chosen: a month's page without a row says what comes."""
        return bool(set(self.form.changed_data) - {"period"})

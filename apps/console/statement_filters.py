"""The filter of all organisations' statements."""

import django_filters
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import StatementState
from apps.billing.models import Statement
from apps.billing.statements.filters import BillFilter
from apps.console.filters import OrganisationFilter


class StatementFilter(BillFilter):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=StatementState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = Statement
        fields: tuple[str, ...] = ()

"""What becomes of searches on tables when an account is deleted: they are the organisation's results, and stay."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={"tabular.TableSearch.owner": Fate.KEPT},
    own=(
        OwnRows(
            "table_searches",
            _("Searches on tables"),
            "tabular.TableSearch",
            "owner",
            "organisation__name dataset_name dataset_number path target task metric settings created_at",
        ),
    ),
)

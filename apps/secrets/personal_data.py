"""What becomes of secrets when an account is deleted: a person's own go with their values, an organisation's stay."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.secrets.models import Secret
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData


def _lost(user: User) -> list[Line]:
    names = tuple(Secret.objects.filter(owner=user).order_by("name").values_list("name", flat=True))
    if not names:
        return []
    return [Line(ngettext("%(count)s secret", "%(count)s secrets", len(names)) % {"count": len(names)}, names)]


DATA = PersonalData(
    links={"secrets.Secret.owner": Fate.ERASED, "secrets.Secret.created_by": Fate.KEPT},
    lost=_lost,
    own=(
        OwnRows(
            "secrets",
            _("Secrets, without their values"),
            "secrets.Secret",
            "owner",
            "organisation__name name description created_at rotated_at last_used_at",
        ),
    ),
)

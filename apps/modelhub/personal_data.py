"""What becomes of models when an account is deleted: they go to the recycle bin, shares end."""

from contextlib import suppress

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.modelhub import services
from apps.modelhub.models import Model
from apps.storage.owned import BIN_DAYS
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData


def _models(user: User) -> "QuerySet[Model]":
    rows: QuerySet[Model] = Model.objects.filter(owner=user, deleted_at=None)
    return rows.order_by("name")


def _lost(user: User) -> list[Line]:
    names = tuple(_models(user).values_list("name", flat=True))
    text = ngettext(
        "%(count)s model, into the recycle bin for %(days)s days",
        "%(count)s models, into the recycle bin for %(days)s days",
        len(names),
    )
    return [Line(text % {"count": len(names), "days": BIN_DAYS}, names)] if names else []


def _put_away(actor: Actor, user: User) -> bool:
    """What still needs a model keeps it until that has ended."""
    for model in _models(user):
        with suppress(Conflict):
            services.delete(actor, model)
    return not _models(user).exists()


DATA = PersonalData(
    links={
        "modelhub.Model.owner": Fate.BINNED,
        "modelhub.ModelShare.user": Fate.ERASED,
        "modelhub.ModelVersion.made_by": Fate.KEPT,
        "modelhub.ModelAlias.set_by": Fate.KEPT,
        "modelhub.Promotion.asked_by": Fate.KEPT,
        "modelhub.Promotion.decided_by": Fate.KEPT,
    },
    lost=_lost,
    put_away=_put_away,
    own=(
        OwnRows(
            "models",
            _("Models"),
            "modelhub.Model",
            "owner",
            "organisation__name name note newest open_to_all created_at deleted_at",
        ),
    ),
)

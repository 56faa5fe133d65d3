"""What becomes of environments when an account is deleted: they go to the recycle bin with home and snapshots."""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.envs.models import Environment, Snapshot
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import recycle_bin
from apps.tenants import settings
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData


def _environments(user: User) -> "QuerySet[Environment]":
    rows: QuerySet[Environment] = Environment.objects.filter(owner=user, deleted_at=None)
    return rows.select_related("workload").order_by("name")


def _lost(user: User) -> list[Line]:
    names = tuple(_environments(user).values_list("name", flat=True))
    if not names:
        return []
    text = ngettext(
        "%(count)s environment with its files and snapshots, into the recycle bin for %(days)s days",
        "%(count)s environments with their files and snapshots, into the recycle bin for %(days)s days",
        len(names),
    )
    return [Line(text % {"count": len(names), "days": settings.get(EnvironmentSettings).bin_days}, names)]


def _erase(actor: Actor, user: User) -> None:
    Snapshot.objects.filter(environment__owner=user, made_by=user.display_name).update(made_by=user.pseudonym)


def _put_away(actor: Actor, user: User) -> bool:
    for environment in _environments(user):
        recycle_bin.delete(actor, environment)
    return True


DATA = PersonalData(
    links={
        "envs.Environment.owner": Fate.BINNED,
        "envs.Snapshot.made_by": Fate.BINNED,
        "envs.Operation.by": Fate.BINNED,
    },
    lost=_lost,
    erase=_erase,
    put_away=_put_away,
    own=(
        OwnRows(
            "environments",
            _("Environments"),
            "envs.Environment",
            "owner",
            "organisation__name name note image__name package__name_en created_at deleted_at starts",
        ),
    ),
)

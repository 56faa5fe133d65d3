"""Acts on several environments, in the portal and, under the staff's right, in the console."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.envs.selectors import environments
from apps.envs.services import recycle_bin, running
from apps.envs.tables import EnvironmentFilter


def acts(permission: P) -> tuple[BulkAct, ...]:
    return (
        BulkAct(
            name="stop",
            label=_("Stop"),
            icon="player-stop",
            permission=permission,
            title=ngettext_lazy("Stop %(count)s environment?", "Stop %(count)s environments?", "count"),
            done=ngettext_lazy(
                "%(count)s environment is asked to stop.", "%(count)s environments are asked to stop.", "count"
            ),
            do=running.stop,
            lost=_("What runs in them now, and what is not in their files"),
            kept=_("Their files and snapshots"),
            undo=_("Start them again; what ran does not come back"),
            dangerous=True,
        ),
        BulkAct(
            name="delete",
            label=_("Move to the recycle bin"),
            icon="trash",
            permission=permission,
            title=ngettext_lazy(
                "Move %(count)s environment to the recycle bin?",
                "Move %(count)s environments to the recycle bin?",
                "count",
            ),
            done=ngettext_lazy(
                "%(count)s environment is in the recycle bin.",
                "%(count)s environments are in the recycle bin.",
                "count",
            ),
            do=recycle_bin.delete,
            lost=_("What runs in them now"),
            kept=_("Their files and snapshots, until the bin is emptied of them"),
            undo=_("Restore them from the bin"),
            dangerous=True,
        ),
    )


ENVIRONMENTS = BulkList(
    route="envs:bulk",
    back="envs:list",
    acts=acts(P.ENVIRONMENTS_USE),
    rows=lambda actor, asked: environments(actor),
    filters=EnvironmentFilter,
)

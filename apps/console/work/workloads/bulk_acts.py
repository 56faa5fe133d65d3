"""Acts of the staff on several workloads of any organisation."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.console.work.workloads.listing import WorkloadFilter
from apps.console.work.workloads.selectors import workloads
from apps.workloads import services


def _named(row: Any) -> str:
    return f"{row.name} · {row.organisation.name} · {row.owner.display_name}"


WORKLOADS = BulkList(
    route="console:workloads_bulk",
    back="console:workloads",
    acts=(
        BulkAct(
            name="stop",
            label=_("Stop"),
            icon="player-stop",
            permission=P.PLATFORM_WORKLOADS_MANAGE,
            title=ngettext_lazy("Stop %(count)s workload?", "Stop %(count)s workloads?", "count"),
            done=ngettext_lazy(
                "%(count)s workload is asked to stop.", "%(count)s workloads are asked to stop.", "count"
            ),
            do=services.stop,
            lost=_("What they have not saved"),
            kept=_("Their files, logs and checkpoints; what ran is charged"),
            undo=_("No; their owners can start them again"),
            dangerous=True,
        ),
    ),
    rows=lambda actor, asked: workloads(actor),
    filters=WorkloadFilter,
    named=_named,
)

"""Acts on several training runs."""

from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.bulk import BulkAct, BulkList, BulkPage
from apps.common.permissions import Permission as P
from apps.training import services
from apps.training.selectors import runs
from apps.training.tables import RunFilter

STOP = BulkAct(
    name="stop",
    label=_("Stop"),
    icon="player-stop",
    permission=P.TRAINING_SUBMIT,
    title=ngettext_lazy("Stop %(count)s training run?", "Stop %(count)s training runs?", "count"),
    done=ngettext_lazy(
        "%(count)s training run is asked to stop.", "%(count)s training runs are asked to stop.", "count"
    ),
    do=services.stop,
    lost=_("What they have not saved"),
    kept=_("Their output, logs and checkpoints"),
    undo=_("No; they can be run again from the start"),
    dangerous=True,
)
TENSORBOARD = BulkPage(
    name="tensorboard",
    label="TensorBoard",
    icon="chart-line",
    permission=P.TRAINING_SUBMIT,
    url=reverse_lazy("boards:choose"),
)
RUNS = BulkList(
    route="training:bulk",
    back="training:list",
    acts=(STOP,),
    pages=(TENSORBOARD,),
    rows=lambda actor, asked: runs(actor),
    filters=RunFilter,
)

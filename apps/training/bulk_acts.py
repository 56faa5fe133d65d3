"""Acts on several training runs."""

from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.bulk import BulkAct, BulkList, BulkPage
from apps.common.permissions import Permission as P
from apps.training import archiving, deletion, services
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
ARCHIVE = BulkAct(
    name="archive",
    label=_("Archive"),
    icon="archive",
    permission=P.TRAINING_SUBMIT,
    title=ngettext_lazy("Archive %(count)s training run?", "Archive %(count)s training runs?", "count"),
    done=ngettext_lazy(
        "%(count)s training run is in the archive.", "%(count)s training runs are in the archive.", "count"
    ),
    do=archiving.archive,
    kept=_("Everything: output, checkpoints, log, passport and bills"),
    undo=_("Yes, at any time: take it out of the archive"),
)
UNARCHIVE = BulkAct(
    name="unarchive",
    label=_("Take out of the archive"),
    icon="archive-off",
    permission=P.TRAINING_SUBMIT,
    title=ngettext_lazy(
        "Take %(count)s training run out of the archive?", "Take %(count)s training runs out of the archive?", "count"
    ),
    done=ngettext_lazy(
        "%(count)s training run is in the list again.", "%(count)s training runs are in the list again.", "count"
    ),
    do=archiving.unarchive,
)
DELETE = BulkAct(
    name="delete",
    label=_("Delete"),
    icon="trash",
    permission=P.TRAINING_SUBMIT,
    title=ngettext_lazy("Delete %(count)s training run for good?", "Delete %(count)s training runs for good?", "count"),
    done=ngettext_lazy("%(count)s training run is deleted.", "%(count)s training runs are deleted.", "count"),
    do=deletion.delete,
    lost=_("Their output, checkpoints, logs, charts and passports"),
    kept=_("What they cost, and who did what, in bills and the audit log"),
    undo=_("No. To have them out of sight, archive them"),
    dangerous=True,
)
TENSORBOARD = BulkPage(
    name="tensorboard",
    label="TensorBoard",
    icon="chart-line",
    permission=P.TRAINING_SUBMIT,
    url=reverse_lazy("boards:choose"),
)
COMPARE = BulkPage(
    name="compare",
    label=_("Compare"),
    icon="arrows-diff",
    permission=P.TRAINING_VIEW,
    url=reverse_lazy("training:compare"),
)
RUNS = BulkList(
    route="training:bulk",
    back="training:list",
    acts=(STOP, ARCHIVE, UNARCHIVE, DELETE),
    pages=(COMPARE, TENSORBOARD),
    rows=lambda actor, asked: runs(actor),
    filters=RunFilter,
)

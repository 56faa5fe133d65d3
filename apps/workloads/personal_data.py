"""What becomes of work when an account is deleted: nothing goes on in the person's name, and its history stays."""

from collections import defaultdict
from contextlib import suppress

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData
from apps.workloads import kinds, services
from apps.workloads.choices import LIVE, Kind, Status
from apps.workloads.models import ReplicaSet, Workload
from apps.workloads.replicas import services as replicas


def _in_the_way(user: User) -> list[Line]:
    """What runs, waits or is being stopped, by kind."""
    names = defaultdict[str, list[str]](list)
    for workload in Workload.objects.filter(owner=user, status__in=LIVE).order_by("created_at"):
        names[workload.kind].append(workload.name)
    return [Line(kinds.named(Kind(kind)).label, tuple(found)) for kind, found in names.items()]


def _end(actor: Actor, user: User) -> bool:
    """Nothing starts for a disabled account; this is for what was submitted at the moment of its disabling."""
    for found in ReplicaSet.objects.filter(owner=user, ended_at=None):
        with suppress(Conflict):
            replicas.stop(actor, found.pk)
    live = Workload.objects.filter(owner=user, status__in=LIVE)
    for workload in live.exclude(status=Status.STOPPING):
        with suppress(Conflict):
            services.stop(actor, workload)
    return not live.exists() and not ReplicaSet.objects.filter(owner=user, ended_at=None).exists()


DATA = PersonalData(
    links={
        "workloads.EntryCode.user": Fate.ERASED,
        "workloads.GatewaySession.user": Fate.ERASED,
        "workloads.SharedPort.shared_by": Fate.ERASED,
        "workloads.Workload.owner": Fate.KEPT,  # what was metered and billed
        "workloads.ReplicaSet.owner": Fate.KEPT,
        "workloads.Event.actor_label": Fate.KEPT,  # the database lets nobody change histories
        "clusters.Node.lost_by": Fate.KEPT,
        "clusters.JoinToken.made_by": Fate.KEPT,
        "clusters.Stray.confirmed_by": Fate.KEPT,
        "clusters.CardFault.resolved_by": Fate.KEPT,
    },
    in_the_way=_in_the_way,
    end=_end,
    own=(
        OwnRows(
            "work",
            _("All work in your name"),
            "workloads.Workload",
            "owner",
            "organisation__name kind name package__name_en status created_at started_at ended_at",
        ),
        OwnRows(
            "replica-sets",
            _("Sets of replicas"),
            "workloads.ReplicaSet",
            "owner",
            "organisation__name kind name package__name_en priority",
        ),
    ),
)

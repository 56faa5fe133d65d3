"""A kind of work that has replicas, for the soak alone: programs that serve until they are stopped."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.notifications.choices import Topic
from apps.notifications.words.sets import kinds_of_sets, of_sets
from apps.notifications.words.work import of_work
from apps.tenants.choices import Resource
from apps.tenants.roles import MEMBERS, READERS, KindPermission
from apps.workloads import kinds
from apps.workloads.choices import Kind, Reason
from apps.workloads.kinds import KindRules, KindWords, Notices, Rights, Routes
from apps.workloads.launching.request import Launch
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import ReplicaSet
from apps.workloads.offers.quoting import resources_of
from apps.workloads.replicas import services as replicas
from apps.workloads.spec import Image
from benchmarks.soak.machines import EXIT_CODE, SECONDS
from benchmarks.soak.world import World

KIND = Kind("soak-serving")
_PAGE = "soak-serving:detail"  # nowhere: nobody reads what is told here
_VIEW = Permission.new("soak_serving.view")
_USE = Permission.new("soak_serving.use")
_MANAGE = Permission.new("soak_serving.manage_all")
_LINE = Resource.new("soak_sets", "Replicas at a time")

_RULES = KindRules(
    name=KIND,
    label="Serving",
    rights=Rights(_VIEW, _USE, _MANAGE),
    quota_line=_LINE,
    quota_unit="replicas",
    words=KindWords(start="Serve", price_lock="until it is stopped", giving_way="Otherwise it is started elsewhere."),
    notices=Notices(
        subject="soak_serving",
        speakers={**of_work(_PAGE, queued_again="It is started again."), **of_sets(_PAGE, dict(Reason.choices))},
        declared=kinds_of_sets("soak_serving", Topic.RUNS),
    ),
    routes=Routes("soak-serving/", "benchmarks.soak.serving_urls", "benchmarks.soak.serving_urls"),
    page=_PAGE,
    permissions=(
        KindPermission(_VIEW, "See", "Serving", READERS),
        KindPermission(_USE, "Serve", "Serving", MEMBERS),
        KindPermission(_MANAGE, "Stop", "Serving"),
    ),
    ends=False,
    replicas=True,
)


@contextmanager
def serving_kind() -> Iterator[None]:
    """As if `WORKLOAD_KINDS` listed it."""
    kinds.register(_RULES)
    try:
        yield
    finally:
        kinds.withdraw(_RULES)


def serve(
    actor: Actor, world: World, key: UUID, *, package_id: int, wanted: int, seconds: float, code: int = 0
) -> ReplicaSet:
    """So many replicas, each try of which ends by itself after so long."""
    chosen = choose_package(actor, package_id)
    spec = replace(
        resources_of(chosen),
        image=Image(world.image.key, tuple(world.image.requirements)),
        argv=("serve",),
        env={SECONDS: f"{seconds:.3f}", EXIT_CODE: str(code)},
    )
    launch = Launch(name="set", image_id=world.image.pk, package_id=package_id, key=key.hex)
    return replicas.submit(actor, submission(actor, KIND, spec, chosen, launch), wanted=wanted)

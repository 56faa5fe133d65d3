"""Secrets made as their pages make them, and runs that are given some."""

from dataclasses import replace
from typing import Any

from apps.common.scoping import acting
from apps.secrets import services
from apps.secrets.choices import Scope
from apps.secrets.choosing import ChosenSecret
from apps.secrets.models import Secret
from apps.secrets.services import NewSecret
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.training import services as training
from apps.training.models import Entry as Kind
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import World, actor_of, make_member, platform, reload, unique

VALUE = "hf_Zr4wQpL81-mmTt"


def make_secret(world: World, user: User | None = None, name: str = "HF_TOKEN", **changes: Any) -> Secret:
    """One of the person's own; Alice's unless told."""
    new = {"scope": Scope.PERSONAL, "name": name, "value": VALUE, **changes}
    with acting(actor_of(user or world.alice, world.organisation)) as actor:
        return services.create(actor, NewSecret(**new))


def make_shared(world: World, name: str = "WANDB_API_KEY", **changes: Any) -> Secret:
    """One of the organisation's, set by an administrator of it."""
    with acting(platform()):
        admin = make_member(world.organisation, "ada", Role.ADMIN)
    return make_secret(world, admin, name, **{"scope": Scope.ORGANISATION, **changes})


def request_of(world: World, *secrets: ChosenSecret, **changes: Any) -> training.Request:
    request = training.Request(
        name="digits",
        image_id=world.image.pk,
        package_id=world.package.pk,
        entry=Kind.PYTHON,
        script="train.py",
        key=unique("key"),
        text="print('hello')\n",
        secrets=secrets,
    )
    return replace(request, **changes)


def submit(world: World, *secrets: ChosenSecret, user: User | None = None, **changes: Any) -> Run:
    with acting(actor_of(user or world.alice, world.organisation)) as actor:
        return training.submit(actor, request_of(world, *secrets, **changes))


def placed(workload: Workload) -> Attempt:
    """The attempt that a pass has made for it."""
    with acting(platform()):
        run_pass(platform())
        assert reload(workload).status == Status.PLACED
        return Attempt.objects.select_related("workload", "node").get(workload=workload)


def colleague(world: World, name: str = "bob", role: Role = Role.MEMBER) -> User:
    with acting(platform()):
        return make_member(world.organisation, name, role)


def take_away(world: World, secret: Secret) -> None:
    """Its owner deletes it although something uses it."""
    with acting(world.actor):
        services.delete(world.actor, secret.pk, although_used=True)

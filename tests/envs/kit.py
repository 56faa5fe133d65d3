"""Environments, forms and turns of the loops, for the tests of environments."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db.models.functions import Now

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs.models import Environment, Operation, Watch
from apps.envs.reconcile import operations
from apps.envs.services import create
from apps.envs.services import running as running_service
from apps.storage.disk import data_root
from apps.storage.services import root_of
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, platform


def request_for(world: World, **changes: Any) -> create.Request:
    """A request that would be accepted, but for `changes`."""
    values: dict[str, Any] = {
        "name": "notebook",
        "image_id": world.image.pk,
        "package_id": world.package.pk,
        "key": uuid4().hex,
    }
    return create.Request(**{**values, **changes})


def make(world: World, actor: Actor | None = None, **changes: Any) -> Environment:
    """An environment that is queued, or (start=False) has never been started."""
    actor = actor or world.actor
    with acting(actor):
        return create.create(actor, request_for(world, **changes))


def form_for(world: World, **changes: Any) -> dict[str, Any]:
    """What a browser posts for an environment that would be accepted, but for `changes`."""
    values = {
        "name": "notebook",
        "note": "",
        "image": str(world.image.pk),
        "package": str(world.package.pk),
        "cpu_package": "never",
        "idle": "30",
        "snapshot_minutes": "never",
        "duration_days": "30",
        "key": uuid4().hex,
    }
    return {**values, **changes}


def again(environment: Environment) -> Environment:
    """The row as it is now, with its workload."""
    with acting(platform()):
        found: Environment = Environment.objects.select_related("workload", "home", "package", "cpu_package").get(
            pk=environment.pk
        )
        return found


def running(environment: Environment) -> Environment:
    """As if the newest start had reached its machine: no driver is asked."""
    return _as(environment, status=Status.RUNNING, started_at=Now(), reason=Reason.NONE)


def stopped(environment: Environment, reason: Reason = Reason.BY_PERSON) -> Environment:
    return _as(environment, status=Status.STOPPED, ended_at=Now(), reason=reason)


def _as(environment: Environment, **values: Any) -> Environment:
    assert environment.workload_id is not None
    with acting(platform()):
        Workload.objects.filter(pk=environment.workload_id).update(**values)
    return again(environment)


def idle_for(environment: Environment, minutes: int) -> Watch:
    """As if the detector had seen no use for so long."""
    assert environment.workload_id is not None
    with acting(platform()):
        now = db_now()
        watch: Watch = Watch.objects.update_or_create(
            environment=environment,
            defaults={
                "organisation_id": environment.organisation_id,
                "workload_id": environment.workload_id,
                "measured_at": now,
                "busy_at": now - timedelta(minutes=minutes),
                "cause": "input",
            },
        )[0]
        return watch


def advance(turns: int = 1) -> None:
    """Turns of the loop that carries out operations, without its pauses."""
    with acting(platform()):
        for _turn in range(turns):
            Operation.objects.filter(status="waiting").update(due_at=Now())
            operations.advance_due(platform())


def home_of(environment: Environment) -> Path:
    return root_of(environment.home)


def write(environment: Environment, name: str, content: str) -> None:
    path = home_of(environment) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def text(response: Any) -> str:
    content: bytes = response.content
    return content.decode()


def home_of_organisation(world: World) -> Path:
    """Where the homes of an organisation's environments lie."""
    return data_root() / str(world.organisation.pk) / "home"


def running_again(environment: Environment, world: World) -> Environment:
    """The next start, queued."""
    return running_service.start(world.actor, environment)

"""The questions before actions: what follows, what is lost, what it costs."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings as django_settings
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.formatting import moment
from apps.common.money import yuan_rate
from apps.envs.choices import KIND
from apps.envs.forms import RenewForm, ShutdownForm
from apps.envs.models import Environment, Snapshot
from apps.envs.policy import EnvironmentSettings
from apps.envs.selectors import saved_as
from apps.envs.services import images, snapshots
from apps.envs.views.create import cpu_package_choices
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.forms import MINE, ORGANISATION
from apps.registry.saving.forms import SavingForm
from apps.tenants import settings
from apps.workloads.choices import Status
from apps.workloads.offers.quoting import offer

Question = dict[str, Any]
NOT_OF_A_NAME = re.compile(r"[^a-z0-9]+", re.ASCII)
"""What stands between the letters and digits of a repository's name."""


def _action(environment: Environment, name: str) -> str:
    return reverse("envs:act", args=[environment.pk, name])


def _names(environment: Environment) -> dict[str, str]:
    return {"name": environment.name}


def stop(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    return {
        "template": "envs/dialogs/stop.html",
        "env": environment,
        "title": _("Stop %(name)s?") % _names(environment),
        "action": _action(environment, "stop"),
    }


def delete(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    days = settings.get(EnvironmentSettings).bin_days
    return {
        "title": _("Move %(name)s to the recycle bin?") % _names(environment),
        "text": _("What runs is stopped, and charging with it."),
        "lost": _("What programs hold in memory"),
        "kept": _("Files and snapshots, for %(days)s days") % {"days": days},
        "undo": _("Yes, from the recycle bin, until then"),
        "action": _action(environment, "delete"),
        "button": _("Move to the recycle bin"),
    }


def restore(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    return {
        "title": _("Take %(name)s out of the recycle bin?") % _names(environment),
        "text": _("It comes back stopped, with all its files and snapshots."),
        "action": _action(environment, "restore"),
        "button": _("Restore"),
        "plain": True,
    }


def purge(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    return {
        "title": _("Remove %(name)s for good?") % _names(environment),
        "lost": _("All its files and snapshots"),
        "kept": _("Its bills"),
        "undo": _("No"),
        "action": _action(environment, "purge"),
        "button": _("Remove for good"),
        "must_equal": environment.name,
    }


def snapshot(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    return {
        "template": "envs/dialogs/snapshot.html",
        "env": environment,
        "title": _("Take a snapshot of %(name)s?") % _names(environment),
        "action": _action(environment, "snapshot"),
    }


def rollback(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    """`?snapshot=` names it; without, the home is emptied as the image gives it."""
    chosen = _snapshot(environment, query.get("snapshot", ""))
    live = environment.workload is not None and environment.workload.is_live
    title = (
        _("Restore the files as of %(when)s?") % {"when": moment(chosen.created_at)}
        if chosen
        else _("Restore the initial image?")
    )
    return {
        "template": "envs/dialogs/rollback.html",
        "env": environment,
        "snapshot": chosen,
        "live": live,
        "title": title,
        "action": _action(environment, "rollback"),
    }


def drop_snapshot(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    chosen = _snapshot(environment, query.get("snapshot", ""))
    if chosen is None:
        raise NotFound
    return {
        "template": "envs/dialogs/drop_snapshot.html",
        "snapshot": chosen,
        "title": _("Delete the snapshot of %(when)s?") % {"when": moment(chosen.created_at)},
        "action": _action(environment, "drop-snapshot"),
    }


def _snapshot(environment: Environment, text: str) -> Snapshot | None:
    try:
        return snapshots.get(environment, UUID(text)) if text else None
    except ValueError as error:
        raise NotFound from error


def renew(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    rules = settings.get(EnvironmentSettings)
    return {
        "template": "envs/dialogs/renew.html",
        "env": environment,
        "form": RenewForm(rules=rules, initial={"duration_days": rules.duration_days}),
        "title": _("Renew %(name)s?") % _names(environment),
        "action": _action(environment, "renew"),
    }


def shutdown(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    at = environment.shutdown_time
    initial = {
        "when": at.isoformat("minutes") if at else "",
        "daily": at is not None,
        "zone": environment.shutdown_zone or django_settings.TIME_ZONE,
    }
    return {
        "template": "envs/dialogs/shutdown.html",
        "env": environment,
        "form": ShutdownForm(initial=initial),
        "title": _("When is %(name)s to stop?") % _names(environment),
        "action": _action(environment, "shutdown"),
        "cancel_action": _action(environment, "cancel-shutdown"),
    }


def detach(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    return _gpu(actor, environment, "detach", _("Go on without the GPU?"))


def attach(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    return _gpu(actor, environment, "attach", _("Attach the GPU?"))


def _gpu(actor: Actor, environment: Environment, name: str, title: str) -> Question:
    """The price of both, because that is what the question is about."""
    return {
        "template": "envs/dialogs/gpu.html",
        "env": environment,
        "detach": name == "detach",
        "cpu_packages": cpu_package_choices(actor),
        "gpu_rate": _rate(actor, environment.package),
        "cpu_rate": _rate(actor, environment.cpu_package) if environment.cpu_package else "—",
        "live": environment.workload is not None and environment.workload.is_live,
        "title": title,
        "action": _action(environment, name),
    }


def _rate(actor: Actor, package: Any) -> str:
    try:
        return yuan_rate(offer(actor, package, kind=KIND).quote.rate_fen_per_hour)
    except DomainError:
        return "—"


def image(actor: Actor, environment: Environment, query: QueryDict) -> Question:
    if images.goes_into_registry(environment):
        return registry_image(environment, SavingForm(actor=actor, initial=_saving_initial(environment)))
    return {
        "template": "envs/dialogs/image.html",
        "env": environment,
        "added": images.installed_packages(environment) if not environment.image.reference else [],
        "running": environment.workload is not None and environment.workload.status == Status.RUNNING,
        "title": _("Save %(name)s as an image?") % _names(environment),
        "action": _action(environment, "image"),
    }


def registry_image(environment: Environment, form: SavingForm) -> Question:
    """Where it goes: the same repository as the last time."""
    return {
        "template": "envs/dialogs/registry_image.html",
        "env": environment,
        "form": form,
        "running": environment.workload is not None and environment.workload.status == Status.RUNNING,
        "capacity": capacity_of(environment.organisation_id),
        "title": _("Save %(name)s as an image?") % _names(environment),
        "action": reverse("envs:save_image", args=[environment.pk]),
    }


def _saving_initial(environment: Environment) -> dict[str, str]:
    last = saved_as(environment).first()
    name = NOT_OF_A_NAME.sub("-", environment.name.lower()).strip("-") or environment.code
    whose = MINE
    if last is not None:
        _organisation, *rest = last.repository_name.split("/")
        name, whose = "/".join(rest[1:]) or rest[0], MINE if len(rest) > 1 else ORGANISATION
    return {"name": name, "whose": whose, "note": last.note if last and last.problem else "", "key": uuid4().hex}


QUESTIONS: dict[str, Callable[[Actor, Environment, QueryDict], Question]] = {
    "stop": stop,
    "delete": delete,
    "restore": restore,
    "purge": purge,
    "snapshot": snapshot,
    "rollback": rollback,
    "drop-snapshot": drop_snapshot,
    "renew": renew,
    "shutdown": shutdown,
    "detach": detach,
    "attach": attach,
    "image": image,
}

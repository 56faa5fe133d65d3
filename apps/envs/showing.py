"""An environment as the pages show it: its state, what comes next, actions and links."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.formatting import elapsed, moment
from apps.common.permissions import Permission
from apps.envs import idleness, program
from apps.envs.choices import Busy, State, Step
from apps.envs.models import Environment, Watch
from apps.envs.states import state_of
from apps.workloads.choices import Reason
from apps.workloads.explaining.names import NAMELESS
from apps.workloads.faults import advise, why_stopped
from apps.workloads.selectors import STALE_AFTER
from apps.workloads.waiting import explain
from apps.workloads.words import recorded

# Below this much idle time nobody needs to hear of it, but of a short rule the second half is always told.
WORTH_SAYING = timedelta(minutes=1)
_BADGES = {
    State.RELEASED: ("stop", "zzz"),
    State.EXPIRED: ("warn", "calendar-due"),
    State.BINNED: ("stop", "trash"),
}


@dataclass(frozen=True, slots=True)
class Idle:
    """`release_at` None: never by itself. `fraction`: of the rule's time that has passed. `kept`: somebody asked."""

    since: datetime
    cause: str
    release_at: datetime | None
    fraction: float
    soon: bool
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """`status` and `icon` are for the badge; `note` says why or what comes next in few words."""

    state: State
    status: str
    icon: str
    label: str
    note: str
    stale: bool
    idle: Idle | None
    package: Package
    doing: str = ""


def show(environment: Environment, now: datetime) -> Shown:
    """For a row from `selectors.in_list`, or one that carries no more than its relations."""
    state = state_of(environment, now)
    status, icon = _BADGES.get(state, (str(state), ""))
    seen = getattr(environment, "last_seen", None)
    stale = state in (State.RUNNING, State.STOPPING) and seen is not None and now - seen > STALE_AFTER
    doing = getattr(environment, "doing", None)
    return Shown(
        state=state,
        status="stale" if stale else status,
        icon="" if stale else icon,
        label="" if stale else str(state.label),
        note=_note(environment, state, now),
        stale=stale,
        idle=idle_of(environment, _watch(environment), now) if state is State.RUNNING and not stale else None,
        package=package_now(environment),
        doing=str(Step(doing).label) if doing else "",
    )


def package_now(environment: Environment) -> Package:
    """The package that it runs on, or that the next start takes."""
    workload = environment.workload
    if workload is not None and workload.is_live:
        return workload.package
    return environment.cpu_package if environment.without_gpu and environment.cpu_package else environment.package


def _watch(environment: Environment) -> Watch | None:
    watch: Watch | None = getattr(environment, "watch", None)
    return watch if watch is not None and watch.workload_id == environment.workload_id else None


def idle_of(environment: Environment, watch: Watch | None, now: datetime) -> Idle | None:
    """How long it has been idle and when it is released; None before the first measurement."""
    if watch is None:
        return None
    end = idleness.release_at(watch.busy_at, environment.idle_minutes)
    idle_for = max(now - watch.busy_at, timedelta(0))
    rule = timedelta(minutes=environment.idle_minutes) if environment.idle_minutes else None
    quiet = idle_for >= (min(WORTH_SAYING, rule / 2) if rule else WORTH_SAYING)
    return Idle(
        since=watch.busy_at,
        cause=str(Busy(watch.cause).label) if watch.cause else "",
        release_at=end if quiet else None,
        fraction=min(1.0, idle_for / rule) if rule else 0.0,
        soon=quiet and idleness.is_warning_due(now, watch.busy_at, environment.idle_minutes),
        text=_idle_text(quiet, idle_for, end, now),
    )


def _idle_text(quiet: bool, idle_for: timedelta, end: datetime | None, now: datetime) -> str:
    if not quiet:
        return _("in use")
    words = {"time": elapsed(idle_for.total_seconds())}
    if end is None:
        return _("idle for %(time)s") % words
    if end <= now:
        return _("idle for %(time)s; saving, then releasing") % words
    left = elapsed(max((end - now).total_seconds(), 60))
    return _("idle for %(time)s, releases itself in %(left)s") % {**words, "left": left}


def _note(environment: Environment, state: State, now: datetime) -> str:
    workload = environment.workload
    if state is State.BINNED:
        return (
            _("removed for good on %(when)s") % {"when": moment(environment.purge_at)} if environment.purge_at else ""
        )
    if workload is None:
        return _("never started")
    if state is State.QUEUED:
        return explain(workload.explanation, gpu=workload.frozen_spec.gpu, names=NAMELESS).title
    if state is State.STARTING:
        progress: Mapping[str, Any] = getattr(environment, "last_progress", None) or {}
        return _progress(progress)
    if state is State.FAILED:
        return advise(workload).title
    if state in (State.RUNNING, State.STOPPING):
        return ""
    why = why_stopped(Reason(workload.reason), str(workload.reason_data.get("by", "")))
    return f"{moment(workload.ended_at)} · {why}" if workload.ended_at else why


def _progress(progress: Mapping[str, Any]) -> str:
    text = recorded(progress) or _("preparing runtime and files")
    fraction = progress.get("fraction")
    return text if fraction is None else f"{text} · {round(100 * fraction)}%"


def open_buttons(environment: Environment, shown: Shown) -> list[dict[str, str]]:
    """Buttons that open it; none if it does not run."""
    if shown.state is not State.RUNNING or environment.workload_id is None:
        return []
    tools = [{"name": "JupyterLab", "icon": "notebook", "port": program.JUPYTER}]
    if environment.vscode:
        tools.append({"name": "VS Code", "icon": "brand-vscode", "port": program.VSCODE})
    return [{**tool, "url": open_url(environment, tool["port"])} for tool in tools]


def open_url(environment: Environment, port: str) -> str:
    return reverse("open_port", args=[environment.workload_id, port])


def is_own(actor: Actor, environment: Environment) -> bool:
    return environment.owner_id == actor.user_id and not actor.platform and actor.may(Permission.ENVIRONMENTS_USE)


def menu(actor: Actor, environment: Environment, shown: Shown) -> list[dict[str, Any]]:
    """The menu of actions beside the buttons."""
    page = reverse("envs:detail", args=[environment.pk])
    items: list[dict[str, Any]] = [{"label": _("Open"), "icon": "arrow-right", "url": page}]
    own = is_own(actor, environment)
    manages = own or actor.may(Permission.ENVIRONMENTS_MANAGE_ALL)
    live = environment.workload is not None and environment.workload.is_live
    if shown.state is State.BINNED:
        return items + ([_ask(environment, "restore", _("Restore…"), "restore")] if manages else [])
    if own:
        items.append({"label": _("Change"), "icon": "settings", "url": f"{page}?tab=settings"})
        items.append(_ask(environment, "snapshot", _("Take a snapshot…"), "camera"))
        items.append(_ask(environment, "renew", _("Renew…"), "calendar-plus"))
        items.append(_ask(environment, "shutdown", _("Stop at a set time…"), "clock-stop"))
        items += _gpu_items(environment)
        items.append(_ask(environment, "image", _("Save as image…"), "package-export"))
    if manages and live and shown.state is not State.STOPPING:
        items.append(_ask(environment, "stop", _("Stop…"), "player-stop", danger=True))
    if manages:
        items.append(_ask(environment, "delete", _("Move to the recycle bin…"), "trash", danger=True))
    return items


def _gpu_items(environment: Environment) -> list[dict[str, Any]]:
    if not environment.package.gpu_count:
        return []
    if environment.without_gpu:
        return [_ask(environment, "attach", _("Attach the GPU…"), "plug")]
    return [_ask(environment, "detach", _("Go on without the GPU…"), "plug-off")]


def _ask(environment: Environment, name: str, label: str, icon: str, *, danger: bool = False) -> dict[str, Any]:
    url = reverse("envs:ask", args=[environment.pk, name])
    return {"label": label, "icon": icon, "hx_get": url, "danger": danger}


def package_name(package: Package) -> str:
    return package.name(get_language() or "")

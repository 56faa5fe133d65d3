"""Making environments."""

import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.envs.choices import KIND
from apps.envs.models import Environment
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import running
from apps.envs.services.mounts import chosen
from apps.envs.services.secrets import chosen as chosen_secrets
from apps.envs.services.shared import check_cluster, choose_cpu_package, clean_name, log, port_rows
from apps.registry import selectors as registry
from apps.registry.distribution.holding import hold_image
from apps.registry.models import Image
from apps.secrets.choosing import ChosenSecret
from apps.storage import services as storage
from apps.storage.choosing import Chosen
from apps.storage.models import Folder, FolderKind
from apps.tenants import settings
from apps.workloads.launching.request import Launch
from apps.workloads.launching.submission import choose_package
from apps.workloads.offers.package_options import also_named
from apps.workloads.run_times import RunTimes
from apps.workloads.tagging import tag_columns
from apps.workloads.time_limits import refuse_above

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Launch):
    """What to make, and what each of its starts asks. `idle_minutes` None: never; `duration_days` None: without an end.

    `cap_fen`: the most that each start may cost.
    """

    cpu_package_id: int | None = None
    without_gpu: bool = False
    vscode: bool = False
    idle_minutes: int | None = 30
    snapshot_minutes: int | None = None
    duration_days: int | None = None
    mounts: tuple[Chosen, ...] = ()
    start: bool = True
    secrets: tuple[ChosenSecret, ...] = ()


def create(actor: Actor, request: Request) -> Environment:
    """A new environment with an empty home, started unless asked otherwise, all or nothing.

    The same key again returns the one made first. Raises `Invalid` (with the field), `QuotaExceeded`,
    `InsufficientFunds`, `Unavailable`; nothing is left behind.
    """
    actor.require(Permission.ENVIRONMENTS_USE)
    made = _made(actor, request.key)
    if made is not None:
        return made
    image = registry.choosable_image(actor, request.image_id, containers=True)
    package = choose_package(actor, request.package_id)
    try:
        with storage.new_folders() as folders:
            return _create(actor, request, image, package, folders)
    except IntegrityError:  # perhaps the same key, sent twice at once
        made = _made(actor, request.key)
        if made is None:
            raise
        return made


def _made(actor: Actor, key: str) -> Environment | None:
    found: Environment | None = Environment.objects.filter(owner_id=actor.user_id, submit_key=key).first()
    return found


def _create(actor: Actor, request: Request, image: Image, package: Package, folders: list[Folder]) -> Environment:
    rules = settings.get(EnvironmentSettings)
    refuse_editor(image, request.vscode)
    cpu_package = _cpu_package(actor, request, package)
    home = storage.create_folder(actor, kind=FolderKind.HOME, size_mib=rules.home_mib or None)
    folders.append(home)
    environment: Environment = Environment.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        department_id=actor.department_id,
        code=_free_code(),
        name=clean_name(request.name),
        note=request.note[:200],
        image=image,
        package=package,
        cpu_package=cpu_package,
        without_gpu=request.without_gpu,
        home=home,
        mounts=chosen(actor, request.mounts),
        secrets=chosen_secrets(actor, request.secrets),
        ports=port_rows(request.ports),
        vscode=request.vscode,
        preemptible=request.preemptible,
        cluster_id=check_cluster(actor, package, request.cluster_id),
        also_packages=[each.pk for each in also_named(actor, package, request.also_ids)],
        cap_fen=check_cap(request.cap_fen),
        idle_minutes=rules.check_idle(request.idle_minutes),
        snapshot_minutes=check_interval(request.snapshot_minutes),
        expires_at=_end(request.duration_days, rules),
        submit_key=request.key,
        **asdict(checked_times(actor, request.times)),
        **tag_columns(request.tags),
    )
    hold_image(image)
    environment.refresh_from_db()
    log(actor, environment, "created", after={"image": image.key, "package": package.name_en})
    return running.start(actor, environment) if request.start else environment


def refuse_editor(image: Image, vscode: bool) -> None:
    """Raises `Invalid` for VS Code in a container image: its Node needs the platform's own system around it."""
    if vscode and image.reference:
        raise Invalid.field(
            "vscode",
            _("VS Code in the browser does not run in a container image."),
            hint=_("Leave it out: JupyterLab, terminals and SSH work, and a VS Code of your own connects by SSH."),
        )


def _cpu_package(actor: Actor, request: Request, package: Package) -> Package | None:
    if request.cpu_package_id is not None:
        return choose_cpu_package(actor, request.cpu_package_id)
    if request.without_gpu:
        raise Invalid.field("cpu_package", _("Choose a package without a GPU for working without one."))
    return None


def check_cap(fen: int | None) -> int | None:
    """What each start may cost; None without a cap. Raises `Invalid`; the start itself refuses what is too little."""
    if fen is not None and fen <= 0:
        raise Invalid.field("cap", _("Give an amount above zero, or nothing."))
    return fen


def checked_times(actor: Actor, times: RunTimes) -> RunTimes:
    """What its starts are asked for. Raises `Invalid`."""
    times.check()
    refuse_above(actor.organisation(), KIND, times.longest_s)
    return times


def check_interval(minutes: int | None) -> int | None:
    """The interval of automatic snapshots, None for none. Raises `Invalid`."""
    if minutes is not None and not 10 <= minutes <= 60 * 24 * 31:
        raise Invalid.field("snapshot_minutes", _("Choose one of the intervals."))
    return minutes


def check_duration(days: int | None, rules: EnvironmentSettings) -> int | None:
    """A duration that is on offer, None for no end where that is allowed. Raises `Invalid`."""
    if days is None and rules.unlimited:
        return None
    if days not in rules.durations_days:
        raise Invalid.field("duration_days", _("Choose one of the durations."))
    return days


def _end(days: int | None, rules: EnvironmentSettings) -> datetime | None:
    days = check_duration(days, rules)
    return None if days is None else db_now() + timedelta(days=days)


def _free_code() -> str:
    """A code that no environment has: its name for SSH. Guessing one helps nobody without a key, so it may be short."""
    while True:
        code = "env-" + "".join(secrets.choice(ALPHABET) for _step in range(6))
        if not Environment._base_manager.filter(code=code).exists():
            return code

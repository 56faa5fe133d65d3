"""Packages and their prices, changed by the platform's finance staff and logged with before and after."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import ISOLATION_OF_MODE, SLICED_BY_MEMORY, GpuMode, Term
from apps.billing.ledger.services import violated_constraint
from apps.billing.models import Package
from apps.billing.prices.units.services import follow_price_list, reprice
from apps.billing.prices.versions import locked_package, log_package, set_price
from apps.common.actor import Actor
from apps.common.errors import Invalid, Text
from apps.common.permissions import Permission
from apps.common.text import clean_name


@dataclass(frozen=True, slots=True)
class PackageSpec:
    """What one replica gets: milli-cores, MiB, cards, milli-cards. How it isolates follows from the GPU mode."""

    name_en: str
    name_zh: str
    cpu_milli: int
    memory_mib: int
    description_en: str = ""
    description_zh: str = ""
    gpu_count: int = 0
    gpu_model: str = ""
    gpu_mode: str = ""
    gpu_core_milli: int = 0
    gpu_memory_mib: int = 0
    mig_profile: str = ""
    rdma: bool = False
    term: Term = Term.HOUR
    sort: int = 100


def create_package(
    actor: Actor, *, spec: PackageSpec, rate_fen_per_hour: Decimal | None = None, follows_list: bool = False
) -> Package:
    """Create a package, with its first price if given, or the list's. Raises Invalid with the field that is wrong."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    check_spec(spec)
    with transaction.atomic():
        package = _save(Package(**_columns(spec)))
        log_package(actor, "billing.package.create", package, {}, _columns(spec))
        if follows_list:
            follow_price_list(actor, package_id=package.pk, follows=True)
        elif rate_fen_per_hour is not None:
            set_price(actor, package_id=package.pk, rate_fen_per_hour=rate_fen_per_hour)
        return package


def update_package(actor: Actor, *, package_id: int, spec: PackageSpec) -> Package:
    """Change what is offered from now on; what runs keeps the resources and the price that it was started with.

    A package that follows the price list is repriced in the same step.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    check_spec(spec)
    with transaction.atomic():
        package = locked_package(package_id)
        changed = {name: value for name, value in _columns(spec).items() if getattr(package, name) != value}
        before = {name: getattr(package, name) for name in changed}
        for name, value in changed.items():
            setattr(package, name, value)
        if changed:
            _save(package)
            log_package(actor, "billing.package.update", package, before, changed)
            if package.follows_list:
                reprice(actor, package)
        return package


def deactivate_package(actor: Actor, *, package_id: int) -> None:
    """Withdraw it: nothing new starts on it, what runs goes on."""
    _set_active(actor, package_id, active=False)


def activate_package(actor: Actor, *, package_id: int) -> None:
    _set_active(actor, package_id, active=True)


def check_spec(spec: PackageSpec) -> None:
    """Raise Invalid with words beside each field that is wrong."""
    wrong: dict[str, Text] = {}
    if not clean_name(spec.name_en, "name_en"):
        wrong["name_en"] = _("Give it an English name.")
    if not clean_name(spec.name_zh, "name_zh"):
        wrong["name_zh"] = _("Give it a Chinese name.")
    if spec.cpu_milli <= 0:
        wrong["cpu_milli"] = _("A package needs CPU.")
    if spec.memory_mib <= 0:
        wrong["memory_mib"] = _("A package needs memory.")
    wrong.update(_wrong_gpu(spec))
    if wrong:
        raise Invalid(next(iter(wrong.values())), fields=wrong)


def _wrong_gpu(spec: PackageSpec) -> dict[str, Text]:
    rules: dict[str, tuple[Callable[[], bool], Text]] = {
        "gpu_count": (lambda: spec.gpu_count < 0, _("This cannot be less than zero.")),
        "gpu_mode": (
            lambda: (spec.gpu_count > 0) != bool(spec.gpu_mode) or spec.gpu_mode not in ISOLATION_OF_MODE,
            _("Choose a mode if, and only if, the package has GPUs."),
        ),
        "mig_profile": (
            lambda: (spec.gpu_mode == GpuMode.MIG) != bool(spec.mig_profile),
            _("Name the MIG profile in MIG mode, and only there."),
        ),
        "gpu_core_milli": (
            lambda: not 0 <= spec.gpu_core_milli <= 1000,
            _("A share of compute is between 0 and 1000 thousandths."),
        ),
        "gpu_memory_mib": (
            lambda: spec.gpu_memory_mib < 0 or (spec.gpu_mode in SLICED_BY_MEMORY and not spec.gpu_memory_mib),
            _("Say how much GPU memory a share has."),
        ),
    }
    return {name: words for name, (broken, words) in rules.items() if broken()}


def _set_active(actor: Actor, package_id: int, *, active: bool) -> None:
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        package = locked_package(package_id)
        if package.active == active:
            return
        package.active = active
        package.save(update_fields=["active"])
        log_package(actor, "billing.package.update", package, {"active": not active}, {"active": active})


def _save(package: Package) -> Package:
    try:
        with transaction.atomic():
            package.save()
    except IntegrityError as error:
        field = {"package_name_en_once": "name_en", "package_name_zh_once": "name_zh"}.get(
            violated_constraint(error) or ""
        )
        if field is None:
            raise
        raise Invalid.field(field, _("Another package has this name.")) from error
    return package


def _columns(spec: PackageSpec) -> dict[str, Any]:
    values = {field.name: getattr(spec, field.name) for field in fields(spec)}
    trimmed = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
    return {**trimmed, "isolation": ISOLATION_OF_MODE[spec.gpu_mode]}

"""What a fresh installation starts with: an organisation, its first admin, packages, images and a voucher."""

import secrets
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from apps.billing import services as billing
from apps.billing.choices import VoucherNote, VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import Package
from apps.billing.services import PackageSpec
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.clusters.discovery import measure_machine
from apps.clusters.models import Accelerator, Node
from apps.clusters.services import measured_columns
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.notifications.branding import BrandingSettings
from apps.registry.platform_images import ensure_platform_images
from apps.tenants import services as tenants
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, User
from apps.tenants.settings import get, put
from apps.workloads.hardware import discovery

ADMIN = "admin"
# What the first administrator and organisation are called, and the language that the installation speaks; empty: the
# browser's, with English names.
FIRST_NAMES = {"": ("Admin", "Lab"), "en": ("Admin", "Lab"), "zh-hans": ("管理员", "实验室")}
# Enough for about a hundred hours of the smallest package, so that the first run needs no recharge. A voucher and not a
# top-up: nobody has paid it, so it is no cash, and no invoice can be asked for it.
FIRST_VOUCHER_FEN = 5000
FIRST_VOUCHER_VALID = timedelta(days=3650)


def create_missing(
    actor: Actor, *, username: str = ADMIN, password: str | None = None, language: str = ""
) -> str | None:
    """Create what is missing; returns the admin's password the first time, None afterwards.

    `language`: what the installation speaks by default, a key of `FIRST_NAMES`; kept the first time only.
    """
    ensure_platform_images()
    found = discovery.discover(actor)
    node, cards = _registered_machine(found[0]) if found else _this_machine()
    if not Package.objects.exists():
        for spec, rate in _packages(node, cards):
            billing.create_package(actor, spec=spec, rate_fen_per_hour=rate)
    if User.objects.exists():
        return None
    name, organisation_name = FIRST_NAMES[language]
    if language:
        put(actor, replace(get(BrandingSettings), language=language))
    chosen = password or secrets.token_urlsafe(12)
    user, _generated = tenants.create_user(actor, person=tenants.Person(username=username, name=name, password=chosen))
    tenants.assign_platform_role(actor, user=user, role=PlatformRole.SUPER)
    organisation = _organisation(actor, user, organisation_name)
    _grant(actor, organisation)
    return chosen


def _registered_machine(node: Node) -> tuple[Node, list[Accelerator]]:
    """A registered machine and its healthy cards."""
    return node, list(Accelerator.objects.filter(node=node, healthy=True))


def _this_machine() -> tuple[Node, list[Accelerator]]:
    """The same of this machine, without rows: it takes no work itself, but what joins beside it is like it."""
    machine = measure_machine(Path(settings.PLSTACK_HOME))
    cards = [Accelerator(model=card.model[:60], memory_mib=card.memory_mib) for card in machine.cards if card.healthy]
    return Node(**measured_columns(machine, "", "")), cards


def _grant(actor: Actor, organisation: Organisation) -> None:
    today = billing_day(db_now())
    spec = VoucherSpec(
        amount_fen=FIRST_VOUCHER_FEN,
        scope=VoucherScope.EVERYTHING,
        valid_from=today,
        valid_until=today + FIRST_VOUCHER_VALID,
        note=VoucherNote.TO_BEGIN_WITH,
    )
    issue_voucher(actor, organisation_id=organisation.pk, spec=spec, key="first-installation")


def _organisation(actor: Actor, user: User, name: str) -> Organisation:
    organisation = Organisation.objects.first() or tenants.create_organisation(actor, name=name, slug="lab")
    tenants.add_member(actor, organisation_id=organisation.pk, user=user, role=Role.ADMIN)
    return organisation


def _packages(node: Node, cards: list[Accelerator]) -> list[tuple[PackageSpec, Decimal]]:
    """Packages that this machine can run: a small and a large slice of its CPU, and each model of card it has."""
    cpu, memory = node.allocatable_cpu_milli, node.allocatable_memory_mib
    packages = [
        (_cpu_package("small", "小", min(1000, cpu), min(2048, memory // 2), 10), Decimal(48)),
        (_cpu_package("large", "大", cpu, memory * 3 // 4, 20), Decimal(48 * max(1, cpu // 1000))),
    ]
    for sort, model in enumerate(sorted({card.model for card in cards}), 30):
        alike = [card for card in cards if card.model == model]
        packages.append((_card_package(model, len(cards), node, alike[0].memory_mib, sort), Decimal(1980)))
    return packages


def _cpu_package(size_en: str, size_zh: str, cpu_milli: int, memory_mib: int, sort: int) -> PackageSpec:
    return PackageSpec(
        name_en=f"CPU {size_en}",
        name_zh=f"仅 CPU · {size_zh}",
        description_en="No GPU: for trying code and small models",
        description_zh="无 GPU：调试代码和小模型",
        cpu_milli=cpu_milli,
        memory_mib=memory_mib,
        sort=sort,
    )


def _card_package(model: str, cards: int, node: Node, memory_mib: int, sort: int) -> PackageSpec:
    """One whole card with its share of the machine."""
    return PackageSpec(
        name_en=f"{model} whole card",
        name_zh=f"{model} 整卡",
        cpu_milli=node.allocatable_cpu_milli // cards,
        memory_mib=node.allocatable_memory_mib // cards,
        gpu_count=1,
        gpu_model=model,
        gpu_mode="whole",
        gpu_core_milli=1000,
        gpu_memory_mib=memory_mib,
        sort=sort,
    )

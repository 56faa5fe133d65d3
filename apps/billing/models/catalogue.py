"""What can be bought: packages, and the immutable versions of their prices."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import GpuMode, Isolation, Resource, Term


class Package(models.Model):
    """A named combination of resources for one replica. CPU in milli-cores, memory in MiB, compute in milli-cards.

    `gpu_model` empty: any model. `gpu_mode` empty: no accelerator. Names are data, in both languages.

    There is at most one package of storage: a replica of it is one GiB kept, its versions are the price of that.
    """

    name_en = models.CharField(_("name (English)"), max_length=80)
    name_zh = models.CharField(_("name (Chinese)"), max_length=80)
    description_en = models.CharField(_("description (English)"), max_length=300, blank=True)
    description_zh = models.CharField(_("description (Chinese)"), max_length=300, blank=True)
    resource = models.CharField(max_length=8, choices=Resource, default=Resource.COMPUTE, db_default=Resource.COMPUTE)
    isolation = models.CharField(_("isolation"), max_length=12, choices=Isolation)
    cpu_milli = models.PositiveIntegerField(_("CPU"))
    memory_mib = models.PositiveIntegerField(_("memory"))
    gpu_count = models.PositiveSmallIntegerField(_("GPU cards"), default=0)
    gpu_model = models.CharField(_("GPU model"), max_length=80, blank=True)
    gpu_mode = models.CharField(_("GPU mode"), max_length=8, choices=GpuMode, blank=True)
    gpu_core_milli = models.PositiveIntegerField(_("share of compute"), default=0)
    gpu_memory_mib = models.PositiveIntegerField(_("GPU memory"), default=0)
    mig_profile = models.CharField(_("MIG profile"), max_length=24, blank=True)
    # Each replica is given the RDMA devices of its node, which it shares with others that are.
    rdma = models.BooleanField(_("RDMA"), default=False, db_default=False)
    term = models.CharField(_("term"), max_length=8, choices=Term, default=Term.HOUR)
    active = models.BooleanField(_("on offer"), default=True)
    # Nobody starts on it without an approved request.
    needs_review = models.BooleanField(_("needs approval"), default=False)
    # Its price is what the price list makes of its resources, and changes with the list.
    follows_list = models.BooleanField(_("follows the price list"), default=False, db_default=False)
    sort = models.IntegerField(_("position"), default=100)
    created_at = models.DateTimeField(db_default=Now())

    # Where `selectors.packages` puts the price versions in force, for `price`.
    PRICES_IN_FORCE = "prices_in_force"

    class Meta:
        ordering = ["sort", "id"]
        constraints = [
            models.UniqueConstraint(fields=["name_en"], name="package_name_en_once"),
            models.UniqueConstraint(fields=["name_zh"], name="package_name_zh_once"),
            models.UniqueConstraint(
                fields=["resource"], condition=Q(resource=Resource.STORAGE), name="package_one_of_storage"
            ),
            models.CheckConstraint(
                condition=Q(resource=Resource.COMPUTE, cpu_milli__gt=0, memory_mib__gt=0)
                | Q(resource=Resource.STORAGE, cpu_milli=0, memory_mib=0, gpu_count=0),
                name="package_has_cpu_and_memory",
            ),
            models.CheckConstraint(
                condition=Q(gpu_count=0, gpu_mode="") | (Q(gpu_count__gt=0) & ~Q(gpu_mode="")),
                name="package_gpu_has_mode",
            ),
            models.CheckConstraint(
                condition=~Q(gpu_mode=GpuMode.MIG) | ~Q(mig_profile=""), name="package_mig_has_profile"
            ),
        ]

    def __str__(self) -> str:
        return self.name_en

    @property
    def price(self) -> "PriceVersion | None":
        """The version in force; only on packages from `selectors.packages`, which fetches it."""
        in_force: list[PriceVersion] = getattr(self, self.PRICES_IN_FORCE)
        return in_force[0] if in_force else None

    @property
    def price_if_read(self) -> "PriceVersion | None":
        """The same; None also where the package was read without it."""
        return self.price if hasattr(self, self.PRICES_IN_FORCE) else None

    def name(self, language: str) -> str:
        return self.name_zh if language.startswith("zh") else self.name_en

    def description(self, language: str) -> str:
        return self.description_zh if language.startswith("zh") else self.description_en


class PriceVersion(models.Model):
    """Fen per hour of one replica, in force in [effective_from, effective_to).

    Immutable but for `effective_to`, which is set once. A trigger (sql/price_follows.sql) lets version n+1 in only when
    n is closed and ends before it begins, so that no instant has two prices.
    """

    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="prices")
    number = models.PositiveIntegerField()
    rate_fen_per_hour = models.DecimalField(max_digits=20, decimal_places=10)
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    # How the price list made it up, as `pricelist.Line` tells it; null for a price that somebody set.
    basis = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["package", "number"]
        constraints = [
            models.UniqueConstraint(fields=["package", "number"], name="price_number_once"),
            models.UniqueConstraint(
                fields=["package"], condition=Q(effective_to__isnull=True), name="price_one_open_version"
            ),
            models.CheckConstraint(condition=Q(rate_fen_per_hour__gte=0), name="price_not_negative"),
            models.CheckConstraint(
                condition=Q(effective_to__isnull=True) | Q(effective_to__gte=F("effective_from")),
                name="price_ends_after_start",
            ),
        ]

"""Closed sets of values of the tenants' tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.open_choices import OpenChoices


class OrganisationStatus(models.TextChoices):
    ACTIVE = "active", _("Active")
    FROZEN = "frozen", _("Frozen")


class Role(models.TextChoices):
    """The three base roles inside an organisation."""

    MEMBER = "member", _("Member")
    FINANCE = "finance", pgettext_lazy("role", "Finance")
    ADMIN = "admin", _("Organisation admin")


class PlatformRole(models.TextChoices):
    """Roles of the platform's own staff."""

    FINANCE = "finance", _("Finance staff")
    BUSINESS = "business", _("Business admin")
    OPS = "ops", _("Operations admin")
    SUPER = "super", _("Super admin")


class Resource(OpenChoices, models.TextChoices):
    """What a quota limits; units stand in the label of the page: milli-cores, MiB, cards, runs.

    A kind of work may add a line that counts how many of it live at a time.
    """

    CPU_MILLI = "cpu_milli", _("CPU")
    MEMORY_MIB = "memory_mib", _("Memory")
    GPU_MILLI = "gpu_milli", _("GPU cards")
    RUNS = "runs", _("Runs at a time")
    ENVIRONMENTS = "environments", _("Environments running at a time")
    STORAGE_MIB = "storage_mib", _("Storage")
    VOLUMES = "volumes", _("Volumes")


class HolderKind(models.TextChoices):
    """What can hold quota. Its row says which object; only the app that made the object knows more."""

    WORKLOAD = "workload", _("Workload")
    VOLUME = "volume", _("Volume")
    DATASET = "dataset", _("Dataset")
    MODEL = "model", pgettext_lazy("learned", "Model")
    HOME = "home", _("Home folder")
    IMAGE = "image", _("Image")

"""Whose a secret is, and why one cannot be used any more."""

from enum import StrEnum

from django.db import models
from django.utils.translation import pgettext_lazy


class Scope(models.TextChoices):
    PERSONAL = "personal", pgettext_lazy("secret", "My own")
    ORGANISATION = "organisation", pgettext_lazy("secret", "The organisation's")


class Lost(StrEnum):
    """Why work may not have a secret that it names. Words: `workloads.advice`."""

    DELETED = "deleted"
    RIGHT = "right"

"""Closed sets of values of services, and their limits."""

import re

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.workloads.choices import Kind

KIND = Kind("model_service")
GATEWAY = _("Model gateway")

LONGEST_NAME = 50
MOST_SCRIPT = 256 * 1024
"""Characters of an inference script."""
MOST_KEYS = 50
"""Live ones of a service."""
START_S = 900
"""A replica that runs for so long and is not ready fails its deployment."""
MOST_RESTARTS = 3
"""A replica of a deployment that is not active yet may end so often by its own fault."""
DRAIN_S = 10.0
"""Between the last request that the door leads to an old deployment and the end of its replicas: every process of the
gateway has read who is active well before."""


class Runtime(models.TextChoices):
    """What a version runs."""

    SCRIPT = "script", _("Inference script")
    COMMAND = "command", _("Own server")


class DeploymentStatus(models.TextChoices):
    """`states.py` alone writes it."""

    PREPARING = "preparing", pgettext_lazy("deployment", "Getting ready")
    ACTIVE = "active", pgettext_lazy("deployment", "Serves")
    DRAINING = "draining", pgettext_lazy("deployment", "Finishing its requests")
    ENDED = "ended", pgettext_lazy("deployment", "Ended")
    FAILED = "failed", pgettext_lazy("deployment", "Failed")


OPEN = frozenset({DeploymentStatus.PREPARING, DeploymentStatus.ACTIVE, DeploymentStatus.DRAINING})
"""Their replicas are to run."""


class Ending(models.TextChoices):
    """Why a deployment is over, or about to be."""

    NONE = "", ""
    REPLACED = "replaced", _("Another deployment took over")
    STOPPED = "stopped", _("Stopped by a person")
    WITHDRAWN = "withdrawn", _("Withdrawn before it took over")
    TIME_IS_UP = "time_is_up", _("Its stop time was reached")
    REPLICAS_ENDED = "replicas_ended", _("All of its replicas were stopped")
    NOT_READY = "not_ready", _("Its health check did not pass in time")
    CRASHED = "crashed", _("Its program kept ending")
    SMOKE = "smoke", _("The smoke request failed")


class Held(models.TextChoices):
    """Why a service by load has fewer replicas than it would."""

    NOT = "", ""
    QUOTA = "quota_exceeded", _("The quota has no room for more.")
    FUNDS = "insufficient_funds", _("The balance does not suffice for more.")
    REFUSED = "refused", _("Its owner may not start more on this package now.")


MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}", re.ASCII)
"""Of a model at the organisation's own address, as clients of OpenAI's protocol write it."""

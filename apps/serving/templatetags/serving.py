"""How pages of services write times, shares and states."""

from django import template

from apps.common.formatting import percent
from apps.serving.choices import DeploymentStatus
from apps.workloads.choices import Status

register = template.Library()

BADGES = {
    DeploymentStatus.PREPARING: Status.STARTING,
    DeploymentStatus.ACTIVE: Status.RUNNING,
    DeploymentStatus.DRAINING: Status.STOPPING,
    DeploymentStatus.ENDED: Status.STOPPED,
    DeploymentStatus.FAILED: Status.FAILED,
}


@register.filter
def ms(took: float | None) -> str:
    """Three digits are enough: `4.2 ms`, `381 ms`, `2.40 s`."""
    if took is None:
        return "—"
    if took >= 1000:
        return f"{took / 1000:.2f} s"
    return f"{took:.0f} ms" if took >= 10 else f"{took:.1f} ms"


@register.filter
def percent_of(share: float) -> str:
    return percent(share)


@register.filter
def badge_of(status: str) -> str:
    """The state of work that looks as this state of a deployment does."""
    return str(BADGES[DeploymentStatus(status)])

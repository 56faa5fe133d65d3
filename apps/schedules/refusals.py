"""Which reason of a skipped start a refusal is."""

from collections.abc import Mapping

from apps.common.errors import Denied, DomainError, InsufficientFunds, NotFound, QuotaExceeded
from apps.schedules.choices import Why

BY_FIELD: Mapping[str, Why] = {
    "image": Why.IMAGE,
    "package": Why.PACKAGE,
    "also": Why.PACKAGE,
    "secrets": Why.SECRETS,
    "mounts": Why.DATA,
}
BY_TYPE: tuple[tuple[type[DomainError], Why], ...] = (
    (InsufficientFunds, Why.FUNDS),
    (QuotaExceeded, Why.QUOTA),
    (Denied, Why.RIGHTS),
    (NotFound, Why.TEMPLATE),
)


def why_of(error: DomainError) -> Why:
    for kind, why in BY_TYPE:
        if isinstance(error, kind):
            return why
    return next((BY_FIELD[name] for name in error.fields if name in BY_FIELD), Why.OTHER)

"""Acts of the staff on several environments of any organisation."""

from typing import Any

from apps.common.bulk import BulkList
from apps.common.permissions import Permission as P
from apps.envs.bulk_acts import acts as environment_acts
from apps.envs.selectors import environments
from apps.envs.tables import EnvironmentFilter


def _named(row: Any) -> str:
    return f"{row.name} · {row.organisation.name} · {row.owner.display_name}"


ENVIRONMENTS = BulkList(
    route="console:environments_bulk",
    back="console:environments",
    acts=environment_acts(P.PLATFORM_WORKLOADS_MANAGE),
    rows=lambda actor, asked: environments(actor),
    filters=EnvironmentFilter,
    named=_named,
)

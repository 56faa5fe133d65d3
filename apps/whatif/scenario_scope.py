"""What changes of one scenario may refer to: its organisations, people, nodes and packages, by id or name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.permissions import Permission as P
from apps.tenants.models import Organisation, User
from apps.whatif.choices import Hardware, Source
from apps.whatif.models import Trace
from apps.whatif.replaying import sample, traces
from apps.whatif.replaying.hardware import nodes_of
from apps.workloads.queueing import policy
from apps.workloads.reconcile.queues import queues
from scheduler.types import ANY_MODEL, Node, Queue, QueueLevel

SUGGESTED = 300


@dataclass(frozen=True)
class ScenarioScope:
    """The scope of one source and one hardware. Reads the database lazily, each kind once."""

    actor: Actor
    source: Source
    hardware: Hardware
    plain_nodes: int = 0
    trace: Trace | None = None

    @property
    def from_past(self) -> bool:
        return self.source is Source.HISTORY

    @cached_property
    def _machines(self) -> tuple[tuple[Node, ...], dict[str, str]]:
        return nodes_of(self.hardware, self.plain_nodes, db_now())

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._machines[0]

    @property
    def node_names(self) -> Mapping[str, str]:
        return self._machines[1]

    @cached_property
    def models(self) -> list[str]:
        return sorted({card.model for node in self.nodes for card in node.devices})

    @cached_property
    def _named_in_trace(self) -> Mapping[str, list[str]]:
        return self.trace.facts if self.trace is not None else traces.facts(sample.lines())

    @cached_property
    def organisations(self) -> dict[str, str]:
        """Names by the key that tasks carry."""
        if self.from_past:
            rows = Organisation.objects.order_by("name").values_list("pk", "name")
            return {str(pk): name for pk, name in rows}
        return {name: name for name in self._named_in_trace["organisations"]}

    @cached_property
    def users(self) -> list[str]:
        """Names to suggest."""
        if self.from_past:
            return list(User.objects.order_by("username").values_list("username", flat=True)[:SUGGESTED])
        return self._named_in_trace["users"][:SUGGESTED]

    @cached_property
    def packages(self) -> dict[str, Package]:
        found = funds.packages(self.actor, active_only=False) if self.actor.may(P.PLATFORM_PRICES_VIEW) else ()
        return {str(package.pk): package for package in found}

    @cached_property
    def _queues(self) -> dict[str, Queue]:
        found = queues(db_now(), simulated=self.hardware is Hardware.SIMULATED)
        return {queue.id: queue for queue in found if queue.level is QueueLevel.ORGANISATION}

    @cached_property
    def least_run_s(self) -> int:
        return policy.rules().min_runtime_s

    def organisation(self, text: str) -> tuple[str, str]:
        """(key, name); `Invalid` for an unknown one."""
        return _found("organisation", text, self.organisations, _("There is no organisation with this name."))

    def user(self, text: str) -> tuple[str, str]:
        wanted = text.strip()
        if not self.from_past:
            known = {name: name for name in self._named_in_trace["users"]}
            return _found("user", wanted, known, _("There is nobody with this name in the trace."))
        number = Q(pk=int(wanted)) if wanted.isdecimal() and len(wanted) < 18 else Q(pk__in=())
        row = User.objects.filter(Q(username=wanted) | Q(email__iexact=wanted) | number).order_by("pk").first()
        if not wanted or row is None:
            raise Invalid.field("user", _("There is nobody with this name."))
        return str(row.pk), row.username

    def node(self, text: str) -> tuple[Node, str]:
        key, name = _found("node", text, dict(self.node_names), _("There is no node with this name."))
        return next(node for node in self.nodes if node.id == key), name

    def package(self, text: str) -> tuple[Package, str]:
        package = self.packages.get(text.strip())
        if package is None or not self.from_past:
            raise Invalid.field("package", _("Choose a package."))
        return package, package.name(get_language() or "")

    def guaranteed(self, key: str, model: str) -> int:
        """Milli-cards that the organisation is promised now."""
        queue = self._queue(key)
        return 0 if queue is None else queue.guarantee.gpu_milli.get(model or ANY_MODEL, 0)

    def weight(self, key: str) -> int:
        queue = self._queue(key)
        return 1 if queue is None else int(queue.weight)

    def _queue(self, key: str) -> Queue | None:
        if self.from_past:
            return self._queues.get(key)
        pk = Organisation.objects.filter(name=key).values_list("pk", flat=True).first()
        return self._queues.get(str(pk))


def _found(field: str, text: str, names: dict[str, str], problem: str) -> tuple[str, str]:
    """By key, else by name, case-insensitively."""
    wanted = text.strip()
    if wanted in names:
        return wanted, names[wanted]
    for key, name in names.items():
        if wanted and name.casefold() == wanted.casefold():
            return key, name
    raise Invalid.field(field, problem)


def uuid_of(text: str) -> UUID | None:
    """The id that a text is, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None

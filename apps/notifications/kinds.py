"""All kinds of notices: their topic, and whether they are sent to an organisation's webhooks.

A caller passes the kind and JSON data; `words` documents which keys it reads. A kind that is not listed here is still
shown and sent, under the topic of the first part of its name.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.notifications.choices import Topic

T = Topic


@dataclass(frozen=True, slots=True)
class Kind:
    """`hook`: an event of the organisation, not only of one person."""

    name: str
    topic: Topic
    label: str | Promise
    hook: bool = True


KINDS: tuple[Kind, ...] = (
    Kind("billing.low", T.MONEY, _("Balance low")),
    Kind("billing.grace", T.MONEY, _("Balance used up")),
    Kind("billing.suspended", T.MONEY, _("Work stopped because the balance ran out")),
    Kind("billing.release_pending", T.MONEY, _("Stored data will be released")),
    Kind("billing.released", T.MONEY, _("Stored data released")),
    Kind("billing.work_low", T.MONEY, _("Balance low while your work runs"), hook=False),
    Kind("billing.work_grace", T.MONEY, _("Balance used up while your work runs"), hook=False),
    Kind("billing.organisation_grace", T.MONEY, _("An organisation's balance is used up"), hook=False),
    Kind(
        "billing.organisation_suspended",
        T.MONEY,
        _("An organisation's work was stopped because the balance ran out"),
        hook=False,
    ),
    Kind("billing.binned", T.MONEY, _("Stored data moved into the recycle bin")),
    Kind("billing.budget", T.MONEY, _("Budget threshold passed")),
    Kind("billing.restored", T.MONEY, _("Balance in order again")),
    Kind("billing.statement", T.MONEY, _("Statement issued")),
    Kind("billing.topped_up", T.MONEY, _("Wallet topped up")),
    Kind("billing.adjusted", T.MONEY, _("Bill adjusted by a credit or debit note")),
    Kind("billing.taken_back", T.MONEY, _("Money taken back from the wallet")),
    Kind("prepaid.ending", T.MONEY, _("Prepaid time ends soon")),
    Kind("prepaid.renewed", T.MONEY, _("Prepaid time renewed")),
    Kind("prepaid.not_renewed", T.MONEY, _("Prepaid time could not be renewed")),
    Kind("prepaid.grace", T.MONEY, _("Prepaid time over, renewal still possible")),
    Kind("prepaid.expired", T.MONEY, _("Prepaid time expired")),
    Kind("image.saved", T.ENVIRONMENTS, _("Environment saved as an image in the registry")),
    Kind("image.not_saved", T.ENVIRONMENTS, _("Environment not saved as an image")),
    Kind("schedule.paused", T.RUNS, _("Schedule paused itself"), hook=False),
    Kind("run.finished", T.RUNS, _("Run finished")),
    Kind("run.failed", T.RUNS, _("Run failed")),
    Kind("experiment.ended", T.RUNS, _("Tuning experiment ended")),
    Kind("pipeline.ended", T.RUNS, _("Pipeline ended")),
    Kind("run.asked_to_leave", T.RUNS, _("Run has to give way"), hook=False),
    Kind("run.stays", T.RUNS, _("Run may stay after all"), hook=False),
    Kind("run.gave_way", T.RUNS, _("Run gave way and is queued again")),
    Kind("environment.asked_to_leave", T.ENVIRONMENTS, _("Environment has to give way"), hook=False),
    Kind("environment.stays", T.ENVIRONMENTS, _("Environment may stay after all"), hook=False),
    Kind("environment.gave_way", T.ENVIRONMENTS, _("Environment gave way and is queued again")),
    Kind("run.not_started", T.RUNS, _("Run not started: a right has ended")),
    Kind("environment.not_started", T.ENVIRONMENTS, _("Environment not started: a right has ended")),
    Kind("run.lost", T.RUNS, _("Run lost with its machine")),
    Kind("environment.lost", T.ENVIRONMENTS, _("Environment lost with its machine")),
    Kind("run.credited", T.RUNS, _("Lost work of a run credited")),
    Kind("environment.credited", T.ENVIRONMENTS, _("Lost work of an environment credited")),
    Kind("run.cap_reached", T.RUNS, _("Run reached its spending cap")),
    Kind("environment.cap_reached", T.ENVIRONMENTS, _("Environment reached its spending cap")),
    Kind("run.time_nearly_over", T.RUNS, _("Run reaches its longest run time soon"), hook=False),
    Kind("environment.time_nearly_over", T.ENVIRONMENTS, _("Environment reaches its longest time soon"), hook=False),
    Kind("run.gpu_idle_soon", T.RUNS, _("Run does not use its GPU"), hook=False),
    Kind("environment.gpu_idle_soon", T.ENVIRONMENTS, _("Environment does not use its GPU"), hook=False),
    Kind("run.stopped_by_rule", T.RUNS, _("Run stopped by a rule of its owner")),
    Kind("environment.stopped_by_rule", T.ENVIRONMENTS, _("Environment stopped by a rule of its owner")),
    Kind("environment.shutdown_soon", T.ENVIRONMENTS, _("Environment stops soon at its time"), hook=False),
    Kind("run.stopped_unpaid", T.RUNS, _("Run stopped because the balance ran out")),
    Kind("environment.stopped_unpaid", T.ENVIRONMENTS, _("Environment stopped because the balance ran out")),
    Kind("environment.idle_soon", T.ENVIRONMENTS, _("Idle environment stops soon"), hook=False),
    Kind("environment.released", T.ENVIRONMENTS, _("Idle environment stopped")),
    Kind("environment.not_released", T.ENVIRONMENTS, _("Idle environment could not be saved")),
    Kind("environment.failed", T.ENVIRONMENTS, _("Environment failed")),
    Kind("environment.expiring", T.ENVIRONMENTS, _("Environment expires soon"), hook=False),
    Kind("environment.expired", T.ENVIRONMENTS, _("Environment expired")),
    Kind("storage.volume_over_limit", T.STORAGE, _("Volume over its limit")),
    Kind("storage.home_over_limit", T.STORAGE, _("Home folder over its limit"), hook=False),
    Kind("volume.shared", T.STORAGE, _("Volume shared with you"), hook=False),
    Kind("dataset.ready", T.STORAGE, _("Dataset version ready")),
    Kind("dataset.failed", T.STORAGE, _("Dataset version failed")),
    Kind("model.ready", T.STORAGE, _("Model version ready")),
    Kind("model.failed", T.STORAGE, _("Model version failed")),
    Kind("model.review_asked", T.STORAGE, _("Model version waits for review")),
    Kind("model.review_decided", T.STORAGE, _("Review of a model version decided"), hook=False),
    Kind("image.share_received", T.STORAGE, _("Repository of images shared with your organisation")),
    Kind("image.share_ended", T.STORAGE, _("Repository of images no longer shared with your organisation")),
    Kind("image.share_declined", T.STORAGE, _("Share of a repository of images declined")),
    Kind("member.invited", T.PEOPLE, _("Invited into an organisation"), hook=False),
    Kind("member.joined", T.PEOPLE, _("Member joined")),
    Kind("member.removed", T.PEOPLE, _("Member removed")),
    Kind("member.leaving", T.PEOPLE, _("Account of a member will be deleted")),
    Kind("member.stays", T.PEOPLE, _("Account of a member stays after all")),
    Kind("member.work_not_started", T.PEOPLE, _("Queued work of a person not started")),
    Kind("member.role_changed", T.PEOPLE, _("Role of a member changed")),
    Kind("package.requested", T.PACKAGES, _("Package requested")),
    Kind("package.approved", T.PACKAGES, _("Package request approved")),
    Kind("package.denied", T.PACKAGES, _("Package request denied")),
    Kind("recharge.asked", T.MONEY, _("Recharge or voucher needs a second person"), hook=False),
    Kind("recharge.approved", T.MONEY, _("Recharge or voucher approved"), hook=False),
    Kind("recharge.denied", T.MONEY, _("Recharge or voucher denied"), hook=False),
    Kind("change.asked", T.MONEY, _("Change of prices or limits needs a second person"), hook=False),
    Kind("change.approved", T.MONEY, _("Change of prices or limits approved"), hook=False),
    Kind("change.denied", T.MONEY, _("Change of prices or limits denied"), hook=False),
    Kind("billing.bill_differs", T.MONEY, _("Alipay's bill does not agree"), hook=False),
    Kind("billing.books_wrong", T.MONEY, _("The books do not add up"), hook=False),
    Kind("billing.bill_missing", T.MONEY, _("Alipay's bill is missing"), hook=False),
    Kind("export.ready", T.MONEY, _("File ready"), hook=False),
    Kind("export.failed", T.MONEY, _("File could not be made"), hook=False),
    Kind("invoice.requested", T.MONEY, _("Invoice requested"), hook=False),
    Kind("invoice.approved", T.MONEY, _("Invoice approved"), hook=False),
    Kind("invoice.denied", T.MONEY, _("Invoice denied"), hook=False),
    Kind("invoice.issued", T.MONEY, _("Invoice issued")),
    Kind("invoice.voided", T.MONEY, _("Invoice voided")),
    Kind("webhook.switched_off", T.PEOPLE, _("Webhook switched off"), hook=False),
    Kind("security.second_factor_reset", T.SECURITY, _("Second factor reset"), hook=False),
    Kind("security.password_reset", T.SECURITY, _("Password reset by an administrator"), hook=False),
    Kind("security.account_changed", T.SECURITY, _("Account changed by an administrator"), hook=False),
    Kind("account.data_ready", T.SECURITY, _("Copy of one's data ready"), hook=False),
    Kind("account.data_failed", T.SECURITY, _("Copy of one's data failed"), hook=False),
    Kind("security.account_linked", T.SECURITY, _("Account connected"), hook=False),
    Kind("node.draining", T.RUNS, _("Machine is being emptied"), hook=False),
    Kind("card.fault", T.PLATFORM, _("Fault of a card"), hook=False),
    Kind("card.unhealthy", T.PLATFORM, _("Cards not healthy"), hook=False),
    Kind("card.healthy", T.PLATFORM, _("Cards healthy again"), hook=False),
    Kind("node.disk_low", T.PLATFORM, _("Disk of a node nearly full"), hook=False),
    Kind("node.disk_ok", T.PLATFORM, _("Disk of a node has room again"), hook=False),
    Kind("node.storage_lost", T.PLATFORM, _("Node has lost its storage"), hook=False),
    Kind("node.storage_back", T.PLATFORM, _("Node has its storage again"), hook=False),
    Kind("zone.nodes_unproved", T.PLATFORM, _("Nodes of a cluster take no work"), hook=False),
    Kind("node.loses_work", T.PLATFORM, _("Node loses work"), hook=False),
    Kind("node.down", T.PLATFORM, _("Node silent"), hook=False),
    Kind("node.back", T.PLATFORM, _("Node back"), hook=False),
    Kind("process.replaced", T.PLATFORM, _("Process of the platform replaced"), hook=False),
    Kind("queue.standstill", T.PLATFORM, _("Queue stands still"), hook=False),
    Kind("node.lost", T.PLATFORM, _("Node lost"), hook=False),
    Kind("node.returned", T.PLATFORM, _("Lost node returned"), hook=False),
    Kind("organisation.registered", T.PLATFORM, _("Organisation registered"), hook=False),
    Kind("test", T.PLATFORM, _("Test"), hook=False),
)

_BY_NAME = {kind.name: kind for kind in KINDS}
_BY_PREFIX = {kind.name.partition(".")[0]: kind.topic for kind in KINDS}


def register_kinds(kinds: Iterable[Kind]) -> None:
    """Register the notices of a kind of work. Raises `ValueError` for a name that is taken."""
    for kind in kinds:
        if kind.name in _BY_NAME:
            raise ValueError(f"There is a notice called “{kind.name}” already.")
        _BY_NAME[kind.name] = kind
        _BY_PREFIX.setdefault(kind.name.partition(".")[0], kind.topic)


def unregister_kinds(kinds: Iterable[Kind]) -> None:
    for kind in kinds:
        del _BY_NAME[kind.name]
        _BY_PREFIX.pop(kind.name.partition(".")[0], None)


def all_kinds() -> tuple[Kind, ...]:
    return tuple(_BY_NAME.values())


def webhook_kinds() -> tuple[Kind, ...]:
    """Kinds that are sent to webhooks."""
    return tuple(kind for kind in all_kinds() if kind.hook)


def topic_of(name: str) -> Topic:
    """The topic of a kind, also of one that this version does not list."""
    known = _BY_NAME.get(name)
    return known.topic if known else _BY_PREFIX.get(name.partition(".")[0], Topic.PEOPLE)


def label_of(name: str) -> str | Promise:
    known = _BY_NAME.get(name)
    return known.label if known else name


def is_hooked(name: str) -> bool:
    known = _BY_NAME.get(name)
    return known is not None and known.hook

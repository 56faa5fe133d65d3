"""Nudges: everything that is due is found in the database."""

from celery import shared_task

from apps.billing import services
from apps.billing.budgets import services as budgets
from apps.billing.exports import working
from apps.billing.ledger import books
from apps.billing.payments.alipay import payment_notices, polling, refunds
from apps.billing.payments.reconciliation import days as reconciliation_days
from apps.billing.prepaid import earning as prepaid_earning
from apps.billing.prepaid import sweep as prepaid_sweep
from apps.billing.statements import closing as statements_closing
from apps.billing.vouchers import services as vouchers
from apps.common.actor import system_actor
from apps.common.scoping import acting


@shared_task(name="billing.rate")
def rate() -> None:
    with acting(system_actor()) as actor:
        services.rate_due(actor)
        services.arrears_sweep(actor)


@shared_task(name="billing.ask_alipay")
def ask_alipay() -> None:
    """What became of payments and refunds whose notices have not come."""
    with acting(system_actor()) as actor:
        polling.ask_due()
        refunds.ask_due(actor)


@shared_task(name="billing.tell_payments")
def tell_payments() -> None:
    """Messages about payments that were credited a moment ago."""
    with acting(system_actor()):
        payment_notices.tell_due()


@shared_task(name="billing.export")
def export() -> None:
    """Files that somebody waits for, and those whose time is over."""
    with acting(system_actor()):
        working.work()


@shared_task(name="billing.close_months")
def close_months() -> None:
    """Drafts of the months that are over."""
    with acting(system_actor()) as actor:
        statements_closing.close_due(actor)


@shared_task(name="billing.reconcile_alipay")
def reconcile_alipay() -> None:
    """Bills of days that are over, fetched and compared."""
    with acting(system_actor()) as actor:
        reconciliation_days.reconcile_due(actor)


@shared_task(name="billing.budgets")
def watch_budgets() -> None:
    with acting(system_actor()) as actor:
        budgets.watch_budgets(actor)


@shared_task(name="billing.prepaid")
def look_after_prepaid() -> None:
    """Days of prepaid time that are over are earned; renewals, notices and ends."""
    with acting(system_actor()) as actor:
        prepaid_earning.recognise_due(actor)
        prepaid_sweep.prepaid_sweep(actor)


@shared_task(name="billing.vouchers")
def end_vouchers() -> None:
    """What is left of those that are over goes back."""
    with acting(system_actor()) as actor:
        vouchers.end_due_vouchers(actor)


@shared_task(name="billing.check_books")
def check_books() -> None:
    """Whether balances, ratings and kept sums are what they are made of."""
    with acting(system_actor()) as actor:
        books.check_books(actor)

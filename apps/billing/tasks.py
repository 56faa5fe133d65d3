"""Periodic tasks. They carry no state: what is due is found in the database."""

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
    """Ask Alipay about payments and refunds whose notices have not arrived."""
    with acting(system_actor()) as actor:
        polling.query_due_orders()
        refunds.carry_out_due(actor)


@shared_task(name="billing.tell_payments")
def tell_payments() -> None:
    """Notify of payments that were just credited."""
    with acting(system_actor()):
        payment_notices.notify_due()


@shared_task(name="billing.export")
def export() -> None:
    """Write requested exports and delete expired ones."""
    with acting(system_actor()):
        working.write_due_exports()


@shared_task(name="billing.close_months")
def close_months() -> None:
    """Build statement drafts of past months."""
    with acting(system_actor()) as actor:
        statements_closing.close_due(actor)


@shared_task(name="billing.reconcile_alipay")
def reconcile_alipay() -> None:
    """Fetch Alipay's bills of past days and compare them with our books."""
    with acting(system_actor()) as actor:
        reconciliation_days.reconcile_due(actor)


@shared_task(name="billing.budgets")
def watch_budgets() -> None:
    with acting(system_actor()) as actor:
        budgets.watch_budgets(actor)


@shared_task(name="billing.prepaid")
def look_after_prepaid() -> None:
    """Recognise revenue of past days of prepaid time; renewals, notices and ends."""
    with acting(system_actor()) as actor:
        prepaid_earning.recognise_due(actor)
        prepaid_sweep.prepaid_sweep(actor)


@shared_task(name="billing.vouchers")
def end_vouchers() -> None:
    """Return what is left of expired vouchers."""
    with acting(system_actor()) as actor:
        vouchers.end_due_vouchers(actor)


@shared_task(name="billing.check_books")
def check_books() -> None:
    """Check balances, ratings and kept sums against what they are computed from."""
    with acting(system_actor()) as actor:
        books.check_books(actor)

"""`manage.py replay_alipay --since 2026-11-01`: credit what Alipay knows, after the restore of a backup."""

import json
from argparse import ArgumentParser
from datetime import date, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation import days as reconciliation_days
from apps.billing.payments.reconciliation.bills import CHINA
from apps.common.actor import system_actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.scoping import acting


class Command(BaseCommand):
    help = (
        "Fetch Alipay's bills of past days and credit every payment that is missing here and that Alipay confirms. "
        "Safe to repeat: nothing is credited twice. Refunds that are missing here wait for staff on the page."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since", required=True, type=date.fromisoformat, help="first day (YYYY-MM-DD, China's time)"
        )
        parser.add_argument("--until", type=date.fromisoformat, help="last day; default: yesterday")

    def handle(self, *args: Any, **options: Any) -> None:
        since: date = options["since"]
        until: date = options["until"] or yesterday(db_now())
        if not since <= until:
            raise CommandError("--since comes before --until, and both are over.")
        with acting(system_actor()) as actor:
            for n in range((until - since).days + 1):
                day = since + timedelta(days=n)
                row = reconciliation.ensure_day(day)
                reconciliation_days.fetch_day(actor, row)
                try:
                    done = reconciliation_acts.credit_day(actor, day)
                except DomainError as error:
                    raise CommandError(f"{day}: {error.message}") from error
                row.refresh_from_db()
                said = {"day": str(day), "state": row.state, "problem": row.problem}
                self.stdout.write(json.dumps({**said, "credited": done.credited, "open": done.left}))


def yesterday(now: datetime) -> date:
    return now.astimezone(CHINA).date() - timedelta(days=1)

"""Postgres shut down at once (SIGQUIT) and killed while money comes in: what was answered is there, and once."""

import os
import signal
import sys
import threading
import time
from contextlib import closing
from http.client import HTTPException
from typing import Any

import psycopg2
import pytest

from plstack.launch.layout import Layout
from plstack.launch.postgres import APP, Postgres
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.chaos

SECONDS, FEN = 25, 101


class Payer:
    """Records payments one after the other; one that is not answered is sent again as it was."""

    def __init__(self, api: Api, organisation: str, name: str) -> None:
        self.api, self.organisation, self.name = api, organisation, name
        self.answered: dict[str, Any] = {}
        self.troubles = 0
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        end, number = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            number += 1
            self._pay(f"{self.name}-{number}")

    def _pay(self, reference: str) -> None:
        body = {"organisation_id": self.organisation, "amount_fen": FEN, "reference": reference}
        deadline = time.monotonic() + 90
        while reference not in self.answered:
            assert time.monotonic() < deadline, "no answer any more"
            try:
                self.answered[reference] = self.api.post("/console/recharges/", body, Idempotency_Key=reference)
            except (AssertionError, OSError, HTTPException, ValueError):
                self.troubles += 1
                time.sleep(0.3)


@pytest.mark.parametrize("blow", [signal.SIGQUIT, signal.SIGKILL])
def test_payments_outlive_the_database(stack: Stack, api: Api, blow: signal.Signals) -> None:
    lab = api.get("/console/organisations/")["results"][0]["id"]
    payers = [Payer(Api(stack).sign_in(), lab, f"{blow.name}-{number}") for number in range(3)]
    for payer in payers:
        payer.thread.start()
    for _blow in range(2):
        time.sleep(SECONDS / 4)
        os.kill(wait_for(lambda: stack.pids().get("postgres"), 60), blow)
    for payer in payers:
        payer.thread.join()
    sent = {reference for payer in payers for reference in payer.answered}
    assert len(sent) > 0
    assert sum(payer.troubles for payer in payers) > 0, "nobody noticed the blows"
    stored = [row[0] for row in ask(stack, "SELECT ref FROM billing_transfer WHERE kind = 'top_up'")]
    ours = [reference for reference in stored if reference.startswith(blow.name)]
    assert sorted(ours) == sorted(sent)
    assert ask(stack, BOOKS) == [(0, 0)]


# The sum of all balances, and how many accounts are not what their transfers add up to.
BOOKS = """
SELECT sum(balance_fen)::bigint, count(*) FILTER (WHERE balance_fen <>
    (SELECT coalesce(sum(amount_fen), 0) FROM billing_transfer WHERE credit_id = account.id)
    - (SELECT coalesce(sum(amount_fen), 0) FROM billing_transfer WHERE debit_id = account.id))
FROM billing_account AS account
"""


def ask(stack: Stack, query: str) -> list[tuple[Any, ...]]:
    """Rows from the copy's own database."""
    layout = Layout.from_environ({"PLSTACK_HOME": str(stack.home), "PLSTACK_VENV": sys.prefix})
    with closing(psycopg2.connect(Postgres.from_layout(layout).url(APP))) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())

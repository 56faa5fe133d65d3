"""What always holds of money, and the tests that prove it: by search, by racing, by killing, in the database itself.

Paths are below tests/. tests/architecture/test_money_proofs.py sees to it that each test is there, and that whatever
writes money in a transaction of its own is killed at every point of it by one of `KILLED`.
"""

MONEY = "billing/test_machine.py::test_the_books_are_right_after_every_step"
PURSES = "billing/test_purses.py::test_every_account_has_what_it_should_after_every_step"
PAPERS = "billing/test_papers.py::test_the_papers_say_what_the_ledger_says_after_every_step"
PREPAID = "billing/test_prepaid_machine.py::test_prepaid_books_are_right_after_every_step"

INVARIANTS: dict[str, tuple[str, ...]] = {
    "1. Each balance is the sum of its transfers, and all of them together are nothing": (
        MONEY,
        PURSES,
        "billing/test_ledger.py::test_drift_names_an_account_that_was_tampered_with",
        "billing/test_ledger.py::test_the_application_role_edits_no_money",
        "chaos/test_money.py::test_payments_outlive_the_database",
    ),
    "2. What is in a wallet is what came in less what went out; prepaid money is earned or still owed": (
        MONEY,
        PURSES,
        PREPAID,
        "billing/test_statements_add_up.py::test_revenue_is_the_sum_of_the_statements",
    ),
    "3. No decision goes below the credit limit, whoever decides at the same moment": (
        MONEY,
        "billing/test_ledger.py::test_a_decision_stops_at_the_credit_limit",
        "billing/test_concurrency.py::test_parallel_starts_never_promise_more_than_there_is",
    ),
    "4. One key is one transfer, with one amount, for ever": (
        MONEY,
        "billing/test_ledger.py::test_the_same_key_and_content_is_the_same_transfer",
        "billing/test_ledger.py::test_the_same_key_with_other_content_is_a_conflict",
        "billing/test_concurrency.py::test_a_slip_entered_twice_at_once_is_credited_once",
        "billing/test_redelivery.py::test_tasks_delivered_twice_at_once_do_each_thing_once",
    ),
    "5. Slices tile: over 29 February, the 31st, changes of price and discount, and resizes": (
        MONEY,
        PREPAID,
        "billing/test_metering.py::test_overlaps_and_gaps_cannot_be_stored",
        "billing/test_rating.py::test_leap_day_and_the_billing_zone_decide_the_day",
        "billing/test_storage_metering.py::test_whatever_the_sizes_the_time_tiles",
        "billing/test_storage_metering.py::test_all_that_changes_between_two_looks_holds_from_its_own_instant",
        "billing/test_prepaid_pure.py::test_periods_are_clamped_and_come_back",
        "billing/test_prepaid_pure.py::test_periods_follow_each_other_and_never_drift",
    ),
    "6. Σ lines + rounding = bill = Σ transfers, and an issued statement never changes": (
        PAPERS,
        "billing/test_statements_add_up.py::test_lines_bill_and_ledger_are_one",
        "billing/test_consumption.py::test_every_level_adds_up_to_the_ledger",
        "billing/test_pages.py::test_totals_of_page_export_and_ledger_are_the_same",
        "billing/test_exports.py::test_the_last_row_of_a_csv_is_the_ledger_to_the_fen",
    ),
    "7. Rating again changes nothing": (
        MONEY,
        "billing/test_rating.py::test_rating_again_changes_nothing",
        "billing/test_vouchers.py::test_rating_again_changes_nothing",
        "billing/test_concurrency.py::test_raters_at_once_charge_each_slice_once",
    ),
    "8. Cutting a slice elsewhere changes no cost": (
        MONEY,
        "billing/test_rating.py::test_cutting_at_every_rating_costs_what_one_piece_costs",
        "billing/test_prepaid_pure.py::test_cutting_elsewhere_changes_nothing",
        "billing/test_discounts.py::test_a_cut_changes_no_discounted_price",
    ),
    "9. A hold ends once, and one is open while its work is": (
        MONEY,
        "billing/test_holds.py::test_the_database_lets_a_hold_end_once",
        "billing/test_holds.py::test_the_database_lets_one_hold_be_open",
        "billing/test_concurrency.py::test_one_workload_started_twice_at_once_holds_once",
    ),
    "10. Any multiset of notices gives one credit or none": (
        PURSES,
        "billing/alipay/test_orders.py::test_any_sequence_gives_exactly_one_credit_or_none",
        "billing/alipay/test_replay.py::test_whatever_is_lost_or_doubled_the_bill_credits_each_payment_once",
        "billing/alipay/test_kill_database.py::test_what_a_dump_lacks_comes_back_from_alipays_bill_once",
    ),
    "11. No more is given back than was paid, and no more invoiced": (
        PURSES,
        PAPERS,
        "billing/alipay/test_refunds.py::test_refunds_never_exceed_what_was_paid",
        "billing/test_invoices.py::test_requests_at_once_never_exceed_what_was_paid",
    ),
    "12. Arrears walk legal edges only, and each is told once": (
        MONEY,
        "billing/test_retention.py::test_any_order_of_top_ups_usage_and_sweeps_walks_legal_edges_and_tells_each_once",
        "billing/test_arrears.py::test_a_move_off_the_table_is_refused",
        "billing/test_arrears.py::test_whoever_comes_second_moves_nothing",
    ),
    "13. A quota is never overshot": ("tenants/test_quotas.py::test_fifty_at_once_take_exactly_what_the_limit_leaves",),
    "No organisation reads another's bill": (
        "architecture/test_sweep.py::test_outsiders_learn_and_change_nothing",
        "architecture/test_sweep.py::test_a_query_without_a_scope_raises",
        "billing/test_pages.py::test_nobody_opens_a_colleagues_or_a_strangers_run",
        "billing/test_invoicing.py::test_strangers_and_members_see_nothing_of_it",
    ),
}

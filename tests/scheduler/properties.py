"""The scheduler's properties, and the tests that search for a world in which one of them does not hold.

Names are modules of this folder and what they define: a test with Hypothesis, or a state machine's TestCase.
"""

PROPERTIES: dict[str, tuple[str, ...]] = {
    "What is allocated and then freed leaves the same bytes": (
        "test_cells.test_giving_everything_back_restores_the_bytes",
        "test_machines.TestAnyCards",
        "test_machines.TestMigCards",
    ),
    "No node, card or memory slice is handed out twice": (
        "test_plan.test_nothing_is_handed_out_twice",
        "test_plan.test_a_second_pass_over_what_runs_keeps_within_capacity",
    ),
    "A cached column is what computing it anew would give": (
        "test_cells.test_cached_columns_equal_a_full_recomputation",
        "test_machines.TestAnyCards",
        "test_fragments.test_a_foretold_change_is_the_change_that_comes",
    ),
    "MIG masks are disjoint and legal, and use at most seven compute slices": (
        "test_partitions.test_partitions_never_overlap_and_stay_within_the_compute",
        "test_machines.TestMigCards",
    ),
    "A card is in one mode at a time": (
        "test_machines.TestAnyCards",
        "test_plan.test_nothing_is_handed_out_twice",
    ),
    "A gang holds nothing, or at least its minimum": ("test_plan.test_a_gang_holds_nothing_or_at_least_its_minimum",),
    "Who asks for RDMA starts where a link is up, within one fabric; who does not is planned as if there were none": (
        "test_rdma.test_who_asks_never_starts_without_an_active_device",
        "test_rdma.test_who_does_not_ask_is_planned_as_if_there_were_no_such_devices",
        "test_rdma.test_nobody_waits_for_who_asks_for_links_that_are_down",
    ),
    "A gang of one node is on one node": ("test_plan.test_a_gang_of_one_node_is_on_one_node",),
    "Rolling an overlay back is the identity": (
        "test_cells.test_a_gang_that_does_not_fit_leaves_no_trace",
        "test_engine.test_a_pass_changes_nothing",
        "test_machines.TestAnyCards",
    ),
    "A tenant below what it deserves, with a task that fits, is never blocked by one above": (
        "test_engine.test_nobody_below_its_guarantee_is_kept_out_by_one_above",
        "test_hold.test_nobody_below_its_guarantee_with_a_fitting_task_waits_for_one_above",
        "test_lanes.test_nobody_starts_outside_its_promise_while_another_waits_inside_of_its_own",
    ),
    "Pre-emption strictly lowers the potential": (
        "test_preempt.test_an_eviction_strictly_lowers_the_potential",
        "test_deserved.test_in_a_closed_world_pre_emption_comes_to_rest",
    ),
    "Two tasks do not push each other aside in turn": (
        "test_preempt.test_the_winner_is_not_taken_back",
        "test_deserved.test_in_a_closed_world_pre_emption_comes_to_rest",
    ),
    "No victim could be left out": ("test_preempt.test_victims_are_lawful_needed_and_as_cheap_as_brute_force_finds",),
    "Backfill never delays a reserved start under exact estimates": (
        "test_backfill.test_backfill_never_delays_a_reserved_start_when_estimates_are_exact",
    ),
    "Backfill delays no promised start by what owners say of their tasks, however wrong": (
        "test_statements.test_a_wrong_statement_breaks_no_promise_and_blocks_nobody",
    ),
    "What fits now and delays nobody with a known start runs, and every task starts once arrivals stop": (
        "test_liveness_machine.TestQueueing",
    ),
    "A share is monotone in its weight": (
        "test_shares.test_a_share_is_monotone_in_weight",
        "test_deserved.test_more_weight_never_gets_fewer_cards",
    ),
    "A replay repeats exactly": (
        "test_simulate.test_a_replay_repeats_exactly",
        "test_plan.test_the_same_input_gives_the_same_plan",
    ),
    "Restarted from what was written, the state is the same": (
        "test_engine.test_told_step_by_step_or_loaded_at_once_the_state_is_the_same",
        "test_standing.TestKeptEngine",
    ),
    "When the deficit that a cause names is granted, the cause is gone": (
        "test_plan.test_granting_what_the_cause_names_lets_the_task_start",
    ),
    "Every task that waits is started, or has exactly one cause": (
        "test_plan.test_every_waiting_task_is_placed_or_has_one_wait",
    ),
    "Who only asks changes nothing, and is told what a pass would do": (
        "test_inquiry.test_asking_changes_nothing",
        "test_inquiry.test_asked_together_each_is_told_what_it_is_told_alone",
        "test_inquiry.test_who_is_told_that_it_starts_now_is_placed_by_the_pass_that_has_it",
    ),
    "Nodes that report nonsense break nothing, and what can never start stalls nobody": (
        "test_nonsense.test_nodes_that_report_nonsense_break_nothing",
        "test_nonsense.test_all_of_it_at_once_stalls_nobody_either",
    ),
}

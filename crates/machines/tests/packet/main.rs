//! The same proofs on Packet. They have a program of their own, because an API server has one definition of machines, with the
//! provider spec of one platform.

#![allow(
    clippy::unwrap_used,
    clippy::default_trait_access,
    clippy::similar_names,
    clippy::too_many_lines,
    clippy::duration_suboptimal_units,
    reason = "tests"
)]

#[path = "../it/cluster.rs"]
#[allow(dead_code, reason = "shared with the other platform")]
mod cluster;
#[path = "../it/suite/mod.rs"]
#[allow(dead_code, reason = "shared with the other platform")]
mod suite;
#[path = "../it/worlds/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the other platform")]
mod worlds;

// Not all proofs have been seen to end well here yet; these have.
mod packet {
    crate::suite!(@tests crate::worlds::Packet;
        life: a_machine_lives_and_goes,
        life: volumes_of_others_are_kept,
        life: an_instance_that_exists_is_taken_on,
        life: hooks_are_waited_for,
        sets: a_set_scales_up_and_down,
        sets: policies_and_annotations_choose,
        sets: orphans_are_adopted,
        failures: lost_replies_make_no_second_instance,
        failures: an_instance_that_vanished_is_replaced_by_a_check,
        failures: new_credentials_are_taken_up,
        health: a_node_that_is_not_ready_is_fenced_and_replaced,
        health: too_many_unhealthy_are_left_alone,
        health: masters_go_one_at_a_time,
        health: another_program_is_asked,
        drain: pods_leave_before_their_machine_and_budgets_are_respected,
        drain: a_drain_that_takes_too_long_is_cut_short,
        leaders: a_leader_that_cannot_renew_stops,
        outages: a_platform_that_comes_back_is_met_gently,
        outages: at_rest_calls_do_not_grow_with_machines,
        approval: only_machines_get_certificates,
        kubectl: columns_scale_and_delete,
        kubectl: least_privilege_is_enough,
    );
}

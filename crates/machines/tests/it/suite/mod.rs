//! The proofs, for any platform: each is a function over a [`World`](crate::worlds::World).

pub(crate) mod approval;
pub(crate) mod drain;
pub(crate) mod failures;
pub(crate) mod health;
pub(crate) mod identity;
pub(crate) mod kills;
pub(crate) mod kubectl;
pub(crate) mod leaders;
pub(crate) mod life;
pub(crate) mod model;
pub(crate) mod outages;
pub(crate) mod sets;
pub(crate) mod vitals;

/// Puts a platform through all proofs.
#[macro_export]
macro_rules! suite {
    ($platform:ident, $world:ty) => {
        mod $platform {
            $crate::suite!(@tests $world;
                life: a_machine_lives_and_goes,
                life: volumes_of_others_are_kept,
                life: an_instance_that_exists_is_taken_on,
                life: hooks_are_waited_for,
                sets: a_set_scales_up_and_down,
                sets: policies_and_annotations_choose,
                sets: orphans_are_adopted,
                failures: lost_replies_make_no_second_instance,
                failures: late_creations_make_no_second_instance,
                failures: a_creation_on_its_way_leaves_nothing_behind,
                failures: a_creation_of_a_killed_controller_leaves_nothing_behind,
                failures: what_can_never_be_is_marked_failed,
                failures: an_instance_that_vanished_is_replaced_by_a_check,
                failures: new_credentials_are_taken_up,
                failures: a_platform_without_room_is_asked_seldom,
                health: a_node_that_is_not_ready_is_fenced_and_replaced,
                health: too_many_unhealthy_are_left_alone,
                health: masters_go_one_at_a_time,
                health: another_program_is_asked,
                drain: pods_leave_before_their_machine_and_budgets_are_respected,
                drain: a_drain_that_takes_too_long_is_cut_short,
                leaders: one_of_two_leads_and_the_other_takes_over,
                leaders: a_leader_that_cannot_renew_stops,
                outages: an_api_server_that_restarts_is_followed_again,
                outages: a_platform_that_comes_back_is_met_gently,
                outages: at_rest_calls_do_not_grow_with_machines,
                approval: only_machines_get_certificates,
                identity: user_data_of_a_machine_that_runs_opens_nothing,
                kubectl: columns_scale_and_delete,
                kubectl: least_privilege_is_enough,
                vitals: what_is_documented_is_served,
                vitals: who_knows_nothing_is_not_ready,
                kills: crashes_at_many_moments,
                model: random_operations_settle,
            );
        }
    };
    (@tests $world:ty; $($module:ident: $test:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                $crate::cluster::in_time($crate::suite::$module::$test::<$world>()).await;
            }
        )*
    };
}

use super::*;

fn at(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn write(value: u64, called: u64, returned: u64) -> Operation {
    Operation { action: Action::Write(value), called: at(called), returned: Some(at(returned)) }
}

fn read(value: u64, called: u64, returned: u64) -> Operation {
    Operation { action: Action::Read(value), called: at(called), returned: Some(at(returned)) }
}

/// A write of which nobody knows whether it took effect.
fn unknown(value: u64, called: u64) -> Operation {
    Operation { action: Action::Write(value), called: at(called), returned: None }
}

#[test]
fn operations_that_overlap_may_take_effect_in_any_order() {
    check(&[]).unwrap();
    check(&[read(INITIAL, 0, 1), write(1, 2, 3), read(1, 4, 5)]).unwrap();
    // While a write is under way, readers may see either value, and in the order of the one instant.
    check(&[write(1, 0, 10), read(INITIAL, 1, 2), read(1, 3, 4), read(1, 5, 6)]).unwrap();
    // The write that was called later takes effect first.
    check(&[write(1, 0, 10), write(2, 1, 9), read(2, 2, 3), read(1, 11, 12)]).unwrap();
    check(&[write(1, 0, 10), write(2, 1, 9), read(1, 2, 3), read(2, 11, 12)]).unwrap();
}

#[test]
fn a_write_of_unknown_outcome_takes_effect_late_or_never() {
    check(&[unknown(1, 0), read(INITIAL, 1, 2), read(INITIAL, 3, 4)]).unwrap();
    check(&[unknown(1, 0), read(INITIAL, 1, 2), write(2, 3, 4), read(2, 5, 6), read(1, 7, 8)]).unwrap();
    check(&[unknown(1, 0), unknown(2, 0), read(2, 1, 2), read(1, 3, 4)]).unwrap();
}

#[test]
fn an_acknowledged_write_that_is_lost_is_a_violation() {
    let violation = check(&[write(1, 0, 1), read(1, 2, 3), write(2, 4, 5), read(1, 6, 7)]).unwrap_err();
    assert_eq!(violation, Violation { value: 2, unexplained: vec![read(1, 6, 7)] });
    assert!(violation.to_string().starts_with("the register held 2, and no order explains; Read(1) from 0.006000"));
    check(&[write(1, 0, 1), read(INITIAL, 2, 3)]).unwrap_err();
}

#[test]
fn what_readers_see_never_goes_back() {
    // Both reads are within the write, but in the wrong order.
    check(&[write(1, 0, 10), read(1, 1, 2), read(INITIAL, 3, 4)]).unwrap_err();
    check(&[unknown(1, 0), read(1, 1, 2), read(INITIAL, 3, 4)]).unwrap_err();
    // Two readers that see two writes in different orders.
    let split = [write(1, 0, 20), write(2, 0, 20), read(1, 1, 2), read(2, 3, 4), read(1, 5, 6)];
    check(&split).unwrap_err();
}

#[test]
fn nothing_is_read_that_was_not_written_before() {
    check(&[read(1, 0, 1)]).unwrap_err();
    check(&[read(1, 0, 1), write(1, 2, 3)]).unwrap_err();
    check(&[read(1, 0, 1), unknown(1, 2)]).unwrap_err();
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Tries all orders.
fn by_brute_force(rest: &[Operation], value: u64) -> bool {
    let must = |operation: &&Operation| operation.returned.is_some();
    if rest.iter().filter(must).count() == 0 {
        return true;
    }
    (0..rest.len()).any(|index| {
        let next = rest[index];
        if rest.iter().any(|other| other.returned.is_some_and(|returned| returned < next.called)) {
            return false;
        }
        let mut others = rest.to_vec();
        others.remove(index);
        match next.action {
            Action::Write(written) => by_brute_force(&others, written),
            Action::Read(seen) => seen == value && by_brute_force(&others, value),
        }
    })
}

#[test]
fn the_search_agrees_with_trying_all_orders() {
    let mut numbers = Numbers(7);
    let mut verdicts = [0_u32; 2];
    for _ in 0..4000 {
        let mut history = Vec::new();
        for number in 1..=numbers.below(6) + 1 {
            let called = numbers.below(12);
            let returned = called + 1 + numbers.below(5);
            history.push(match numbers.below(5) {
                0 => unknown(number, called),
                1 | 2 => write(number, called, returned),
                _ => read(numbers.below(number + 1), called, returned),
            });
        }
        let expected = by_brute_force(&history, INITIAL);
        verdicts[usize::from(expected)] += 1;
        assert_eq!(check(&history).is_ok(), expected, "{history:?}");
    }
    assert!(verdicts.iter().all(|count| *count > 500), "both verdicts are common: {verdicts:?}");
}

#[test]
fn a_long_history_of_many_clients_is_checked_and_its_one_lost_write_is_found() {
    let mut numbers = Numbers(11);
    let (mut history, mut value) = (Vec::new(), INITIAL);
    for number in 0..20_000 {
        // It takes effect at this instant, and began and ended a while before and after.
        let instant = number * 10;
        let action = match numbers.below(3) {
            0 => {
                value = number + 1;
                Action::Write(value)
            }
            _ => Action::Read(value),
        };
        let called = at(1000 + instant - numbers.below(40));
        history.push(Operation { action, called, returned: Some(at(1001 + instant + numbers.below(40))) });
    }
    check(&history).unwrap();
    let end = 1_000_000;
    history.push(write(900_001, end, end + 1));
    history.push(read(value, end + 2, end + 3));
    check(&history).unwrap_err();
}

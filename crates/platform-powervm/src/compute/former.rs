//! What the drivers that `OpenStack` had for `PowerVM` until release 25 called what they made for a partition.
//!
//! Names of disks are those of the instance, and so of the partition, and unique nowhere: what is called so is taken for the partition's only
//! if it is shown to it.

use super::PartitionId;

/// Characters of an instance's name in the name of a virtual disk.
const SHORT: usize = 8;
/// Digits of an instance's id in the name of a medium, of which the platform allows 37 characters.
const MEDIUM_DIGITS: usize = 29;

/// Whether this is the name of the unit that a partition of a name boots from.
pub(super) fn is_unit(name: &str, partition: &str) -> bool {
    name == format!("boot_{}", scrubbed(partition))
}

/// Whether this is the name of the virtual disk that a partition boots from.
pub(super) fn is_virtual_disk(name: &str, partition: &str, id: &PartitionId) -> bool {
    let instance: String = scrubbed(partition).chars().take(SHORT).collect();
    let digits = name.strip_prefix("b_").and_then(|rest| rest.strip_prefix(&instance)?.strip_prefix('_'));
    digits.is_some_and(|digits| begins(digits, id, 4))
}

/// Whether this is the name of the medium with a partition's config drive.
pub(super) fn is_medium(name: &str, id: &PartitionId) -> bool {
    let digits = name.strip_prefix("cfg_").and_then(|rest| rest.strip_suffix(".iso"));
    digits.is_some_and(|digits| begins(digits, id, MEDIUM_DIGITS))
}

/// Whether these are the first digits of the instance of a partition. Its id has its first bit clear, which the instance's need not be.
fn begins(digits: &str, id: &PartitionId, count: usize) -> bool {
    digits.len() == count && digits.get(1..).is_some_and(|rest| id.digits()[1..].starts_with(rest))
}

/// As names of files may be.
fn scrubbed(name: &str) -> String {
    name.chars()
        .map(|sign| if sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_') { sign } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_instance() {
        let id: PartitionId = "c2d8a5f0-1b3c-4d5e-8f90-123456789abc".parse().unwrap();
        assert!(is_unit("boot_instance_0000000a", "instance-0000000a"));
        assert!(!is_unit("boot_instance_0000000b", "instance-0000000a"));
        assert!(is_virtual_disk("b_instance_c2d8", "instance-0000000a", &id));
        assert!(!is_virtual_disk("b_instance_c2d9", "instance-0000000a", &id));
        assert!(is_medium("cfg_c2d8a5f01b3c4d5e8f90123456789.iso", &id));
        assert!(!is_medium("cfg_c2d8a5f01b3c4d5e8f9012345678a.iso", &id));
        assert!(!is_medium("cfg_c2d8.iso", &id));
    }
}

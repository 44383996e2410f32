//! The operating systems that an engine knows. Which one a VM is said to run decides how it gets its user data.

use super::table::Id;

/// An operating system of the engine's list.
#[derive(Debug)]
pub(crate) struct OperatingSystem {
    /// The number that the engine has for it.
    pub(crate) number: u16,
    /// The name that a VM's `os.type` has.
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) architecture: &'static str,
    /// How user data is delivered.
    pub(crate) delivery: Delivery,
}

/// How user data reaches a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Delivery {
    /// A config drive for cloud-init.
    CloudInit,
    /// A config drive for Ignition.
    Ignition,
    /// A floppy for sysprep.
    Sysprep,
}

const fn os(
    number: u16,
    name: &'static str,
    description: &'static str,
    architecture: &'static str,
    delivery: Delivery,
) -> OperatingSystem {
    OperatingSystem { number, name, description, architecture, delivery }
}

/// A selection of the engine's list, with its numbers.
pub(crate) static OPERATING_SYSTEMS: &[OperatingSystem] = &[
    os(0, "other", "Other OS", "x86_64", Delivery::CloudInit),
    os(5, "other_linux", "Linux", "x86_64", Delivery::CloudInit),
    os(11, "windows_7", "Windows 7", "x86_64", Delivery::Sysprep),
    os(18, "rhel_6", "Red Hat Enterprise Linux 6.x", "x86_64", Delivery::CloudInit),
    os(19, "rhel_6x64", "Red Hat Enterprise Linux 6.x x64", "x86_64", Delivery::CloudInit),
    os(24, "rhel_7x64", "Red Hat Enterprise Linux 7.x x64", "x86_64", Delivery::CloudInit),
    os(25, "windows_2012R2x64", "Windows 2012R2 x64", "x86_64", Delivery::Sysprep),
    os(27, "windows_10x64", "Windows 10 x64", "x86_64", Delivery::Sysprep),
    os(29, "windows_2016x64", "Windows 2016 x64", "x86_64", Delivery::Sysprep),
    os(30, "rhel_8x64", "Red Hat Enterprise Linux 8.x x64", "x86_64", Delivery::CloudInit),
    os(31, "windows_2019x64", "Windows 2019 x64", "x86_64", Delivery::Sysprep),
    os(33, "other_linux_kernel_4", "Other Linux (kernel 4.x)", "x86_64", Delivery::CloudInit),
    os(34, "rhel_9x64", "Red Hat Enterprise Linux 9.x x64", "x86_64", Delivery::CloudInit),
    os(35, "rhcos_x64", "Red Hat Enterprise Linux CoreOS", "x86_64", Delivery::Ignition),
    os(36, "windows_11", "Windows 11", "x86_64", Delivery::Sysprep),
    os(37, "windows_2022", "Windows 2022", "x86_64", Delivery::Sysprep),
    os(39, "rhel_10x64", "Red Hat Enterprise Linux 10.x x64", "x86_64", Delivery::CloudInit),
    os(1001, "other_ppc64", "Other OS", "ppc64", Delivery::CloudInit),
    os(1002, "other_linux_ppc64", "Linux", "ppc64", Delivery::CloudInit),
    os(1003, "rhel_6_ppc64", "Red Hat Enterprise Linux up to 6.8", "ppc64", Delivery::CloudInit),
    os(1008, "rhel_8_ppc64", "Red Hat Enterprise Linux 8.x", "ppc64", Delivery::CloudInit),
    os(1257, "ubuntu_18_04", "Ubuntu Bionic Beaver LTS", "x86_64", Delivery::CloudInit),
    os(1301, "debian_9", "Debian 9+", "x86_64", Delivery::CloudInit),
    os(1501, "freebsdx64", "FreeBSD 9.2 x64", "x86_64", Delivery::CloudInit),
];

impl OperatingSystem {
    /// The id that the API gives it.
    pub(crate) fn uuid(&'static self) -> Id {
        Id::from_u128(u128::from(self.number) + 1)
    }
}

/// The name as the engine knows it; what it does not know becomes `other`, as in the engine.
pub(crate) fn known_name(name: &str) -> &'static str {
    OPERATING_SYSTEMS.iter().map(|os| os.name).find(|known| *known == name).unwrap_or("other")
}

/// How a guest of that type gets its user data.
pub(crate) fn delivery(name: &str) -> Delivery {
    OPERATING_SYSTEMS.iter().find(|os| os.name == name).map_or(Delivery::CloudInit, |os| os.delivery)
}

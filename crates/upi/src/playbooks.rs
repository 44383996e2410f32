//! The playbooks. They are the same for every cluster: what differs is in the inventory.

use landfall_platform::{File, FileSet};

macro_rules! playbooks {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../playbooks/", $name)))),*]
    };
}

/// The files, relative to the kit.
pub(crate) fn files() -> FileSet {
    let playbooks = playbooks![
        "requirements.yml",
        "image.yml",
        "vms.yml",
        "bootstrap.yml",
        "masters.yml",
        "workers.yml",
        "retire-bootstrap.yml",
        "retire-masters.yml",
        "retire-workers.yml",
        "retire-all.yml",
        "tasks/login.yml",
        "tasks/logout.yml",
        "tasks/names.yml",
        "tasks/find.yml",
        "tasks/start.yml",
        "tasks/retire.yml",
        "tasks/ask.yml",
        "tasks/say.yml",
    ];
    playbooks.into_iter().map(|(name, text)| (name.to_owned(), File::public(text))).collect()
}

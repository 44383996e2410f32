//! Whether a server answers, and whether it can do anything.

use landfall_platform::Finding;

use super::{Server, unanswered};
use crate::{
    Error,
    client::{Dialect, VirtualIoServer},
    site::Member,
};

const CHECK: &str = "server";
/// How the versions of the API begin whose documents are understood.
const SCHEMA: &str = "V1_";

/// What was found, and the server if it can be looked at further.
pub(super) async fn check(member: &Member) -> (Vec<Finding>, Option<Server<'_>>) {
    let client = &member.client;
    let (systems, vioses, dialect) = match futures::try_join!(client.systems(), client.vioses(&[]), client.dialect()) {
        Ok(answers) => answers,
        Err(error) => {
            let hint = match &error {
                Error::Logon { .. } => "check user and password in the credentials file",
                _ => "check platform.powervm.hosts, and that NovaLink runs and can be reached",
            };
            let message = format!("{}: {}", member.name, landfall_platform::error_chain(&error));
            return (vec![Finding::problem(CHECK, message, hint).blame("platform.powervm.hosts")], None);
        }
    };
    let Some(system) = systems.into_iter().next() else {
        let error = Error::State {
            object: "NovaLink".to_owned(),
            host: member.name.clone(),
            state: "it manages no server".to_owned(),
        };
        return (vec![unanswered(CHECK, &error)], None);
    };
    let mut findings: Vec<Finding> = spoken(&member.name, &dialect).into_iter().collect();
    findings.push(if system.state == "operating" || system.state == "standby" {
        Finding::ok(CHECK, format!("{} is {}, machine {}", member.name, system.name, system.machine))
    } else {
        let message = format!("{} is in state '{}'", member.name, system.state);
        Finding::problem(CHECK, message, "bring the server into operation")
    });
    findings.push(servers_of_io(member, &vioses));
    (findings, Some(Server { member, system }))
}

/// What is wrong with the console itself.
fn spoken(host: &str, dialect: &Dialect) -> Option<Finding> {
    let Dialect { is_novalink, schema } = dialect;
    if !is_novalink {
        let message = format!("what answers for {host} is an HMC");
        let problem = Finding::problem(CHECK, message, "give the address of the server's NovaLink partition");
        return Some(problem.blame("platform.powervm.hosts"));
    }
    if !schema.starts_with(SCHEMA) {
        let message = format!("NovaLink of {host} speaks version '{schema}' of the API, and {SCHEMA}… is understood");
        return Some(Finding::problem(CHECK, message, "use a NovaLink of the 1.0 or 2.x series"));
    }
    None
}

/// Disks and networks come from VIOSes, and only from those that run and can be talked to.
fn servers_of_io(member: &Member, vioses: &[VirtualIoServer]) -> Finding {
    const CHECK: &str = "VIOS";
    let (active, dead): (Vec<_>, Vec<_>) = vioses.iter().partition(|vios| {
        let partition = &vios.partition;
        partition.is_management || partition.state == "running" && matches!(partition.rmc.as_str(), "active" | "busy")
    });
    let names =
        |list: &[&VirtualIoServer]| list.iter().map(|vios| vios.partition.name.as_str()).collect::<Vec<_>>().join(", ");
    match (active.len(), dead.len()) {
        (0, _) => Finding::problem(
            CHECK,
            format!("{} has no VIOS that runs and can be talked to (RMC)", member.name),
            "start one, or bring its RMC connection up",
        ),
        (_, 0) => Finding::ok(CHECK, format!("{}: {}", member.name, names(&active))),
        _ => Finding::notice(
            CHECK,
            format!("{}: {} cannot be talked to, {} can", member.name, names(&dead), names(&active)),
            "machines get only the paths to their disks that exist when they are made",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_novalink_that_is_understood_will_do() {
        let look = |is_novalink, schema: &str| spoken("power-a", &Dialect { is_novalink, schema: schema.to_owned() });
        assert!(look(true, "V1_0").is_none() && look(true, "V1_3_0").is_none());
        let told = |found: Option<Finding>| found.unwrap().to_string();
        assert!(told(look(false, "V1_3_0")).contains("what answers for power-a is an HMC"));
        assert!(told(look(true, "V9_0")).contains("speaks version 'V9_0' of the API"));
    }
}

//! Virtual switches.

use crate::client::{Path, UOM, VirtualSwitch};
use crate::compute::{Error, Host};
use crate::xml::Element;

/// What the list of all switches is remembered by.
const ALL: &str = "";

/// The switch of a name.
pub(super) async fn find(host: &Host, name: &str) -> Result<Option<VirtualSwitch>, Error> {
    if let Some(found) = find_known(host, name).await? {
        return Ok(Some(found));
    }
    // Somebody may have made it meanwhile.
    let all = read_all(host).await?;
    host.switches.learn(ALL, &all).await;
    Ok(named(&all, name))
}

/// The switch of a name, if it was there when the switches were last read.
pub(super) async fn find_known(host: &Host, name: &str) -> Result<Option<VirtualSwitch>, Error> {
    Ok(named(&host.switches.or_read(ALL, read_all(host)).await?, name))
}

/// The switch of a name, made if there is none.
pub(super) async fn find_or_make(host: &Host, name: &str) -> Result<VirtualSwitch, Error> {
    if let Some(found) = find(host, name).await? {
        return Ok(found);
    }
    let switch = Element::new("VirtualSwitch")
        .with_attribute("xmlns", UOM)
        .with_attribute("schemaVersion", "V1_0")
        .with(Element::new("Metadata").with(Element::new("Atom")))
        .with(Element::text_of("SwitchMode", "Veb"))
        .with(Element::text_of("SwitchName", name));
    let feed = Path::entry("ManagedSystem", &host.system().id).child("VirtualSwitch");
    let made = host.client().create(&feed, &switch).await;
    made.map_err(|error| host.failed(format!("making virtual switch {name}"), error))?;
    let missing = || Error::Missing { what: format!("virtual switch {name}"), host: host.label() };
    find(host, name).await?.ok_or_else(missing)
}

async fn read_all(host: &Host) -> Result<Vec<VirtualSwitch>, Error> {
    let switches = host.client().switches(&host.system().id).await;
    switches.map_err(|error| host.failed("reading the virtual switches", error))
}

/// The default switch is shown with a word about that.
fn named(all: &[VirtualSwitch], name: &str) -> Option<VirtualSwitch> {
    all.iter().find(|known| known.name == name || known.name == format!("{name}(Default)")).cloned()
}

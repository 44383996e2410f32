//! Virtual switches.

use crate::client::{Path, UOM, VirtualSwitch};
use crate::compute::{Error, Host};
use crate::xml::Element;

/// The switch of a name. The default one is shown with a word about that.
pub(super) async fn find(host: &Host, name: &str) -> Result<Option<VirtualSwitch>, Error> {
    if let Some(known) = host.switches.known(name).await {
        return Ok(Some(known));
    }
    let switches = host.client().switches(&host.system().id).await;
    let switches = switches.map_err(|error| host.failed("reading the virtual switches", error))?;
    let found = switches.into_iter().find(|known| known.name == name || known.name == format!("{name}(Default)"));
    if let Some(found) = &found {
        host.switches.learn(name, found).await;
    }
    Ok(found)
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

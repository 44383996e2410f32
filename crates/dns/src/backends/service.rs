//! SRV records as JSON APIs have them: the parts of what they say, and of their names.

use serde_json::{Value, json};

use crate::{Name, Service};

/// What a record says.
pub(super) fn to_json(service: &Service) -> Value {
    let Service { priority, weight, port, host } = service;
    json!({"priority": priority, "weight": weight, "port": port, "target": host.as_str()})
}

/// What a record says, if it is understood.
pub(super) fn from_json(value: &Value) -> Option<Service> {
    let number = |field: &str| value[field].as_u64().and_then(|number| u16::try_from(number).ok());
    Some(Service {
        priority: number("priority")?,
        weight: number("weight")?,
        port: number("port")?,
        host: value["target"].as_str()?.parse().ok()?,
    })
}

/// The service and the protocol, without their underscores, and the name that they stand before (RFC 2782).
pub(super) fn parts(name: &Name) -> Option<(&str, &str, &str)> {
    let (service, rest) = name.as_str().strip_prefix('_')?.split_once('.')?;
    let (protocol, rest) = rest.strip_prefix('_')?.split_once('.')?;
    Some((service, protocol, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_at_their_underscores() {
        let name = |text: &str| text.parse::<Name>().unwrap();
        let etcd = name("_etcd-server-ssl._tcp.demo.example.com");
        assert_eq!(parts(&etcd), Some(("etcd-server-ssl", "tcp", "demo.example.com")));
        for other in ["etcd._tcp.demo.example.com", "_etcd.tcp.demo.example.com", "_etcd._tcp"] {
            assert_eq!(parts(&name(other)), None, "{other}");
        }
    }

    #[test]
    fn services_come_back_as_they_were_written() {
        let service: Service = "0 10 2380 etcd-0.demo.example.com.".parse().unwrap();
        assert_eq!(from_json(&to_json(&service)), Some(service.clone()));
        for (field, wrong) in [("port", json!(70000)), ("weight", json!("10")), ("target", json!("not a name"))] {
            let mut value = to_json(&service);
            value[field] = wrong;
            assert_eq!(from_json(&value), None, "{field}");
        }
    }
}

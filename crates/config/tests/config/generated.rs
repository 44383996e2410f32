//! Trees made at random from the schema: mostly of the right shape, with values that are good, odd or absurd.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// Any tree that fits the schema.
pub(crate) fn fitting() -> BoxedStrategy<Value> {
    let schema = landfall_config::schema();
    from_schema(&schema, &schema)
}

/// A tree that fits the schema, with some of its values replaced by anything.
pub(crate) fn damaged() -> impl Strategy<Value = Value> {
    (fitting(), vec((any::<prop::sample::Index>(), anything()), 0..4)).prop_map(|(mut tree, damages)| {
        for (index, damage) in damages {
            let mut places = Vec::new();
            list_places(&tree, String::new(), &mut places);
            if let Some(place) = tree.pointer_mut(&places[index.index(places.len())]) {
                *place = damage;
            }
        }
        tree
    })
}

/// Any JSON that YAML can hold.
pub(crate) fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key(), inner), 0..4).prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn list_places(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                list_places(value, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                list_places(value, format!("{at}/{i}"), places);
            }
        }
        _ => {}
    }
    places.push(at);
}

fn from_schema(root: &Value, schema: &Value) -> BoxedStrategy<Value> {
    if let Some(pointer) = schema["$ref"].as_str() {
        return from_schema(root, root.pointer(pointer.trim_start_matches('#')).unwrap());
    }
    if let Some(word) = schema.get("const") {
        return Just(word.clone()).boxed();
    }
    if let Some(words) = schema["enum"].as_array() {
        return select(words.clone()).boxed();
    }
    if let Some(variants) = schema["oneOf"].as_array() {
        let variants: Vec<_> = variants.iter().map(|variant| from_schema(root, variant)).collect();
        return prop::strategy::Union::new(variants).boxed();
    }
    match schema["type"].as_str().unwrap() {
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => integer(schema),
        // As numbers of processors are: in quarters.
        "number" => (0_u32..64).prop_map(|quarters| (f64::from(quarters) / 4.0).into()).boxed(),
        "string" => string(schema["format"].as_str()),
        "array" => vec(from_schema(root, &schema["items"]), 0..4).prop_map(Value::from).boxed(),
        "object" => object(root, schema),
        other => panic!("{other}"),
    }
}

fn object(root: &Value, schema: &Value) -> BoxedStrategy<Value> {
    if schema["additionalProperties"].is_object() {
        let keys = match schema["propertyNames"]["enum"].as_array() {
            Some(words) => select(words.iter().map(|w| w.as_str().unwrap().to_owned()).collect::<Vec<_>>()).boxed(),
            None => key().boxed(),
        };
        return vec((keys, from_schema(root, &schema["additionalProperties"])), 0..4)
            .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into())
            .boxed();
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields: Vec<BoxedStrategy<(String, Option<Value>)>> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let value = from_schema(root, field);
            let is_required = required.iter().any(|required| required == name);
            let value = if is_required { value.prop_map(Some).boxed() } else { option::weighted(0.4, value).boxed() };
            (Just(name.clone()), value).boxed()
        })
        .collect();
    fields
        .prop_map(|fields| fields.into_iter().filter_map(|(k, v)| Some((k, v?))).collect::<Map<_, _>>().into())
        .boxed()
}

fn integer(schema: &Value) -> BoxedStrategy<Value> {
    let minimum = schema["minimum"].as_u64().unwrap_or(0);
    let maximum = schema["maximum"].as_u64().unwrap_or(u64::from(u32::MAX));
    prop_oneof![minimum..=maximum, minimum..=maximum.min(200), Just(maximum)].prop_map(Value::from).boxed()
}

fn string(format: Option<&str>) -> BoxedStrategy<Value> {
    let ip = prop_oneof![
        any::<std::net::IpAddr>().prop_map(|ip| ip.to_string()),
        (1_u8..=254).prop_map(|host| format!("192.0.2.{host}")),
    ];
    match format {
        Some("uuid") => any::<u128>().prop_map(|n| json!(uuid_text(n))).boxed(),
        Some("ip") => ip.prop_map(Value::from).boxed(),
        Some("cidr") => prop_oneof![
            (any::<std::net::Ipv4Addr>(), 0..=32).prop_map(|(ip, prefix)| json!(format!("{ip}/{prefix}"))),
            (any::<std::net::Ipv6Addr>(), 0..=128).prop_map(|(ip, prefix)| json!(format!("{ip}/{prefix}"))),
            select(vec!["192.0.2.0/24", "10.128.0.0/14", "172.30.0.0/16", "fd01::/48", "fd02::/112"])
                .prop_map(|net| json!(net)),
        ]
        .boxed(),
        Some("uri") => "https?://[a-z]{1,8}(:[1-9][0-9]{0,3})?(/[a-z?#]{0,5})?".prop_map(Value::from).boxed(),
        Some("span") => "[1-9][0-9]{0,2}[smh]".prop_map(Value::from).boxed(),
        None => text().prop_map(Value::from).boxed(),
        Some(other) => panic!("{other}"),
    }
}

fn uuid_text(n: u128) -> String {
    let hex = format!("{n:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "[a-z.]{1,8}/[a-z]{1,4}", any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec![
            "demo", "example.com", "1.36.4", "1.35.2", "master", "worker", "compute", "http://proxy:3128", "registry.k8s.io",
            "{\"auths\":{\"a\":{\"auth\":\"b\"}}}", "https://example.com/{arch}", "", "null", "yes", "0777", "1e3", "~", "- a", "a: b",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB a",
        ]).prop_map(str::to_owned),
        1 => "[ -~\n]{0,40}",
        1 => any::<String>(),
    ]
}

//! Text with a syntax, as the JSON Schema describes it.
//!
//! Schema validators of others ignore formats they do not know; ours parses the text, so that every malformed address in a
//! file is reported with its path.

use schemars::JsonSchema;

/// An address range in CIDR form.
#[derive(JsonSchema)]
#[schemars(inline, extend("format" = "cidr"))]
pub(crate) struct Cidr(#[expect(dead_code, reason = "stands for a type in the schema, never made")] String);

/// An IPv4 or IPv6 address.
#[derive(JsonSchema)]
#[schemars(inline, extend("format" = "ip"))]
pub(crate) struct Ip(#[expect(dead_code, reason = "stands for a type in the schema, never made")] String);

/// An id of the engine.
#[derive(JsonSchema)]
#[schemars(inline, extend("format" = "uuid"))]
pub(crate) struct Id(#[expect(dead_code, reason = "stands for a type in the schema, never made")] String);

//! Which syntax a request is in, and which one its answer is to be in.

use super::params::Params;
use crate::core::Request;
use crate::ovirt::http::header;
use crate::ovirt::representation::Format;

/// The syntax of the answer: the one that the client likes best, XML if it does not care, `None` if it wants neither.
pub(crate) fn output(request: &Request, params: &Params) -> Option<Format> {
    let Some(accept) = params.get("accept").or_else(|| header(request, "accept")) else { return Some(Format::Xml) };
    if accept.trim().is_empty() {
        return Some(Format::Xml);
    }
    let mut best: Option<(f32, Format)> = None;
    for part in accept.split(',') {
        let mut pieces = part.split(';').map(str::trim);
        let format = match pieces.next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "application/xml" | "text/xml" | "*/*" | "application/*" => Format::Xml,
            "application/json" => Format::Json,
            _ => continue,
        };
        let quality = pieces.find_map(|piece| piece.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        if quality > 0.0 && best.is_none_or(|(other, _)| quality > other) {
            best = Some((quality, format));
        }
    }
    best.map(|(_, format)| format)
}

/// The syntax of the body; `None` if the API does not have it.
pub(crate) fn input(request: &Request) -> Option<Format> {
    let Some(content_type) = header(request, "content-type") else { return Some(Format::Xml) };
    match content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "" | "application/xml" | "text/xml" => Some(Format::Xml),
        "application/json" => Some(Format::Json),
        _ => None,
    }
}

/// The header for a document.
pub(crate) fn content_type(format: Format) -> &'static str {
    match format {
        Format::Xml => "application/xml;charset=UTF-8",
        Format::Json => "application/json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(accept: &str) -> Option<Format> {
        let headers = vec![("accept".to_owned(), accept.to_owned())];
        let request = Request {
            method: "GET".into(),
            path: String::new(),
            query: String::new(),
            headers,
            body: bytes::Bytes::new(),
            listener: 0,
            injection: None,
        };
        output(&request, &Params::default())
    }

    #[test]
    fn the_client_gets_what_it_likes_best() {
        for (accept, format) in [
            ("application/xml", Some(Format::Xml)),
            ("application/json", Some(Format::Json)),
            ("*/*", Some(Format::Xml)),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Some(Format::Xml)),
            ("application/xml;q=0.5, application/json", Some(Format::Json)),
            ("application/xml; detail=statistics", Some(Format::Xml)),
            ("text/html", None),
            ("application/json;q=0", None),
        ] {
            assert_eq!(accepting(accept), format, "{accept}");
        }
    }
}

//! Tokens.

use super::call::header;
use crate::core::{Request, Response};
use crate::powervm::atom::bare;
use crate::powervm::fault::Fault;
use crate::powervm::ids;
use crate::powervm::state::{Session, State};
use crate::powervm::xml::Element;

/// Logs on or off.
pub(super) fn logon(state: &mut State, host: usize, request: &Request) -> Result<Response, Fault> {
    match request.method.as_str() {
        "PUT" => {}
        "DELETE" => {
            authorize(state, host, request)?;
            if let Some(token) = header(request, "x-api-session") {
                state.sessions.remove(token);
            }
            return Ok(Response { status: 204, headers: Vec::new(), body: bytes::Bytes::new() });
        }
        method => return Err(Fault::new(405, "Method Not Allowed", format!("{method} is not supported."))),
    }
    let body = Element::parse(&request.body).map_err(Fault::schema)?;
    if body.name != "LogonRequest" {
        return Err(Fault::schema(format!("'LogonRequest' is expected, not '{}'.", body.name)));
    }
    let user = body.text("UserID").to_owned();
    let by_file = body.is("GenerateX-API-SessionFile");
    let wrong = user != state.settings.user || body.text("Password") != state.settings.password;
    if user.is_empty() || !by_file && wrong {
        return Err(Fault::new(401, "Unauthorized", "The user ID or the password is not valid."));
    }
    let fresh = state.fresh();
    let token = format!("{}{}=", ids::hex(&["token", &fresh], 64), ids::hex(&["more", &fresh], 64));
    let field = if by_file {
        let failed = |error: String| Fault::new(500, "Unknown internal error.", format!("REST0100: {error}"));
        let directory = state.token_directory.clone();
        let directory =
            directory.ok_or_else(|| failed("Local authentication is not available at this listener.".to_owned()))?;
        let path = directory.join(format!("token-{}", ids::hex(&["file", &fresh], 16)));
        write_private(&path, &token).map_err(|error| failed(error.to_string()))?;
        Element::leaf("X-API-SessionFile", path.display())
    } else {
        Element::leaf("X-API-Session", &token)
    };
    state.sessions.insert(token, Session { user, host });
    Ok(bare(&Element::of("LogonResponse", [field]), "LogonResponse"))
}

/// Writes a file that only its owner can read: who can read it is let in.
fn write_private(path: &std::path::Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Refuses a caller without a valid token.
pub(super) fn authorize(state: &State, host: usize, request: &Request) -> Result<(), Fault> {
    let session = header(request, "x-api-session").and_then(|token| state.sessions.get(token));
    if session.is_some_and(|session| session.host == host) {
        return Ok(());
    }
    Err(Fault::new(401, "Unauthorized", "The session token is missing, unknown or expired."))
}

//! IAM: API keys are exchanged for tokens, and tokens open all other services.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::call::Call;
use super::cloud::Cloud;
use super::reply::{Answer, Refusal, json_reply};
use crate::core::{Injection, Instant};

const BY_KEY: &str = "urn:ibm:params:oauth:grant-type:apikey";

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    match (call.method.as_str(), call.parts().as_slice()) {
        ("POST", ["identity" | "oidc" | "oauth", "token"]) => exchange(cloud, call),
        ("GET", ["v1", "apikeys", "details"]) => {
            let key = call.header("iam-apikey").unwrap_or_default();
            known(cloud, key)?;
            Ok(json_reply(200, &details(cloud)))
        }
        ("GET", ["v1", "apikeys"]) => {
            authenticate(cloud, call)?;
            Ok(json_reply(200, &json!({ "offset": 0, "limit": 20, "apikeys": [details(cloud)] })))
        }
        _ => Err(Refusal::new(404, "BXNIM0404E", "not found: there is no such call")),
    }
}

fn iam_id(cloud: &Cloud) -> String {
    format!("IBMid-{}", &cloud.state.account[..10].to_uppercase())
}

fn details(cloud: &Cloud) -> Value {
    let id = format!("ApiKey-{}", Cloud::fixed_hex(&cloud.state.account, 32));
    json!({
        "id": id,
        "entity_tag": "1-0",
        "crn": cloud.crn("iam-identity", "", "", "apikey", &id),
        "locked": false,
        "disabled": false,
        "created_at": "2024-01-01T00:00+0000",
        "created_by": iam_id(cloud),
        "modified_at": "2024-01-01T00:00+0000",
        "name": "landfall",
        "description": "",
        "iam_id": iam_id(cloud),
        "account_id": cloud.state.account,
        "apikey": "",
    })
}

fn known(cloud: &Cloud, key: &str) -> Result<(), Refusal> {
    if key == cloud.options.owner_key() {
        Ok(())
    } else {
        Err(Refusal::new(400, "BXNIM0415E", "Provided API key could not be found."))
    }
}

fn exchange(cloud: &mut Cloud, call: &Call) -> Answer {
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&call.body).into_owned().collect();
    let field = |name: &str| form.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str());
    match field("grant_type") {
        BY_KEY => known(cloud, field("apikey"))?,
        // An older service, which one client still asks.
        "password" if field("username") == "apikey" => known(cloud, field("password"))?,
        "refresh_token" => {
            if field("refresh_token") != refresh_token(cloud) {
                return Err(Refusal::new(400, "BXNIM0408E", "Provided refresh_token is invalid"));
            }
        }
        other => {
            return Err(Refusal::new(400, "BXNIM0136E", format!("Grant type '{other}' is not supported")));
        }
    }
    let lifetime = cloud.options.token_lifetime;
    let expires = Instant(cloud.state.now.0 + lifetime);
    let now = cloud.state.now;
    cloud.state.tokens.retain(|_, expires| *expires > now);
    let token = mint(cloud, expires);
    cloud.state.tokens.insert(token.clone(), expires);
    let mut reply = json_reply(
        200,
        &json!({
            "access_token": token,
            "refresh_token": refresh_token(cloud),
            "ims_user_id": 1_000_001,
            "token_type": "Bearer",
            "expires_in": lifetime.as_secs(),
            "expiration": cloud.unix(expires),
            "scope": "ibm openid",
        }),
    );
    for (name, value) in [("cache-control", "no-cache, no-store, must-revalidate"), ("pragma", "no-cache")] {
        reply.headers.push((name.to_owned(), value.to_owned()));
    }
    Ok(reply)
}

fn refresh_token(cloud: &Cloud) -> String {
    Cloud::fixed_hex(&format!("refresh {}", cloud.options.owner_key()), 48)
}

/// A token in the form that clients take apart; nobody outside can verify its signature.
fn mint(cloud: &mut Cloud, expires: Instant) -> String {
    let serial = cloud.id();
    let (iam_id, now) = (iam_id(cloud), cloud.state.now);
    let header = json!({ "kid": "20240101", "alg": "RS256" });
    let claims = json!({
        "iam_id": iam_id,
        "id": iam_id,
        "realmid": "IBMid",
        "jti": serial,
        "identifier": iam_id.trim_start_matches("IBMid-"),
        "given_name": "Simulated",
        "family_name": "Owner",
        "name": "Simulated Owner",
        "email": "owner@example.com",
        "sub": "owner@example.com",
        "account": { "valid": true, "bss": cloud.state.account, "frozen": true },
        "iat": cloud.unix(now),
        "exp": cloud.unix(expires),
        "iss": "https://iam.cloud.ibm.com/identity",
        "grant_type": BY_KEY,
        "scope": "ibm openid",
        "client_id": "default",
        "acr": 1,
        "amr": ["pwd"],
    });
    let signature = Cloud::fixed_hex(&format!("{claims}{}", cloud.options.owner_key()), 64);
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let parts = [header.to_string(), claims.to_string(), signature].map(|part| encode(part.as_bytes()));
    parts.join(".")
}

/// Lets nobody in whose token is unknown or expired.
pub(super) fn authenticate(cloud: &mut Cloud, call: &Call) -> Result<(), Refusal> {
    let denied = |message: &str| Refusal::new(401, "not_authenticated", message);
    let token = call.bearer().ok_or_else(|| denied("no IAM token found in request"))?;
    if call.injection == Some(Injection::TokenExpired) {
        // For good, as any other that has expired.
        cloud.state.tokens.remove(token);
        return Err(denied("the token has expired"));
    }
    match cloud.state.tokens.get(token) {
        Some(expires) if *expires > cloud.state.now => Ok(()),
        Some(_) => Err(denied("the token has expired")),
        None => Err(denied("the token is not valid")),
    }
}

//! Answers of Route 53 that moto does not give: throttling, refusals, and pages of something else in between.

use std::sync::{Arc, Mutex};

use landfall_config::{Dns, Route53};
use landfall_dns::{Network, connect};
use landfall_platform::{Environment, ErrorClass};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// A server that gives one answer to everything, and keeps what it was sent.
async fn serve(status: &'static str, body: &'static str) -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 16384];
            let length = stream.read(&mut buffer).await.unwrap_or_default();
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..length]));
            let preamble = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/xml\r\nretry-after: 7\r\ncontent-length: {}\r\n",
                body.len()
            );
            let _sent = stream.write_all(format!("{preamble}connection: close\r\n\r\n{body}").as_bytes()).await;
        }
    });
    (endpoint, heard)
}

#[tokio::test]
async fn every_answer_has_a_class() {
    let error = "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><Error>\
                 <Type>Sender</Type><Code>CODE</Code><Message>the message</Message></Error><RequestId>1</RequestId></ErrorResponse>";
    let with = |code: &str| -> &'static str { error.replace("CODE", code).leak() };
    for (status, body, class, text) in [
        ("400 Bad Request", with("Throttling"), ErrorClass::Throttled, "Throttling: the message"),
        ("400 Bad Request", with("PriorRequestNotComplete"), ErrorClass::Locked, "PriorRequestNotComplete"),
        ("403 Forbidden", with("SignatureDoesNotMatch"), ErrorClass::Auth, "SignatureDoesNotMatch"),
        ("403 Forbidden", with("AccessDenied"), ErrorClass::Auth, "AccessDenied"),
        ("500 Internal Server Error", with("InternalFailure"), ErrorClass::Transient, "InternalFailure"),
        ("404 Not Found", with("NoSuchHostedZone"), ErrorClass::NotFound, "has no zone with id Z1"),
        ("503 Service Unavailable", "<html>busy</html>", ErrorClass::Transient, "failed"),
        ("200 OK", "<html>welcome</html>", ErrorClass::Invalid, "is not understood"),
    ] {
        let (endpoint, heard) = serve(status, body).await;
        let section = Route53 {
            zone_id: Some("Z1".to_owned()),
            zone: Some("example.com".to_owned()),
            endpoint: Some(endpoint.parse().unwrap()),
            ..Route53::default()
        };
        let keys = [
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "very-secret"),
            ("AWS_SESSION_TOKEN", "session"),
        ];
        let environment: Environment = keys.into_iter().collect();
        let network = Network { resolvers: Vec::new(), port: 53 };
        let backend = connect(&Dns::Route53(section), &environment, &network).unwrap().unwrap();
        let error = backend.zone().await.unwrap_err();
        assert_eq!(error.class(), class, "{status} {body}: {}", error.chain());
        assert!(error.to_string().contains(text), "{}", error.chain());
        assert!(!error.chain().contains("very-secret"), "{}", error.chain());
        let heard = heard.lock().unwrap().clone();
        assert!(heard.starts_with("GET /2013-04-01/hostedzone/Z1 HTTP/1.1"), "{heard}");
        assert!(
            heard.contains("Credential=AKIDEXAMPLE/") && heard.contains("x-amz-security-token: session"),
            "{heard}"
        );
        assert!(!heard.contains("very-secret"), "{heard}");
    }
}

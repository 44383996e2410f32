//! Jobs and events.

use std::time::Duration;

use landfall_platform::ErrorClass;
use landfall_platform_powervm::Error;
use landfall_platform_powervm::client::{Event, JobLimits, Parameter, Path};

use crate::scene::{JOBS, Scene, spec};

#[tokio::test]
async fn a_job_returns_its_results_and_is_deleted() {
    let scene = Scene::new().await;
    let client = scene.client();
    let system = client.systems().await.unwrap().remove(0);
    let target = Path::entry("ManagedSystem", &system.id);
    let parameters = [("numberPairsRequested", Parameter::Text("2"))];
    let results = client.run_job(&target, "GetNextWWPNs", &parameters, JOBS).await.unwrap();
    assert_eq!(results["wwpnList"].split(',').count(), 4);
    assert_eq!(scene.count("DELETE /rest/api/uom/jobs/{id}"), 1);
}

#[tokio::test]
async fn a_document_is_a_parameter_too() {
    let scene = Scene::new().await;
    let client = scene.client();
    let vios = client.vioses(&[]).await.unwrap().remove(0);
    let path = |target: &str| {
        format!("<itl><Iwwpn>{}</Iwwpn><Twwpn>{target}</Twwpn><lua>1000000000000</lua></itl>", vios.ports[0])
    };
    let request = format!(
        "<XML_LIST><deviceList><device><itlList>{}{}</itlList></device></deviceList></XML_LIST>",
        path("500507680B11AAAA"),
        path("500507680B22AAAA")
    );
    let target = Path::entry("VirtualIOServer", &vios.partition.id);
    let results =
        client.run_job(&target, "LUARecovery", &[("inputXML", Parameter::Xml(&request))], JOBS).await.unwrap();
    assert!(results["OutputXML"].contains("<status>3</status><pvName>hdisk2</pvName>"), "{results:?}");
}

#[tokio::test]
async fn a_job_that_was_run_before_costs_fewer_calls() {
    let scene = Scene::new().await;
    scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn slow-state=100");
    let client = scene.client();
    let system = client.systems().await.unwrap().remove(0);
    let looks = async |name: &str| {
        let made = client.create_partition(&system.id, &spec(name)).await.unwrap();
        let before = scene.count("GET /rest/api/uom/jobs/{id}");
        let target = Path::entry("LogicalPartition", &made.id);
        client.run_job(&target, "PowerOn", &[], JOBS).await.unwrap();
        scene.count("GET /rest/api/uom/jobs/{id}") - before
    };
    let (first, second) = (looks("a").await, looks("b").await);
    // Half a second, and a look every five milliseconds, which a busy computer does not manage.
    assert!(first > 4 && second < first, "{first}, {second}");
    assert_eq!(scene.count("GET /rest/api/uom/LogicalPartition/{id}/do/PowerOn"), 1, "the template is known");
}

#[tokio::test]
async fn a_job_that_fails_says_why() {
    let scene = Scene::new().await;
    let client = scene.client();
    let web = client.partition_named("web1").await.unwrap().unwrap();
    let target = Path::entry("LogicalPartition", &web.id);
    let parameters = [("TargetManagedSystemName", Parameter::Text("nowhere"))];
    let error = client.run_job(&target, "Migrate", &parameters, JOBS).await.unwrap_err();
    assert!(matches!(&error, Error::Job { operation, .. } if operation == "Migrate"), "{error}");
    assert!(error.to_string().contains("nowhere is not known"), "{error}");
    assert_eq!(scene.count("DELETE /rest/api/uom/jobs/{id}"), 1);
}

#[tokio::test]
async fn a_job_that_takes_too_long_is_cancelled_and_deleted() {
    let scene = Scene::new().await;
    let client = scene.client();
    let system = client.systems().await.unwrap().remove(0);
    let lpar = client.create_partition(&system.id, &spec("slow")).await.unwrap();
    scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn slow-state=100000");
    let limits = JobLimits { timeout: Duration::from_millis(50), interval: Duration::from_millis(5) };
    let error = client.power_on(&lpar.id, limits).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Timeout);
    assert_eq!(client.partition_state(&lpar.id).await.unwrap().as_deref(), Some("not activated"));
    assert_eq!(scene.count("DELETE /rest/api/uom/jobs/{id}"), 1);
}

#[tokio::test]
async fn events_tell_what_happened() {
    let scene = Scene::new().await;
    let client = scene.client();
    let mut queue = client.events();
    assert_eq!(queue.next().await.unwrap()[0].kind, "NEW_CLIENT");
    assert_eq!(queue.next().await.unwrap(), [], "after a while without events there are none");
    let system = client.systems().await.unwrap().remove(0);
    let lpar = client.create_partition(&system.id, &spec("seen")).await.unwrap();
    client.power_on(&lpar.id, JOBS).await.unwrap();
    let mut seen: Vec<Event> = Vec::new();
    while !seen.iter().any(|event| event.kind == "MODIFY_URI" && event.detail == "PartitionState") {
        seen.extend(queue.next().await.unwrap());
    }
    assert!(seen.iter().any(|event| event.kind == "ADD_URI" && event.data.ends_with(&lpar.id)), "{seen:?}");
    assert!(seen.windows(2).all(|pair| pair[0].id < pair[1].id));
    let mut late = client.events();
    assert_eq!(late.next().await.unwrap().len(), 1, "another queue begins now");
}

//! Bad answers: errors, not panics.

use landfall_platform::ErrorClass;
use landfall_platform_powervm::Error;

use crate::scene::Scene;

#[tokio::test]
async fn a_busy_vios_is_locked() {
    let scene = Scene::new().await;
    let client = scene.client();
    scene.fault("GET /rest/api/uom/VirtualIOServer* nth=1 status=500 body=platform");
    let error = client.vioses(&[]).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Locked, "{error}");
    assert!(matches!(&error, Error::Fault { fault, .. } if fault.is_busy()), "{error}");
}

#[tokio::test]
async fn answers_that_break_off_are_errors() {
    let scene = Scene::new().await;
    let client = scene.client();
    client.systems().await.unwrap();
    for bytes in [0, 1, 50, 500, 5000, 20_000] {
        scene.fault(&format!("GET /rest/api/uom/LogicalPartition* nth=1 truncate={bytes}"));
        let error = client.partitions().await.unwrap_err();
        assert!(matches!(error, Error::Exchange { .. } | Error::Xml { .. } | Error::Answer { .. }), "{error:?}");
        scene.hosts.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    }
}

#[tokio::test]
async fn a_page_for_people_is_not_taken_for_data() {
    let scene = Scene::new().await;
    let client = scene.client();
    client.systems().await.unwrap();
    scene.fault("GET /rest/api/uom/ManagedSystem* nth=1 html-page");
    assert!(client.systems().await.is_err());
    scene.fault("GET /rest/api/uom/ManagedSystem* nth=1 status=502");
    assert_eq!(client.systems().await.unwrap_err().class(), ErrorClass::Transient);
}

//! What is planned, and what comes of it.

use landfall_platform::Stage;
use serde_json::json;

use crate::scene::{Scene, config};

#[tokio::test]
async fn the_plan_of_a_cluster() {
    let cluster = Scene::new(&[]).await.cluster(config(json!({}), 3, 2));
    let lines = |stage| {
        let plan = cluster.steps(stage);
        let line = |step: &landfall_platform::StepSpec| {
            let needs: Vec<&str> = step.needs.iter().map(landfall_platform::StepId::as_str).collect();
            format!("{}: {} <- {}", step.id, step.title, needs.join(", "))
        };
        plan.steps().map(line).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("bootstrapping", lines(Stage::Bootstrapping));
    insta::assert_snapshot!("pivoted", lines(Stage::Pivoted));
}

#[tokio::test]
async fn a_whole_cluster_comes_and_goes() {
    let cluster = Scene::new(&[]).await.cluster(config(json!({}), 3, 2));
    let before = cluster.scene.inventory();
    let (_home, journal) = cluster.journal();
    let found = cluster.preflight().await;
    assert!(!found.has_problems(), "{}", cluster.complaints().await);
    cluster.apply(&journal).await.unwrap();
    let made = cluster.scene.inventory();
    assert!(
        made.contains(
            &r#"load balancer "demo-x7k2p-loadbalancer" "api"=4 "ingress-http"=0 "ingress-https"=0"#.to_owned()
        ),
        "{made:#?}"
    );
    assert!(
        made.contains(&r#"load balancer "demo-x7k2p-loadbalancer-int" "api"=4 "config"=4"#.to_owned()),
        "{made:#?}"
    );
    cluster.pivot(&journal).await;
    let pivoted = cluster.scene.inventory();
    assert!(
        pivoted.contains(
            &r#"load balancer "demo-x7k2p-loadbalancer" "api"=3 "ingress-http"=2 "ingress-https"=2"#.to_owned()
        ),
        "{pivoted:#?}"
    );
    assert!(
        pivoted.contains(&r#"load balancer "demo-x7k2p-loadbalancer-int" "api"=3 "config"=3"#.to_owned()),
        "{pivoted:#?}"
    );
    // With the bootstrap machine went what only it needed.
    for gone in ["bootstrap", "bucket", "cos"] {
        assert!(!pivoted.iter().any(|line| line.contains(gone)), "{gone}: {pivoted:#?}");
    }
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn pools_are_changed_as_a_whole() {
    let cluster = Scene::new(&[]).await.cluster(config(json!({}), 3, 2));
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    cluster.pivot(&journal).await;
    let is_change = |method: &str, path: &str| method != "GET" && path.contains("/members");
    // Three pools of the API, with the bootstrap machine, with the masters and without the bootstrap machine, and two of the ingress:
    // however many machines there are.
    let changes = cluster.scene.calls(is_change);
    assert!(changes <= 11, "{changes}");
}

//! A platform of boxes: each is made on a shelf, knows the boxes that it stands on, and can misbehave.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use landfall_engine::{Plan, PlanBuilder};
use landfall_platform::{Bind, Context, Discover, ErrorClass, InfraId, Outputs, Step, StepError, StepId, StepSpec};
use landfall_testkit::World;

/// How the platform answers the calls for one box, first to last; then it behaves.
pub(crate) type Moods = HashMap<String, Vec<ErrorClass>>;

#[derive(Default)]
struct Shelf {
    boxes: BTreeMap<u32, String>,
    made: u32,
    moods: Moods,
    running: usize,
    most_at_once: usize,
    calls: Vec<String>,
}

/// The platform.
#[derive(Clone, Default)]
pub(crate) struct Toy {
    shelf: Arc<Mutex<Shelf>>,
    pub(crate) arrows: Vec<(String, Vec<String>)>,
    pub(crate) delay: Duration,
    pub(crate) limit: Option<usize>,
    /// How long it asks to wait whenever it misbehaves.
    pub(crate) asks_to_wait: Option<Duration>,
}

impl Toy {
    pub(crate) fn new(arrows: &[(&str, &[&str])]) -> Self {
        let arrows = arrows
            .iter()
            .map(|(name, needs)| ((*name).to_owned(), needs.iter().map(|&need| need.to_owned()).collect()))
            .collect();
        Self { arrows, ..Self::default() }
    }

    pub(crate) fn misbehave(&self, name: &str, moods: &[ErrorClass]) {
        self.shelf.lock().unwrap().moods.insert(name.to_owned(), moods.iter().rev().copied().collect());
    }

    pub(crate) fn boxes(&self) -> Vec<String> {
        self.shelf.lock().unwrap().boxes.values().cloned().collect()
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.shelf.lock().unwrap().calls.clone()
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.shelf.lock().unwrap().most_at_once
    }

    pub(crate) fn put_stranger(&self, name: &str) {
        let mut things = self.shelf.lock().unwrap();
        things.made += 1;
        let id = things.made;
        things.boxes.insert(id, name.to_owned());
    }

    fn spec(name: &str, needs: &[String]) -> StepSpec {
        StepSpec {
            id: name.into(),
            title: format!("box {name}"),
            kind: "box".into(),
            needs: needs.iter().map(|need| need.as_str().into()).collect(),
            timeout: Duration::from_mins(1),
            desired: serde_json::json!({ "name": name }),
        }
    }
}

#[async_trait]
impl World for Toy {
    fn infra_id(&self) -> InfraId {
        "toy-bcdfg".parse().unwrap()
    }

    fn plan(&self) -> Plan {
        let mut builder = PlanBuilder::default();
        for (name, needs) in &self.arrows {
            builder.step(Self::spec(name, needs));
        }
        if let Some(limit) = self.limit {
            builder.limit("box", limit);
        }
        builder.build().unwrap()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        Arc::new(self.clone())
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        Arc::new(self.clone())
    }

    async fn inventory(&self) -> Vec<String> {
        self.boxes()
    }
}

impl Bind for Toy {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let name = spec.desired["name"].as_str().unwrap().to_owned();
        Ok(Arc::new(BoxStep { toy: self.clone(), name, needs: spec.needs.clone() }))
    }
}

#[async_trait]
impl Discover for Toy {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let arrows: HashMap<_, _> = self.arrows.iter().map(|(name, needs)| (name.clone(), needs.clone())).collect();
        let none = Vec::new();
        Ok(self.boxes().iter().map(|name| Self::spec(name, arrows.get(name).unwrap_or(&none))).collect())
    }
}

struct BoxStep {
    toy: Toy,
    name: String,
    needs: Vec<StepId>,
}

impl BoxStep {
    /// Counts the call and how many run at once, and takes its time.
    async fn enter(&self, verb: &str) -> Result<Running<'_>, StepError> {
        {
            let mut things = self.toy.shelf.lock().unwrap();
            things.calls.push(format!("{verb} {}", self.name));
            things.running += 1;
            things.most_at_once = things.most_at_once.max(things.running);
        }
        let running = Running(&self.toy);
        tokio::time::sleep(self.toy.delay).await;
        let mood = self.toy.shelf.lock().unwrap().moods.get_mut(&self.name).and_then(Vec::pop);
        match mood {
            Some(class) => Err(StepError::new(class, format!("box {} is in a {class} mood", self.name))
                .retry_after(self.toy.asks_to_wait)),
            None => Ok(running),
        }
    }
}

struct Running<'a>(&'a Toy);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.shelf.lock().unwrap().running -= 1;
    }
}

#[async_trait]
impl Step for BoxStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        for need in &self.needs {
            let _: u32 = context.output(need, "number")?;
        }
        let _running = self.enter("ensure").await?;
        let mut things = self.toy.shelf.lock().unwrap();
        let existing = things.boxes.iter().find(|(_, name)| **name == self.name).map(|(&number, _)| number);
        let number = existing.unwrap_or_else(|| {
            things.made += 1;
            let number = things.made;
            things.boxes.insert(number, self.name.clone());
            number
        });
        Ok(Outputs::default().with("number", number))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let _running = self.enter("remove").await?;
        self.toy.shelf.lock().unwrap().boxes.retain(|_, name| *name != self.name);
        Ok(())
    }
}

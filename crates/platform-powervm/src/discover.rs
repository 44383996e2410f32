//! Finds everything on the servers that carries a cluster's mark.

use std::time::Duration;

use async_trait::async_trait;
use landfall_platform::{Discover, StepError, StepId, StepSpec};

use crate::{
    Error,
    machines::Partition,
    plan::IMAGE_STEP,
    site::{Found, Site},
    steps::{Desired, Image, is_among, pool_units},
};

/// How long the removal of something that was found may take.
const TIMEOUT: Duration = Duration::from_mins(20);

/// Finds what belongs to one cluster.
pub struct Discovery {
    site: Site,
}

impl Discovery {
    /// Looks for the mark of a cluster on all its servers.
    pub fn new(site: Site) -> Self {
        Self { site }
    }

    /// The cluster's own image, or what is left of the making of it: there is a seal or a marker. Its name says nothing.
    async fn image(&self) -> Result<Option<StepSpec>, Error> {
        let name = self.site.mark.name("image");
        let (mut all, mut answered, mut silent) = (Vec::new(), false, None);
        // All servers see the pool, so that one that does not answer hides nothing that others would not show.
        for member in self.site.members() {
            match pool_units(&member.client, None).await {
                Ok(units) => {
                    all.extend(units.into_iter().map(|(_, unit)| unit));
                    answered = true;
                }
                Err(error) => silent = Some(error),
            }
        }
        if let Some(error) = silent.filter(|_| !answered) {
            return Err(error);
        }
        let (is_there, title) = (is_among(&name, &all), format!("image {name}"));
        let desired = Desired::Image(Image { name, source: String::new(), pool: None, tier: None });
        Ok(is_there.then(|| found(IMAGE_STEP.into(), title, "image", &desired)))
    }

    fn machine(&self, partition: &Found) -> StepSpec {
        let Found { host, partition, .. } = partition;
        let name = &partition.name;
        // What was renamed is not what the plan means by its new name.
        let id = format!("vm/{}", name.strip_prefix(&self.site.mark.name("")).unwrap_or(&partition.id));
        let title = format!("partition {name} on {host}");
        found(id.into(), title, "vm", &Desired::Vm(Box::new(Partition::bare(name, &partition.id, host))))
    }

    /// What stands for all that may be on a server that does not answer: it remains until the server says that there is nothing.
    fn unasked(host: &str) -> StepSpec {
        let title = format!("whatever is on {host}, which does not answer");
        found(format!("server/{host}").into(), title, "server", &Desired::Unasked { host: host.to_owned() })
    }
}

#[async_trait]
impl Discover for Discovery {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let (answers, image) = futures::join!(self.site.ask(), self.image());
        let (mut steps, mut silent) = (Vec::new(), None);
        let all = answers.len();
        for (member, answer) in answers {
            match answer {
                Ok(partitions) => {
                    steps.extend(partitions.iter().filter(|found| self.site.is_ours(found)).map(|it| self.machine(it)));
                }
                Err(error) => {
                    steps.push(Self::unasked(&member.name));
                    silent = Some((error, silent.map_or(1, |(_, count)| count + 1)));
                }
            }
        }
        match silent {
            Some((error, count)) if count == all => return Err(error.into()),
            _ => {}
        }
        // Machines go first: their disks are clones of the image.
        let image = image?;
        let needs: Vec<StepId> = image.iter().map(|spec| spec.id.clone()).collect();
        let steps = steps.into_iter().map(|step| StepSpec { needs: needs.clone(), ..step });
        Ok(image.iter().cloned().chain(steps).collect())
    }
}

fn found(id: StepId, title: String, kind: &str, desired: &Desired) -> StepSpec {
    StepSpec {
        id,
        title,
        kind: kind.into(),
        needs: Vec::new(),
        timeout: TIMEOUT,
        desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
    }
}

//! The image that machines boot from. Importing one takes a quarter of an hour; its job tells how far it is.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::id;
use crate::{
    Error, Site,
    client::{self, ImageImport, Job, Workspace},
    own::Own,
};

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its name; of one that exists, or was found by its tag, also its id.
    pub name: String,
    /// Where it comes from.
    pub source: ImageSource,
    /// Speed of its disks.
    pub storage_type: String,
}

/// Where an image comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageSource {
    /// It exists, and stays when the cluster goes.
    Given,
    /// An object in object storage.
    Object {
        /// The bucket.
        bucket: String,
        /// The object.
        object: String,
        /// The region of the bucket.
        region: String,
        /// Whether the bucket needs a key.
        private: bool,
    },
    /// It was found, and nobody knows.
    None,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Image,
}

impl Act {
    fn title(&self) -> String {
        format!("image {}", self.desired.name)
    }

    /// The image with the id that was recorded, else the one with the name, which must carry the tag unless it is given.
    async fn find(&self, workspace: &Workspace, recorded: Option<&str>) -> Result<Option<client::Image>, Error> {
        let all = self.site.client.images(workspace).await?;
        if let Some(found) = recorded.and_then(|id| all.iter().find(|image| image.id == id)) {
            return Ok(Some(found.clone()));
        }
        let is_it = |image: &client::Image| image.name == self.desired.name || image.id == self.desired.name;
        let Some(found) = all.into_iter().find(is_it) else { return Ok(None) };
        let is_sure = self.desired.source == ImageSource::Given || found.id == self.desired.name;
        if is_sure || self.site.is_own_image(workspace, &found).await? {
            return Ok(Some(found));
        }
        Err(Error::Foreign { object: self.title() })
    }

    /// Begins an import, unless one is on its way already: a workspace has one at a time.
    async fn import(&self, workspace: &Workspace, context: &Context) -> Result<String, Error> {
        let ImageSource::Object { bucket, object, region, private } = &self.desired.source else {
            return Err(Error::missing(self.title()));
        };
        if let Some(job) = self.site.client.last_import(workspace).await?.filter(|job| !job.is_over()) {
            context.report(format!("an import is on its way: {}", job.says()));
            return Ok(job.id);
        }
        let key = match (private, &self.site.hmac) {
            (false, _) => None,
            (true, Some(key)) => Some(key),
            (true, None) => return Err(Error::NoHmac { bucket: bucket.clone() }),
        };
        let import = ImageImport {
            name: &self.desired.name,
            bucket,
            region,
            object,
            key,
            storage_type: &self.desired.storage_type,
            tag: &self.site.mark.tag(),
        };
        self.site.client.import_image(workspace, &import).await
    }

    /// Follows a job until the image can be used, or the job has failed. The image is known long before.
    async fn follow(&self, workspace: &Workspace, job: &str, context: &Context) -> Result<client::Image, StepError> {
        let known = self.until(workspace, job, context, |_| true).await?;
        context.note(id(&known.id)).await?;
        Ok(self.until(workspace, job, context, |image| image.state == "active").await?)
    }

    async fn until(
        &self,
        workspace: &Workspace,
        job: &str,
        context: &Context,
        is_enough: impl Fn(&client::Image) -> bool,
    ) -> Result<client::Image, Error> {
        let failed = |job: &Job| Error::Failed {
            object: self.title(),
            state: job.status.state.clone(),
            reason: job.status.message.clone().unwrap_or_else(|| "the platform gives no reason".to_owned()),
        };
        let look = || async {
            let found = self.find(workspace, context.recorded::<String>("id").as_deref()).await?;
            let is_found = found.is_some();
            match found {
                Some(image) if image.state == "error" => {
                    let reason = "the platform could not read it".to_owned();
                    return Err(Error::Failed { object: self.title(), state: image.state, reason });
                }
                Some(image) if is_enough(&image) => return Ok(Some(image)),
                _ => {}
            }
            match self.site.client.job(workspace, job).await? {
                Some(job) if job.is_failed() => Err(failed(&job)),
                Some(job) if job.is_over() && !is_found => {
                    // The import of somebody else is over: it is our turn.
                    Err(Error::Busy { object: self.title(), state: "not imported yet".to_owned() })
                }
                Some(job) => {
                    context.report(job.says());
                    Ok(None)
                }
                None => Ok(None),
            }
        };
        self.site.until(look).await
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let workspace = self.site.workspace().await?;
        let image = match self.find(&workspace, context.recorded::<String>("id").as_deref()).await? {
            Some(image) if image.state == "active" => image,
            Some(image) if image.state == "error" && self.desired.source != ImageSource::Given => {
                self.site.client.delete_image(&workspace, &image).await?;
                return Err(Error::Busy { object: self.title(), state: image.state }.into());
            }
            Some(_) => {
                let job = self.site.client.last_import(&workspace).await?.map(|job| job.id).unwrap_or_default();
                self.follow(&workspace, &job, context).await?
            }
            None => {
                let job = self.import(&workspace, context).await?;
                self.follow(&workspace, &job, context).await?
            }
        };
        let told = Outputs::default().with("id", image.id);
        Ok(if self.desired.source == ImageSource::Given { told.with("given", true) } else { told })
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.source == ImageSource::Given {
            return Ok(());
        }
        let Some(workspace) = self.site.workspace_of(context).await? else { return Ok(()) };
        let own = Own::new(&self.desired.name, outputs);
        let look = || async {
            let mut found = match self.find(&workspace, own.recorded()).await {
                // It has the name and is not the cluster's.
                Err(Error::Foreign { .. }) => None,
                found => found?,
            };
            if let (None, Some(id)) = (&found, own.recorded()) {
                found = self.site.client.image(&workspace, id).await?;
            }
            match found {
                Some(image) => self.site.client.delete_image(&workspace, &image).await?,
                None => {
                    // A job that still runs would make the image after it was looked for.
                    match self.site.client.last_import(&workspace).await? {
                        Some(job) if !job.is_over() => {
                            context.report(format!("waiting for its import: {}", job.says()));
                        }
                        _ => return Ok(Some(())),
                    }
                }
            }
            Ok(None)
        };
        Ok(self.site.until(look).await?)
    }
}

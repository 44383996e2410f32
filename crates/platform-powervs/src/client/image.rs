//! Images that machines boot from, and the jobs that import them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, Workspace, session::To};
use crate::Error;

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Image {
    /// Its id.
    #[serde(rename = "imageID")]
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// `active`, `queued`, `importing`, `error`, …
    #[serde(default)]
    pub state: String,
    /// Its tags. Only told where one image is asked for.
    #[serde(default, rename = "userTags")]
    pub user_tags: Option<Vec<String>>,
}

/// What an image is made from.
#[derive(Clone, Debug)]
pub struct ImageImport<'a> {
    /// The name that it gets.
    pub name: &'a str,
    /// The bucket.
    pub bucket: &'a str,
    /// The region of the bucket.
    pub region: &'a str,
    /// The object.
    pub object: &'a str,
    /// Opens a bucket that is private.
    pub key: Option<&'a landfall_wire::aws::Credentials>,
    /// Speed of its disks.
    pub storage_type: &'a str,
    /// What it is tagged with.
    pub tag: &'a str,
}

/// A job of the platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// How it does.
    #[serde(default)]
    pub status: JobStatus,
}

/// How a job does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct JobStatus {
    /// `queued`, `running`, `completed`, `failed`, …
    #[serde(default)]
    pub state: String,
    /// What it is at.
    #[serde(default)]
    pub progress: Option<String>,
    /// What it says.
    #[serde(default)]
    pub message: Option<String>,
}

impl Job {
    /// Whether it ended badly.
    pub fn is_failed(&self) -> bool {
        self.status.state == "failed"
    }

    /// Whether it ended.
    pub fn is_over(&self) -> bool {
        ["failed", "completed"].contains(&self.status.state.as_str())
    }

    /// How it does, for people.
    pub fn says(&self) -> String {
        let JobStatus { state, progress, message } = &self.status;
        let rest = [progress, message].into_iter().flatten().filter(|text| !text.is_empty());
        std::iter::once(state).chain(rest).map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl Client {
    /// All images of a workspace. They come without pages.
    pub async fn images(&self, workspace: &Workspace) -> Result<Vec<Image>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            images: Vec<Image>,
        }
        let answer: Answer = self.get("listing images", To::Power(workspace), &workspace.path("images")).await?;
        Ok(answer.images)
    }

    /// The image with an id.
    pub async fn image(&self, workspace: &Workspace, id: &str) -> Result<Option<Image>, Error> {
        let path = workspace.path(&format!("images/{id}"));
        self.get_existing("reading the image", To::Power(workspace), &path).await
    }

    /// Begins to import an image. Returns the id of the job.
    pub async fn import_image(&self, workspace: &Workspace, import: &ImageImport<'_>) -> Result<String, Error> {
        use secrecy::ExposeSecret as _;
        #[derive(Deserialize)]
        struct Answer {
            id: String,
        }
        let mut body = json!({
            "imageName": import.name,
            "bucketName": import.bucket,
            "region": import.region,
            "imageFilename": import.object,
            "bucketAccess": if import.key.is_some() { "private" } else { "public" },
            "storageType": import.storage_type,
            "userTags": [import.tag],
        });
        if let Some(key) = import.key {
            body["accessKey"] = json!(key.key_id);
            body["secretKey"] = json!(key.secret_key.expose_secret());
        }
        let attempt = format!("importing image {} from {}/{}", import.name, import.bucket, import.object);
        let answer: Answer = self.post(&attempt, To::Power(workspace), &workspace.path("cos-images"), &body).await?;
        Ok(answer.id)
    }

    /// The last job that imported an image into a workspace.
    pub async fn last_import(&self, workspace: &Workspace) -> Result<Option<Job>, Error> {
        let path = workspace.path("cos-images");
        self.get_existing("reading the last import", To::Power(workspace), &path).await
    }

    /// The job with an id.
    pub async fn job(&self, workspace: &Workspace, id: &str) -> Result<Option<Job>, Error> {
        let path = workspace.path(&format!("jobs/{id}"));
        self.get_existing("reading the job", To::Power(workspace), &path).await
    }

    /// Deletes an image.
    pub async fn delete_image(&self, workspace: &Workspace, image: &Image) -> Result<(), Error> {
        let path = workspace.path(&format!("images/{}", image.id));
        self.delete(&format!("deleting image {}", image.name), To::Power(workspace), &path).await
    }

    /// A job as the API tells it, for people who look for reasons.
    pub async fn jobs(&self, workspace: &Workspace) -> Result<Vec<Job>, Error> {
        let answer: Value = self.get("listing jobs", To::Power(workspace), &workspace.path("jobs")).await?;
        Ok(serde_json::from_value(answer["jobs"].clone()).unwrap_or_default())
    }
}

//! Transfers of images: what the engine knows of them. The bytes go to a host, see [`crate::image`].

use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{Disk, Reference};
use crate::{Client, Error};

/// A transfer may idle that long before the engine pauses it.
const IDLE_SECS: u32 = 300;

/// A transfer of an image.
#[derive(Clone, Debug, Deserialize)]
pub struct ImageTransfer {
    /// Its id.
    pub id: String,
    /// How far it has come.
    #[serde(default)]
    pub phase: Phase,
    /// Where a host takes the bytes.
    pub transfer_url: Option<Url>,
    /// Where the engine's proxy takes them.
    pub proxy_url: Option<Url>,
    image: Option<Reference>,
    disk: Option<Reference>,
}

/// How far a transfer has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A host is being told about it.
    Initializing,
    /// Likewise, after a pause.
    Resuming,
    /// Bytes can be sent.
    Transferring,
    /// Nothing came for a while.
    PausedSystem,
    /// Somebody paused it.
    PausedUser,
    /// The image is being checked.
    FinalizingSuccess,
    /// It was called off.
    CancelledUser,
    /// The engine called it off.
    CancelledSystem,
    /// It is being cleaned up.
    FinalizingCleanup,
    /// It is being cleaned up after a failure.
    FinalizingFailure,
    /// The disk holds the image.
    FinishedSuccess,
    /// The disk does not hold the image.
    FinishedFailure,
    /// It was called off, and nothing of it is left.
    FinishedCleanup,
    /// Something that this client does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Phase {
    /// Whether nothing more will happen.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::FinishedSuccess | Self::FinishedFailure | Self::FinishedCleanup)
    }
}

#[derive(Deserialize)]
struct ImageTransfers {
    #[serde(default)]
    image_transfer: Vec<ImageTransfer>,
}

impl Client {
    /// The transfer of a disk that is not finished.
    pub async fn open_transfer(&self, disk: &Disk) -> Result<Option<ImageTransfer>, Error> {
        let ImageTransfers { image_transfer } = self.get("imagetransfers").await?;
        let concerns = |transfer: &ImageTransfer| {
            [&transfer.image, &transfer.disk].into_iter().flatten().any(|reference| reference.id == disk.id)
        };
        Ok(image_transfer.into_iter().find(|transfer| !transfer.phase.is_finished() && concerns(transfer)))
    }

    /// A transfer, if it still exists: engines forget finished ones, some at once.
    pub async fn transfer(&self, id: &str) -> Result<Option<ImageTransfer>, Error> {
        self.get_existing(&format!("imagetransfers/{id}")).await
    }

    /// Begins an upload of a qcow2 file, byte for byte, to a disk.
    pub async fn begin_upload(&self, disk: &Disk) -> Result<ImageTransfer, Error> {
        let body = json!({
            "disk": { "id": disk.id },
            "direction": "upload",
            "format": "cow",
            "inactivity_timeout": IDLE_SECS.to_string(),
        });
        self.post(&format!("beginning the upload to disk {}", disk.alias), "imagetransfers", &body).await
    }

    /// Carries out an action on a transfer: `finalize`, `cancel`, `resume`.
    pub async fn act_on_transfer(&self, transfer: &ImageTransfer, action: &str) -> Result<(), Error> {
        let path = format!("imagetransfers/{}/{action}", transfer.id);
        let _: Value = self.post(&format!("{action} of the upload {}", transfer.id), &path, &json!({})).await?;
        Ok(())
    }
}

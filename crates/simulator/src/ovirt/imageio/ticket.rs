//! What this endpoint needs of the engine: tickets.

use uuid::Uuid;

use super::image::Spec;
use super::store::Format;

/// What a ticket allows. The id of the ticket, in the URL, is the only credential that this endpoint knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The transfer that the ticket belongs to; errors name it.
    pub transfer: Uuid,
    /// The image that is read or written.
    pub image: Uuid,
    /// The size of the disk that the guest sees.
    pub virtual_size: u64,
    /// The format of the disk.
    pub disk_format: Format,
    /// The format of the transfer: `Raw` for the data that the guest sees, `Cow` for the bytes of the image file.
    pub transfer_format: Format,
    /// Whether the image may be written to, which implies reading.
    pub write: bool,
}

impl Ticket {
    pub(crate) fn spec(&self) -> Spec {
        Spec {
            virtual_size: self.virtual_size,
            disk_format: self.disk_format,
            transfer_format: self.transfer_format,
            write: self.write,
        }
    }
}

/// Why a ticket does not open anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// There is no such ticket: it never existed, or its transfer has ended.
    #[error("no such ticket")]
    Unknown,
    /// The transfer was paused or cancelled.
    #[error("the transfer was cancelled")]
    Cancelled(Uuid),
    /// The ticket was not used for too long.
    #[error("the ticket has expired")]
    Expired(Uuid),
}

/// What clients did with a ticket so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many different bytes were written, zeroed or read. It starts again at zero when the simulator restarts.
    pub transferred: u64,
    /// Whether a request is under way. A transfer is idle when none is.
    pub active: bool,
}

/// The engine, seen from the hosts that move its images.
///
/// Called from many tasks at once, on behalf of each request and again after every MiB of it. So it must answer at once,
/// and a transfer that is paused or cancelled stops within a MiB.
pub trait Tickets: Send + Sync + 'static {
    /// What the ticket with this id, as it stands in the URL, allows now.
    fn authorize(&self, id: &str) -> Result<Ticket, Denied>;

    /// Takes note of what was done with the ticket, which restarts its idle time.
    fn report(&self, id: &str, progress: Progress);
}

//! Media repositories: where optical media are kept.

use super::{Error, Host};

/// The group in which a repository is made if there is none, and how large it is made.
const GROUP: &str = "rootvg";
const SIZE_GIB: f64 = 1.0;
const NAME: &str = "vopt";

/// A media repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The id of the VIOS.
    pub(super) vios: String,
    /// The id of the volume group.
    pub(super) group: String,
    /// Whether it holds the medium that was asked about.
    pub(super) holds: bool,
}

impl Host {
    /// The repository that holds a medium, or else the first there is, or else one that is made: never on the management
    /// partition, whose disk is NovaLink's own.
    pub(super) async fn repository(&self, medium: Option<&str>) -> Result<Repository, Error> {
        let turn = self.turn("media-repository");
        let _turn = turn.lock().await;
        if let Some(known) = self.repositories.known("").await {
            let groups = self.volume_groups(&known.vios).await?;
            let media = groups.into_iter().find(|group| group.id == known.group).and_then(|group| group.media);
            if let Some(media) = media {
                let holds = media.iter().any(|one| Some(one.name.as_str()) == medium);
                return Ok(Repository { holds, ..known });
            }
        }
        let found = self.look_for_repository(medium).await?;
        self.repositories.learn("", &found).await;
        Ok(found)
    }

    async fn look_for_repository(&self, medium: Option<&str>) -> Result<Repository, Error> {
        let vioses = self.vioses().await?;
        let mut first: Option<Repository> = None;
        let mut makeable = None;
        for vios in vioses.iter().filter(|vios| !vios.is_management) {
            for group in self.volume_groups(&vios.id).await? {
                let found = |holds| Repository { vios: vios.id.clone(), group: group.id.clone(), holds };
                match &group.media {
                    Some(media) if media.iter().any(|one| Some(one.name.as_str()) == medium) => return Ok(found(true)),
                    Some(_) if first.is_none() => first = Some(found(false)),
                    None if makeable.is_none() && group.name == GROUP => makeable = Some(found(false)),
                    _ => {}
                }
            }
            // One place is enough unless a medium is looked for, which may be where another run has put it.
            if first.is_some() && medium.is_none() {
                break;
            }
        }
        if let Some(first) = first {
            return Ok(first);
        }
        let missing = || Error::Missing { what: format!("VIOS with a volume group {GROUP}"), host: self.label() };
        let place = makeable.ok_or_else(missing)?;
        let made = self.client().create_repository(&place.vios, &place.group, NAME, SIZE_GIB).await;
        made.map_err(|error| self.failed("making a media repository", error))?;
        Ok(place)
    }
}

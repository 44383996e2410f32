//! What VPC and the transit gateway service list, tell and delete in one way.

use serde::de::DeserializeOwned;

use super::{Client, LoadBalancer, PublicGateway, SecurityGroup, Subnet, TransitGateway, Vpc, session::To};
use crate::Error;

/// A kind of object that is listed in pages.
pub(crate) trait Resource: DeserializeOwned + Send + Sync {
    /// What it is, for people.
    const TITLE: &'static str;
    /// What it is, in plans.
    const KIND: &'static str;
    /// What it is, in names for other services.
    const KIND_OF_CRN: &'static str;
    /// Where it is listed, and the name of the list.
    const PATH: &'static str;

    fn id(&self) -> &str;
    fn name(&self) -> &str;
    /// Its name for other services.
    fn crn(&self) -> &str;
    /// Whether it is on its way out.
    fn is_leaving(&self) -> bool;
}

macro_rules! resource {
    ($type:ident, $title:literal, $kind:literal, $crn:literal, $path:literal, $self:ident => $leaving:expr) => {
        impl Resource for $type {
            const TITLE: &'static str = $title;
            const KIND: &'static str = $kind;
            const KIND_OF_CRN: &'static str = $crn;
            const PATH: &'static str = $path;

            fn id(&self) -> &str {
                &self.id
            }

            fn name(&self) -> &str {
                &self.name
            }

            fn crn(&self) -> &str {
                &self.crn
            }

            fn is_leaving(&$self) -> bool {
                $leaving
            }
        }
    };
}
resource!(Vpc, "VPC", "vpc", "vpc", "vpcs", self => self.status == "deleting");
resource!(Subnet, "subnet", "subnet", "subnet", "subnets", self => self.status == "deleting");
resource!(PublicGateway, "public gateway", "public-gateway", "public-gateway", "public_gateways", self => self.status == "deleting");
resource!(SecurityGroup, "security group", "security-group", "security-group", "security_groups", self => false);
resource!(LoadBalancer, "load balancer", "load-balancer", "load-balancer", "load_balancers", self => self.provisioning_status == "delete_pending");
resource!(TransitGateway, "transit gateway", "transit-gateway", "gateway", "transit_gateways", self => self.status == "deleting");

fn to<T: Resource>() -> To<'static> {
    if T::PATH == TransitGateway::PATH { To::Transit } else { To::Vpc }
}

impl Client {
    /// All objects of a kind.
    pub(crate) async fn all<T: Resource>(&self) -> Result<Vec<T>, Error> {
        self.pages(&format!("listing {}", T::PATH.replace('_', " ")), to::<T>(), T::PATH, T::PATH).await
    }

    /// The object with a name or an id.
    pub(crate) async fn named<T: Resource>(&self, name: &str) -> Result<Option<T>, Error> {
        Ok(self.all::<T>().await?.into_iter().find(|object| object.name() == name || object.id() == name))
    }

    /// The object with an id.
    pub(crate) async fn with_id<T: Resource>(&self, id: &str) -> Result<Option<T>, Error> {
        let attempt = format!("reading {} {id}", T::TITLE);
        self.get_existing::<T>(&attempt, to::<T>(), &format!("{}/{id}", T::PATH)).await
    }

    /// Deletes an object.
    pub(crate) async fn discard<T: Resource>(&self, object: &T) -> Result<(), Error> {
        let attempt = format!("deleting {} {}", T::TITLE, object.name());
        self.delete(&attempt, to::<T>(), &format!("{}/{}", T::PATH, object.id())).await
    }
}

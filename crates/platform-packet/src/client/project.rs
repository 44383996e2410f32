//! Projects, and the organisations that pay for them.

use serde::Deserialize;
use serde_json::Value;

use super::Client;
use crate::Error;

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Project {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// An organisation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Organization {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// Whose key it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Account {
    /// A user's, with everything that the user may do.
    User(String),
    /// A project's, which sees nothing beyond it.
    Project,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    email: String,
}

impl Client {
    /// Whose key this client has.
    pub async fn account(&self) -> Result<Account, Error> {
        match self.get::<User>("asking whose key it is", "user").await {
            Ok(user) => Ok(Account::User(user.email)),
            // The key of a project may not see any user.
            Err(Error::Fault { fault, .. }) if fault.status == 403 && fault.is_json => {
                self.projects().await.map(|_| Account::Project)
            }
            Err(error) => Err(error),
        }
    }

    /// All projects that the key may see.
    pub async fn projects(&self) -> Result<Vec<Project>, Error> {
        self.pages("listing projects", "projects", &[], "projects").await
    }

    /// All organisations that the key may see.
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        self.pages("listing organisations", "organizations", &[], "organizations").await
    }

    /// The project with an id.
    pub async fn project(&self, id: &str) -> Result<Option<Project>, Error> {
        self.get_existing("reading the project", &format!("projects/{id}")).await
    }

    /// Makes a project.
    pub async fn create_project(&self, body: &Value) -> Result<Project, Error> {
        self.post("making a project", "projects", body).await
    }

    /// Deletes a project.
    pub async fn delete_project(&self, id: &str) -> Result<(), Error> {
        self.delete("deleting the project", &format!("projects/{id}")).await
    }
}

//! The kinds of entities that have a collection at the root of the API, and how each is found and written.

use super::view::View;
use super::{
    affinity_labels, bookmarks, clusters, cpu_profiles, data_centers, disk_profiles, disks, events, groups, hosts,
    image_transfers, instance_types, jobs, networks, permissions, roles, storage_domains, tags, templates, users, vms,
    vnic_profiles,
};
use crate::ovirt::model::{
    AffinityLabel, Bookmark, Cluster, CpuProfile, DataCenter, Disk, DiskProfile, Event, Group, Host, InstanceType, Job,
    Network, Permission, Role, StorageDomain, Tag, Template, Transfer, User, Vm, VnicProfile,
};
use crate::ovirt::state::State;
use crate::ovirt::table::{Entity, Id};

/// Declares [`Kind`] and [`Subject`] from one table: variant, type, table of the state, path, element of the collection,
/// element of an item, and the module that writes it.
macro_rules! kinds {
    ($( $variant:ident($type:ty) in $table:ident: $path:literal, $plural:literal, $singular:literal, $module:ident; )+) => {
        /// A kind of entity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Kind {
            $( #[doc = concat!("`", $plural, "`")] $variant, )+
            /// events
            Event,
        }

        /// An entity of some kind.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Subject<'s> {
            $( #[doc = concat!("`", $singular, "`")] $variant(&'s $type), )+
            /// event
            Event(&'s Event),
        }

        impl Kind {
            /// All kinds but events, in the order of their paths.
            pub(crate) const ALL: &'static [Self] = &[ $( Self::$variant, )+ Self::Event ];

            /// The kind whose collection is at that path.
            pub(crate) fn at(path: &str) -> Option<Self> {
                match path { $( $path => Some(Self::$variant), )+ "events" => Some(Self::Event), _ => None }
            }

            /// The path of its collection.
            pub(crate) fn path(self) -> &'static str {
                match self { $( Self::$variant => $path, )+ Self::Event => "events" }
            }

            /// The element of the collection.
            pub(crate) fn plural(self) -> &'static str {
                match self { $( Self::$variant => $plural, )+ Self::Event => "events" }
            }

            /// The element of an item.
            pub(crate) fn singular(self) -> &'static str {
                match self { $( Self::$variant => $singular, )+ Self::Event => "event" }
            }

            /// All entities of this kind in their natural order: by name, and events from the newest.
            pub(crate) fn all(self, state: &State) -> Box<dyn Iterator<Item = Subject<'_>> + '_> {
                match self {
                    $( Self::$variant => Box::new(state.$table.iter().map(Subject::$variant)), )+
                    Self::Event => Box::new(state.events.newest_first().map(Subject::Event)),
                }
            }

            /// The entities of this kind whose name begins so, whatever the case; `None` where there are no names.
            pub(crate) fn prefixed<'s>(
                self,
                state: &'s State,
                prefix: &str,
            ) -> Option<Box<dyn Iterator<Item = Subject<'s>> + 's>> {
                match self {
                    $( Self::$variant => {
                        let rows: Vec<_> = state.$table.prefixed(prefix).map(Subject::$variant).collect();
                        Some(Box::new(rows.into_iter()))
                    } )+
                    Self::Event => None,
                }
            }

            /// The entity with that id.
            pub(crate) fn get(self, state: &State, id: Id) -> Option<Subject<'_>> {
                match self {
                    $( Self::$variant => state.$table.get(id).map(Subject::$variant), )+
                    Self::Event => None,
                }
            }
        }

        impl<'s> Subject<'s> {
            /// Its kind.
            pub(crate) fn kind(self) -> Kind {
                match self { $( Self::$variant(_) => Kind::$variant, )+ Self::Event(_) => Kind::Event }
            }

            /// Its id; events have a number instead.
            pub(crate) fn id(self) -> Id {
                match self {
                    $( Self::$variant(row) => row.id(), )+
                    Self::Event(event) => Id::from_u128(event.index.into()),
                }
            }

            /// Its name; for an event, its description.
            pub(crate) fn name(self) -> &'s str {
                match self { $( Self::$variant(row) => row.name(), )+ Self::Event(event) => &event.description }
            }

            /// Writes it.
            pub(crate) fn render(self, view: &mut View, element: &'static str) {
                match self {
                    $( Self::$variant(row) => $module::render(view, element, row), )+
                    Self::Event(event) => events::render(view, element, event),
                }
            }
        }
    };
}

kinds! {
    AffinityLabel(AffinityLabel) in affinity_labels: "affinitylabels", "affinity_labels", "affinity_label", affinity_labels;
    Bookmark(Bookmark) in bookmarks: "bookmarks", "bookmarks", "bookmark", bookmarks;
    Cluster(Cluster) in clusters: "clusters", "clusters", "cluster", clusters;
    CpuProfile(CpuProfile) in cpu_profiles: "cpuprofiles", "cpu_profiles", "cpu_profile", cpu_profiles;
    DataCenter(DataCenter) in data_centers: "datacenters", "data_centers", "data_center", data_centers;
    DiskProfile(DiskProfile) in disk_profiles: "diskprofiles", "disk_profiles", "disk_profile", disk_profiles;
    Disk(Disk) in disks: "disks", "disks", "disk", disks;
    Group(Group) in groups: "groups", "groups", "group", groups;
    Host(Host) in hosts: "hosts", "hosts", "host", hosts;
    Transfer(Transfer) in transfers: "imagetransfers", "image_transfers", "image_transfer", image_transfers;
    InstanceType(InstanceType) in instance_types: "instancetypes", "instance_types", "instance_type", instance_types;
    Job(Job) in jobs: "jobs", "jobs", "job", jobs;
    Network(Network) in networks: "networks", "networks", "network", networks;
    Permission(Permission) in permissions: "permissions", "permissions", "permission", permissions;
    Role(Role) in roles: "roles", "roles", "role", roles;
    StorageDomain(StorageDomain) in storage_domains: "storagedomains", "storage_domains", "storage_domain", storage_domains;
    Tag(Tag) in tags: "tags", "tags", "tag", tags;
    Template(Template) in templates: "templates", "templates", "template", templates;
    User(User) in users: "users", "users", "user", users;
    Vm(Vm) in vms: "vms", "vms", "vm", vms;
    VnicProfile(VnicProfile) in vnic_profiles: "vnicprofiles", "vnic_profiles", "vnic_profile", vnic_profiles;
}

//! Users, roles, permissions, quotas and tags.

use super::super::schema::types;
use super::{CLUSTER, DATA_CENTER, DISK, HOST, IDENTIFIED, STORAGE_DOMAIN, TEMPLATE, VM, VM_POOL};

types! {
    DOMAIN = "domain" : IDENTIFIED { "user": one(USER), "users": list(USER), "groups": list(GROUP) }
    USER = "user" : IDENTIFIED {
        "domain_entry_id": text, "department": text, "logged_in": bool, "namespace": text, "last_name": text,
        "user_name": text, "principal": text, "password": text, "email": text, "domain": one(DOMAIN),
        "roles": list(ROLE), "groups": list(GROUP), "permissions": list(PERMISSION), "tags": list(TAG),
        "ssh_public_keys": list(SSH_PUBLIC_KEY), "options": list(USER_OPTION),
    }
    SSH_PUBLIC_KEY = "ssh_public_key" : IDENTIFIED { "content": text, "user": one(USER) }
    USER_OPTION = "user_option" : IDENTIFIED { "content": text, "user": one(USER) }
    GROUP = "group" : IDENTIFIED {
        "domain_entry_id": text, "namespace": text, "domain": one(DOMAIN), "roles": list(ROLE),
        "permissions": list(PERMISSION), "tags": list(TAG),
    }
    ROLE = "role" : IDENTIFIED { "mutable": bool, "administrative": bool, "user": one(USER), "permits": list(PERMIT) }
    PERMIT = "permit" : IDENTIFIED { "administrative": bool, "role": one(ROLE) }
    PERMISSION = "permission" : IDENTIFIED {
        "role": one(ROLE), "user": one(USER), "group": one(GROUP), "data_center": one(DATA_CENTER),
        "cluster": one(CLUSTER), "host": one(HOST), "storage_domain": one(STORAGE_DOMAIN), "vm": one(VM),
        "vm_pool": one(VM_POOL), "template": one(TEMPLATE), "disk": one(DISK),
    }
    QUOTA = "quota" : IDENTIFIED {
        "data_center": one(DATA_CENTER), "cluster_soft_limit_pct": int, "cluster_hard_limit_pct": int,
        "storage_soft_limit_pct": int, "storage_hard_limit_pct": int, "permissions": list(PERMISSION),
        "quota_cluster_limits": list(QUOTA_CLUSTER_LIMIT), "quota_storage_limits": list(QUOTA_STORAGE_LIMIT),
    }
    QUOTA_CLUSTER_LIMIT = "quota_cluster_limit" : IDENTIFIED {
        "vcpu_limit": int, "vcpu_usage": int, "memory_limit": decimal, "memory_usage": decimal, "quota": one(QUOTA),
        "cluster": one(CLUSTER),
    }
    QUOTA_STORAGE_LIMIT = "quota_storage_limit" : IDENTIFIED {
        "limit": int, "usage": decimal, "quota": one(QUOTA), "storage_domain": one(STORAGE_DOMAIN),
    }
    TAG = "tag" : IDENTIFIED {
        "host": one(HOST), "vm": one(VM), "user": one(USER), "group": one(GROUP), "template": one(TEMPLATE),
        "parent": one(TAG),
    }
    BOOKMARK = "bookmark" : IDENTIFIED { "value": text }
}

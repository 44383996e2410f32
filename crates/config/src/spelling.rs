//! Finding what somebody meant.

/// The candidate that a word most likely stands for, if one is close enough.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    let is_telling = wanted.chars().count() >= 4;
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let known = plain(candidate);
            let distance = strsim::damerau_levenshtein(&wanted, &known);
            // A part of the name comes after all names that are only misspelt.
            let is_part = is_telling && known.contains(&wanted);
            if distance <= tolerance(&wanted) {
                Some(((false, distance), candidate))
            } else {
                is_part.then_some(((true, distance), candidate))
            }
        })
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, candidate)| candidate)
}

/// Case, hyphens and underscores are what people get wrong most often, so they count for nothing. Comparing takes time in
/// the square of the length, so of an absurdly long word only the beginning is looked at.
fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(64).collect()
}

/// One wrong letter in three.
fn tolerance(word: &str) -> usize {
    word.chars().count() / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let fields = ["api_vips", "ingress_vips", "ovirt_cluster_id", "vnicProfileID", "affinityGroups"];
        for (word, meant) in [
            ("api_vip", Some("api_vips")),
            ("apiVips", Some("api_vips")),
            ("API-VIPS", Some("api_vips")),
            ("ovirtClusterID", Some("ovirt_cluster_id")),
            ("vnic_profile_id", Some("vnicProfileID")),
            ("afinitygroup", Some("affinityGroups")),
            ("cluster", Some("ovirt_cluster_id")),
            ("id", None),
            ("memory", None),
            ("", None),
            ("日本", None),
        ] {
            assert_eq!(closest(word, fields), meant, "{word}");
        }
    }
}

//! Just enough of ISO 9660 to find the files on a config drive.

use std::collections::BTreeMap;

const SECTOR: usize = 2048;
/// Where volume descriptors begin.
const DESCRIPTORS: usize = 16;
/// More than any config drive has.
const MAX_FILES: usize = 1000;
const MAX_DEPTH: usize = 8;

/// The files of an image by path. Names are those of the Joliet tree if there is one, else the plain ones in lower case. What is
/// broken has no files.
pub(crate) fn files(image: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut roots: [Option<&[u8]>; 2] = [None, None];
    for sector in DESCRIPTORS.. {
        let Some(descriptor) = image.get(sector * SECTOR..(sector + 1) * SECTOR) else { break };
        if &descriptor[1..6] != b"CD001" {
            break;
        }
        let root = &descriptor[156..190];
        match descriptor[0] {
            1 => roots[0] = Some(root),
            2 if matches!(&descriptor[88..91], b"%/@" | b"%/C" | b"%/E") => roots[1] = Some(root),
            255 => break,
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    match roots {
        [_, Some(root)] => walk(image, root, "", true, 0, &mut found),
        [Some(root), None] => walk(image, root, "", false, 0, &mut found),
        [None, None] => {}
    }
    found
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().take(4).rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

fn contents<'a>(image: &'a [u8], record: &[u8]) -> Option<&'a [u8]> {
    let (start, length) = (number(record.get(2..6)?), number(record.get(10..14)?));
    image.get(start.checked_mul(SECTOR)?..start.checked_mul(SECTOR)?.checked_add(length)?)
}

fn walk(image: &[u8], directory: &[u8], path: &str, joliet: bool, depth: usize, found: &mut BTreeMap<String, Vec<u8>>) {
    let Some(records) = contents(image, directory).filter(|_| depth < MAX_DEPTH) else { return };
    let mut at = 0;
    while let Some(length) = records.get(at).copied().map(usize::from) {
        if length == 0 {
            // Records do not cross sectors.
            at = (at / SECTOR + 1) * SECTOR;
            continue;
        }
        let Some(record) = records.get(at..at + length).filter(|record| record.len() >= 34) else { return };
        at += length;
        let Some(raw) = record.get(33..33 + usize::from(record[32])) else { return };
        if matches!(raw, [0 | 1]) {
            continue;
        }
        let name = if joliet {
            let units: Vec<u16> = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&units)
        } else {
            rock_ridge(record, raw.len()).unwrap_or_else(|| String::from_utf8_lossy(raw).to_lowercase())
        };
        let name = name.split(';').next().unwrap_or_default().trim_end_matches('.');
        let own = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        if record[25] & 2 != 0 {
            walk(image, record, &own, joliet, depth + 1, found);
        } else if let Some(contents) = contents(image, record).filter(|_| found.len() < MAX_FILES) {
            found.insert(own, contents.to_vec());
        }
    }
}

/// The long name that POSIX systems give a file, in the part of a record that belongs to systems.
fn rock_ridge(record: &[u8], name_length: usize) -> Option<String> {
    let mut rest = record.get(33 + name_length + (name_length + 1) % 2..)?;
    while rest.len() > 5 {
        let length = usize::from(rest[2]);
        if rest.starts_with(b"NM") && length > 5 {
            return Some(String::from_utf8_lossy(rest.get(5..length)?).into_owned());
        }
        rest = rest.get(length.max(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubbish_has_no_files() {
        assert!(files(b"").is_empty());
        assert!(files(&vec![0xff; 40 * SECTOR]).is_empty());
        let mut image = vec![0; 40 * SECTOR];
        image[16 * SECTOR] = 1;
        image[16 * SECTOR + 1..16 * SECTOR + 6].copy_from_slice(b"CD001");
        image[16 * SECTOR + 158..16 * SECTOR + 170].fill(0xff);
        assert!(files(&image).is_empty());
    }
}

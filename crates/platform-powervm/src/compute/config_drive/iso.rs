//! Writing ISO 9660 with Joliet: two trees of names over one set of files, as ECMA-119 and Microsoft's Joliet specification say.
//!
//! ```text
//! sector 0–15    empty
//! 16, 17, 18     primary descriptor, Joliet descriptor, end of descriptors
//! 19–22          path tables: little and big endian, of each tree
//! then           directories of the plain tree, of the Joliet tree, files
//! ```

const SECTOR: usize = 2048;
const PRIMARY: u32 = 16;
const PATH_TABLES: u32 = 19;
const FIRST_DIRECTORY: u32 = 23;

/// Makes an image with these files. The same files make the same image: it has no dates.
///
/// Path tables have a sector each, which is room for a hundred directories.
pub(super) fn image(label: &str, files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut tree = Tree::of(files.iter().map(|(path, _)| *path));
    let mut next = FIRST_DIRECTORY;
    for names in [Names::Plain, Names::Joliet] {
        for directory in 0..tree.directories.len() {
            let bytes = tree.listing_length(directory, names);
            tree.directories[directory].extents[names as usize] = Extent { sector: next, bytes };
            next += sectors(bytes);
        }
    }
    let mut extents = Vec::new();
    for (_, contents) in files {
        let bytes = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        extents.push(Extent { sector: next, bytes });
        next += sectors(bytes);
    }
    let mut out = vec![0; next as usize * SECTOR];
    for (names, sector) in [(Names::Plain, PRIMARY), (Names::Joliet, PRIMARY + 1)] {
        put(&mut out, sector, &tree.descriptor(names, label, next));
        let first = PATH_TABLES + 2 * names as u32;
        put(&mut out, first, &tree.path_table(names, false));
        put(&mut out, first + 1, &tree.path_table(names, true));
        for directory in 0..tree.directories.len() {
            let extent = tree.directories[directory].extents[names as usize];
            put(&mut out, extent.sector, &tree.listing(directory, names, &extents));
        }
    }
    put(&mut out, PRIMARY + 2, b"\xffCD001\x01");
    for ((_, contents), extent) in files.iter().zip(&extents) {
        put(&mut out, extent.sector, contents);
    }
    out
}

fn put(out: &mut [u8], sector: u32, bytes: &[u8]) {
    let start = sector as usize * SECTOR;
    out[start..start + bytes.len()].copy_from_slice(bytes);
}

fn sectors(bytes: u32) -> u32 {
    bytes.div_ceil(u32::try_from(SECTOR).unwrap_or(u32::MAX)).max(1)
}

/// Which of the two trees.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Plain,
    Joliet,
}

impl Names {
    /// A name as this tree writes it.
    fn encode(self, name: &str, is_file: bool) -> Vec<u8> {
        match self {
            Self::Joliet => name.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Plain => {
                let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_uppercase() } else { '_' };
                let mut plain: String = name.chars().map(letter).collect();
                if is_file {
                    // Every file has a dot and a version.
                    plain.push_str(if plain.contains('.') { ";1" } else { ".;1" });
                }
                plain.into_bytes()
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Extent {
    sector: u32,
    bytes: u32,
}

struct Directory {
    name: String,
    parent: usize,
    directories: Vec<usize>,
    files: Vec<(String, usize)>,
    extents: [Extent; 2],
}

/// The directories, the root first, each after the one that it is in.
struct Tree {
    directories: Vec<Directory>,
}

impl Tree {
    fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let directory = |name: &str, parent| Directory {
            name: name.to_owned(),
            parent,
            directories: Vec::new(),
            files: Vec::new(),
            extents: [Extent::default(); 2],
        };
        let mut tree = Self { directories: vec![directory("", 0)] };
        for (number, path) in paths.enumerate() {
            let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
            let mut at = 0;
            for name in folders.split('/').filter(|name| !name.is_empty()) {
                let known = tree.directories[at].directories.iter().copied();
                let known = known.into_iter().find(|child| tree.directories[*child].name == name);
                at = known.unwrap_or_else(|| {
                    tree.directories.push(directory(name, at));
                    let child = tree.directories.len() - 1;
                    tree.directories[at].directories.push(child);
                    child
                });
            }
            tree.directories[at].files.push((file.to_owned(), number));
        }
        tree
    }

    /// What is in a directory, in the order of names: name as it is written, where it is, whether it is a directory.
    fn entries(&self, directory: usize, names: Names, files: &[Extent]) -> Vec<(Vec<u8>, Extent, bool)> {
        let own = &self.directories[directory];
        let mut entries: Vec<(Vec<u8>, Extent, bool)> = Vec::new();
        for child in &own.directories {
            let child = &self.directories[*child];
            entries.push((names.encode(&child.name, false), child.extents[names as usize], true));
        }
        for (name, number) in &own.files {
            entries.push((names.encode(name, true), files.get(*number).copied().unwrap_or_default(), false));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    fn listing(&self, directory: usize, names: Names, files: &[Extent]) -> Vec<u8> {
        let own = &self.directories[directory];
        let parent = &self.directories[own.parent];
        let mut out = record(&[0], own.extents[names as usize], true);
        out.extend(record(&[1], parent.extents[names as usize], true));
        for (name, extent, is_directory) in self.entries(directory, names, files) {
            let record = record(&name, extent, is_directory);
            // Records do not cross sectors.
            if out.len() % SECTOR + record.len() > SECTOR {
                out.resize(out.len().next_multiple_of(SECTOR), 0);
            }
            out.extend(record);
        }
        out.resize(out.len().next_multiple_of(SECTOR), 0);
        out
    }

    fn listing_length(&self, directory: usize, names: Names) -> u32 {
        u32::try_from(self.listing(directory, names, &[]).len()).unwrap_or(u32::MAX)
    }

    fn path_table(&self, names: Names, big_endian: bool) -> Vec<u8> {
        let mut out = Vec::new();
        for directory in &self.directories {
            let name = if directory.name.is_empty() { vec![0] } else { names.encode(&directory.name, false) };
            let (sector, parent) =
                (directory.extents[names as usize].sector, u16::try_from(directory.parent + 1).unwrap_or(u16::MAX));
            out.extend([u8::try_from(name.len()).unwrap_or(u8::MAX), 0]);
            if big_endian {
                out.extend(sector.to_be_bytes());
                out.extend(parent.to_be_bytes());
            } else {
                out.extend(sector.to_le_bytes());
                out.extend(parent.to_le_bytes());
            }
            out.extend(&name);
            if name.len() % 2 == 1 {
                out.push(0);
            }
        }
        out
    }

    fn descriptor(&self, names: Names, label: &str, sectors: u32) -> Vec<u8> {
        let joliet = names == Names::Joliet;
        let text = |text: &str, length: usize| -> Vec<u8> {
            let mut bytes: Vec<u8> = Vec::new();
            if joliet {
                bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
                while bytes.len() + 2 <= length {
                    bytes.extend([0, b' ']);
                }
            } else {
                bytes.extend(text.bytes());
            }
            bytes.resize(length, if joliet { 0 } else { b' ' });
            bytes
        };
        let table = u32::try_from(self.path_table(names, false).len()).unwrap_or(u32::MAX);
        let first = PATH_TABLES + 2 * names as u32;
        let mut out = vec![if joliet { 2 } else { 1 }];
        out.extend(b"CD001\x01\0");
        out.extend(text("LINUX", 32));
        out.extend(text(label, 32));
        out.extend([0; 8]);
        out.extend(both32(sectors));
        let mut escapes = [0; 32];
        if joliet {
            // UCS-2, level 3.
            escapes[..3].copy_from_slice(b"%/E");
        }
        out.extend(escapes);
        out.extend(both16(1));
        out.extend(both16(1));
        out.extend(both16(2048));
        out.extend(both32(table));
        out.extend(first.to_le_bytes());
        out.extend(0_u32.to_le_bytes());
        out.extend((first + 1).to_be_bytes());
        out.extend(0_u32.to_be_bytes());
        out.extend(record(&[0], self.directories[0].extents[names as usize], true));
        for length in [128, 128, 128, 128, 37, 37, 37] {
            out.extend(text("", length));
        }
        for _ in 0..4 {
            out.extend(b"0000000000000000\0");
        }
        out.extend([1, 0]);
        out
    }
}

/// A record of a directory.
fn record(name: &[u8], extent: Extent, is_directory: bool) -> Vec<u8> {
    let length = (33 + name.len()).next_multiple_of(2);
    let mut out = vec![u8::try_from(length).unwrap_or(u8::MAX), 0];
    out.extend(both32(extent.sector));
    out.extend(both32(extent.bytes));
    out.extend([70, 1, 1, 0, 0, 0, 0]);
    out.extend([if is_directory { 2 } else { 0 }, 0, 0]);
    out.extend(both16(1));
    out.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    out.extend(name);
    out.resize(length, 0);
    out
}

/// A number in both byte orders.
fn both16(number: u16) -> [u8; 4] {
    let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
    [little[0], little[1], big[0], big[1]]
}

fn both32(number: u32) -> [u8; 8] {
    let mut out = [0; 8];
    out[..4].copy_from_slice(&number.to_le_bytes());
    out[4..].copy_from_slice(&number.to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_whole_sectors_and_always_the_same() {
        let files = [("a/b/long_name.json", b"{}".to_vec()), ("a/empty", Vec::new()), ("top", vec![7; 5000])];
        let one = image("config-2", &files);
        assert_eq!(one.len() % SECTOR, 0);
        assert_eq!(one, image("config-2", &files));
        assert_eq!(&one[16 * SECTOR + 40..16 * SECTOR + 48], b"config-2");
        // Each descriptor fills its sector up to the fields that nobody uses.
        assert_eq!(&one[18 * SECTOR..18 * SECTOR + 6], b"\xffCD001");
    }
}

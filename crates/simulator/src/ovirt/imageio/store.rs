//! Where disk images are kept: one file per image in a directory, and only for images that were ever written.
//!
//! An image has one of two faces at a time: the data that its guest sees (`<id>.raw`), or the bytes of a qcow2 file
//! (`<id>.qcow2`), as an upload brought them. It is converted when a transfer asks for the other face, so bytes that went
//! in come out unchanged as long as nobody asks for anything else.
//!
//! Copies share their file with the original until one of them is written to. So copying a disk, which is what making
//! templates and machines consists of, takes no time and no space, and no copy depends on its original staying around.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::image::{Image, Spec};
use super::images::Images;
use super::qcow2::{self, Header, Qcow2Error};
use super::sparse;

/// How the data of a disk or of a transfer is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The data that the guest sees.
    Raw,
    /// A qcow2 file.
    Cow,
}

impl Format {
    /// As QEMU calls it.
    fn qemu_name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Cow => "qcow2",
        }
    }
}

/// What went wrong with an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file system failed.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// The bytes are not the image that they should be.
    #[error("image {image} cannot be used as qcow2")]
    Qcow2 {
        /// The image.
        image: Uuid,
        /// Why.
        #[source]
        source: Qcow2Error,
    },
    /// An uploaded image has another format than its disk.
    #[error("the format of image {image} is {found}, while its disk has the format {expected}")]
    WrongFormat {
        /// The image.
        image: Uuid,
        /// What was uploaded, as QEMU calls it.
        found: &'static str,
        /// What the disk was created as, as QEMU calls it.
        expected: &'static str,
    },
}

/// The images of an engine, as sparse files.
#[derive(Debug)]
pub struct ImageStore {
    dir: PathBuf,
    /// Removes the directory at the end, if nobody asked to keep it.
    _temporary: Option<tempfile::TempDir>,
    /// Held while files change their names. Never held while data is copied.
    names: Mutex<()>,
    /// One per image that was ever transferred, held while it is converted or stops sharing its file, so that two
    /// connections do not both do it and connections to other images do not wait for it.
    conversions: Mutex<HashMap<Uuid, Arc<Mutex<()>>>>,
}

impl ImageStore {
    /// Keeps images in `dir`, which is created if it is missing. What a crash left half done there is removed.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, ImageError> {
        let dir = dir.into();
        fs::create_dir_all(&dir).map_err(failed("create", &dir))?;
        for entry in fs::read_dir(&dir).map_err(failed("list", &dir))? {
            let path = entry.map_err(failed("list", &dir))?.path();
            if path.extension().is_some_and(|extension| extension == "new") {
                remove_file(&path)?;
            }
        }
        Ok(Self { dir, _temporary: None, names: Mutex::default(), conversions: Mutex::default() })
    }

    /// Keeps images in a directory that is removed when the store is dropped.
    pub fn temporary() -> Result<Self, ImageError> {
        let made = tempfile::Builder::new().prefix("landfall-sim-images-").tempdir();
        let temporary = made.map_err(failed("create a directory in", &std::env::temp_dir()))?;
        let store = Self::open(temporary.path())?;
        Ok(Self { _temporary: Some(temporary), ..store })
    }

    /// Opens an image for a transfer, converting it first if it has the other face or shares its file.
    ///
    /// May take as long as copying the image takes.
    pub(crate) fn image(&self, image: Uuid, spec: Spec) -> Result<Image, ImageError> {
        let conversion = lock(&self.conversions).entry(image).or_default().clone();
        let _converting = lock(&conversion);
        let face = Face::of(spec.transfer_format);
        match face {
            Face::Guest => self.show_guest(image)?,
            Face::Bytes => self.show_bytes(image, spec)?,
        }
        let path = self.path(image, face);
        if spec.write {
            self.unshare(&path)?;
        }
        // The blank disk: only the first write makes a file of it.
        let mut open = OpenOptions::new();
        let open = open.read(true).write(spec.write).create(spec.write).truncate(false);
        let file = match open.open(&path) {
            Ok(file) => Some(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(failed("open", &path)(source)),
        };
        Ok(Image::new(file, spec))
    }

    /// Makes the guest's data the current face.
    fn show_guest(&self, image: Uuid) -> Result<(), ImageError> {
        let (from, to) = (self.path(image, Face::Bytes), self.path(image, Face::Guest));
        if !from.exists() {
            return Ok(());
        }
        let source = open(&from)?;
        self.replace(image, Some(&from), &to, |new| qcow2::import(&source, new))
    }

    /// Makes the bytes of the image file the current face.
    fn show_bytes(&self, image: Uuid, spec: Spec) -> Result<(), ImageError> {
        let (from, to) = (self.path(image, Face::Guest), self.path(image, Face::Bytes));
        let virtual_size = spec.virtual_size;
        if to.exists() {
            // Those of a disk that was grown since have to say so. Those of an upload under way are left alone.
            match Header::read(&open(&to)?) {
                Ok(header) if header.virtual_size < virtual_size && !spec.write => self.show_guest(image)?,
                _ => return Ok(()),
            }
        }
        let source = if from.exists() { Some(open(&from)?) } else { None };
        self.replace(image, source.is_some().then_some(&from), &to, |new| {
            qcow2::export(source.as_ref(), virtual_size, new)
        })
    }

    /// Gives `path` a file of its own if it shares one with a copy.
    fn unshare(&self, path: &Path) -> Result<(), ImageError> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.nlink() > 1 => {
                let shared = open(path)?;
                let new = Replacement::create(path)?;
                sparse::copy(&shared, &new.file).map_err(failed("write", &new.path))?;
                let _names = lock(&self.names);
                if path.exists() { new.put_in_place(path) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Fills a new file and puts it at `to` instead of the one at `from`, unless the image was removed meanwhile.
    fn replace(
        &self,
        image: Uuid,
        from: Option<&PathBuf>,
        to: &Path,
        fill: impl FnOnce(&File) -> Result<(), Qcow2Error>,
    ) -> Result<(), ImageError> {
        let new = Replacement::create(to)?;
        fill(&new.file).map_err(|source| ImageError::Qcow2 { image, source })?;
        let _names = lock(&self.names);
        match from {
            None => new.put_in_place(to),
            Some(from) if from.exists() => {
                new.put_in_place(to)?;
                remove_file(from)
            }
            Some(_) => Ok(()),
        }
    }

    fn path(&self, image: Uuid, face: Face) -> PathBuf {
        self.dir.join(format!("{image}.{}", face.extension()))
    }
}

impl Images for ImageStore {
    fn copy(&self, from: Uuid, to: Uuid) -> Result<(), ImageError> {
        let _names = lock(&self.names);
        for face in Face::ALL {
            remove_file(&self.path(to, face))?;
            let (source, path) = (self.path(from, face), self.path(to, face));
            match fs::hard_link(&source, &path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                // Too many copies, or a file system that cannot share files.
                Err(_) => {
                    let new = Replacement::create(&path)?;
                    sparse::copy(&open(&source)?, &new.file).map_err(failed("write", &new.path))?;
                    new.put_in_place(&path)?;
                }
            }
        }
        Ok(())
    }

    fn remove(&self, image: Uuid) -> Result<(), ImageError> {
        lock(&self.conversions).remove(&image);
        let _names = lock(&self.names);
        Face::ALL.into_iter().try_for_each(|face| remove_file(&self.path(image, face)))
    }

    fn allocated(&self, image: Uuid) -> Result<u64, ImageError> {
        Face::ALL.into_iter().try_fold(0, |sum, face| {
            let path = self.path(image, face);
            let allocated = match File::open(&path) {
                Ok(file) => sparse::allocated(&file),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
                Err(e) => Err(e),
            };
            Ok(sum + allocated.map_err(failed("measure", &path))?)
        })
    }

    fn verify(&self, image: Uuid, disk_format: Format) -> Result<Option<u64>, ImageError> {
        let bytes = self.path(image, Face::Bytes);
        let wrong = |found: Format| ImageError::WrongFormat {
            image,
            found: found.qemu_name(),
            expected: disk_format.qemu_name(),
        };
        let (path, face) =
            if bytes.exists() { (bytes, Face::Bytes) } else { (self.path(image, Face::Guest), Face::Guest) };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed("open", &path)(source)),
        };
        let probed = Header::probe(&file).map_err(failed("read", &path))?;
        match (disk_format, face, probed) {
            // A host wrote the image file around the guest's data, so that data may look like anything.
            (Format::Cow, Face::Guest, _) | (Format::Raw, _, false) => Ok(None),
            (Format::Raw, _, true) => Err(wrong(Format::Cow)),
            (Format::Cow, Face::Bytes, false) => Err(wrong(Format::Raw)),
            (Format::Cow, Face::Bytes, true) => match Header::read(&file) {
                Ok(header) => Ok(Some(header.virtual_size)),
                Err(source) => Err(ImageError::Qcow2 { image, source }),
            },
        }
    }
}

/// What the file of an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    Guest,
    Bytes,
}

impl Face {
    const ALL: [Self; 2] = [Self::Guest, Self::Bytes];

    fn of(transfer_format: Format) -> Self {
        match transfer_format {
            Format::Raw => Self::Guest,
            Format::Cow => Self::Bytes,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Guest => "raw",
            Self::Bytes => "qcow2",
        }
    }
}

/// A file that takes the place of another one when it is complete, and goes away if it never is.
struct Replacement {
    path: PathBuf,
    file: File,
}

impl Replacement {
    fn create(target: &Path) -> Result<Self, ImageError> {
        let mut name = target.as_os_str().to_owned();
        name.push(".new");
        let path = PathBuf::from(name);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        match opened {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(failed("create", &path)(source)),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a simulated disk, as durable as the simulator")]
    fn put_in_place(&self, target: &Path) -> Result<(), ImageError> {
        fs::rename(&self.path, target).map_err(failed("rename", &self.path))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After a rename there is nothing left under this name.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> Result<File, ImageError> {
    File::open(path).map_err(failed("open", path))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ImageError {
    move |source| ImageError::File { action, path: path.to_owned(), source }
}

/// Removes a file that may not exist.
fn remove_file(path: &Path) -> Result<(), ImageError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(e)),
        _ => Ok(()),
    }
}

/// The locks protect files, not memory, so a panic elsewhere does not spoil them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 20;

    struct Bench {
        dir: tempfile::TempDir,
        store: ImageStore,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let store = ImageStore::open(dir.path()).unwrap();
            Self { dir, store }
        }

        fn open(&self, image: Uuid, transfer_format: Format, write: bool) -> Image {
            let spec = Spec { virtual_size: SIZE, disk_format: Format::Cow, transfer_format, write };
            self.store.image(image, spec).unwrap()
        }

        fn write(&self, image: Uuid, offset: u64, data: &[u8]) {
            self.open(image, Format::Raw, true).write(offset, data).unwrap();
        }

        fn guest(&self, image: Uuid) -> Vec<u8> {
            all(&self.open(image, Format::Raw, false))
        }

        fn files(&self) -> Vec<String> {
            let names = fs::read_dir(self.dir.path()).unwrap();
            let mut names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    fn all(image: &Image) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(image.size().unwrap()).unwrap()];
        image.read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_blank_disk_needs_no_file() {
        let bench = Bench::new();
        let image = bench.open(Uuid::new_v4(), Format::Raw, false);
        assert_eq!(all(&image), vec![0; 1 << 20]);
        assert_eq!(image.extents().unwrap(), [sparse::Extent { start: 0, length: SIZE, zero: true, hole: true }]);
        assert_eq!(bench.files(), Vec::<String>::new());
    }

    #[test]
    fn a_blank_qcow2_disk_has_an_image_file_with_its_size() {
        let bench = Bench::new();
        let id = Uuid::new_v4();
        drop(bench.open(id, Format::Cow, false));
        assert_eq!(bench.store.verify(id, Format::Cow).unwrap(), Some(SIZE));
    }

    #[test]
    fn copies_share_until_one_is_written() {
        let bench = Bench::new();
        let (template, machine) = (Uuid::new_v4(), Uuid::new_v4());
        bench.write(template, 0, b"template");
        bench.store.copy(template, machine).unwrap();
        assert_eq!(bench.guest(machine), bench.guest(template));
        bench.write(machine, 0, b"machine!");
        assert!(bench.guest(machine).starts_with(b"machine!"));
        assert!(bench.guest(template).starts_with(b"template"));
        bench.store.remove(template).unwrap();
        assert!(bench.guest(machine).starts_with(b"machine!"));
        assert_eq!(bench.files(), [format!("{machine}.raw")]);
    }

    #[test]
    fn copying_a_blank_disk_over_another_leaves_it_blank() {
        let bench = Bench::new();
        let (blank, other) = (Uuid::new_v4(), Uuid::new_v4());
        bench.write(other, 0, b"old");
        bench.store.copy(blank, other).unwrap();
        assert_eq!(bench.guest(other), vec![0; 1 << 20]);
    }

    #[test]
    fn bytes_go_in_and_come_out_unchanged_until_the_guest_view_is_asked_for() {
        let bench = Bench::new();
        let (source, target) = (Uuid::new_v4(), Uuid::new_v4());
        bench.write(source, 5000, b"hello");
        let file = all(&bench.open(source, Format::Cow, false));
        bench.open(target, Format::Cow, true).write(0, &file).unwrap();
        assert_eq!(all(&bench.open(target, Format::Cow, false)), file);
        let guest = bench.guest(target);
        assert_eq!((guest.len(), &guest[5000..5005]), (1 << 20, &b"hello"[..]));
        assert_eq!(bench.files().len(), 2, "a face replaces the other");
    }

    #[test]
    fn a_grown_disk_says_so_in_its_image_file() {
        let bench = Bench::new();
        let id = Uuid::new_v4();
        drop(bench.open(id, Format::Cow, false));
        let grown =
            Spec { virtual_size: 3 * SIZE, disk_format: Format::Cow, transfer_format: Format::Cow, write: false };
        drop(bench.store.image(id, grown).unwrap());
        assert_eq!(bench.store.verify(id, Format::Cow).unwrap(), Some(3 * SIZE));
    }

    #[test]
    fn an_upload_under_way_is_not_converted() {
        let bench = Bench::new();
        let (small, id) = (Uuid::new_v4(), Uuid::new_v4());
        let spec = Spec { virtual_size: 512, disk_format: Format::Cow, transfer_format: Format::Cow, write: false };
        let header = all(&bench.store.image(small, spec).unwrap());
        bench.open(id, Format::Cow, true).write(0, &header[..200]).unwrap();
        let again = bench.open(id, Format::Cow, true);
        let mut start = [0; 200];
        again.read(0, &mut start).unwrap();
        assert_eq!(start, header[..200]);
    }

    #[test]
    fn verification_compares_the_first_bytes_with_the_format_of_the_disk() {
        let bench = Bench::new();
        let id = Uuid::new_v4();
        assert_eq!(bench.store.verify(id, Format::Raw).unwrap(), None);
        bench.write(id, 0, b"QFI\xfb and so on");
        assert!(matches!(
            bench.store.verify(id, Format::Raw),
            Err(ImageError::WrongFormat { found: "qcow2", expected: "raw", .. })
        ));
        assert_eq!(bench.store.verify(id, Format::Cow).unwrap(), None, "a guest may write what it likes");

        let junk = Uuid::new_v4();
        bench.open(junk, Format::Cow, true).write(0, b"<html>").unwrap();
        assert!(matches!(
            bench.store.verify(junk, Format::Cow),
            Err(ImageError::WrongFormat { found: "raw", expected: "qcow2", .. })
        ));
    }

    #[test]
    fn an_image_that_names_a_backing_file_is_refused() {
        let bench = Bench::new();
        let id = Uuid::new_v4();
        bench.open(id, Format::Cow, true).write(8, &200u64.to_be_bytes()).unwrap();
        let refused = bench.store.verify(id, Format::Cow);
        assert!(matches!(refused, Err(ImageError::Qcow2 { source: Qcow2Error::BackingFile, .. })), "{refused:?}");
    }

    #[test]
    fn half_done_conversions_are_removed_at_the_start() {
        let bench = Bench::new();
        let id = Uuid::new_v4();
        bench.write(id, 0, b"kept");
        fs::write(bench.dir.path().join(format!("{id}.raw.new")), b"half").unwrap();
        let again = ImageStore::open(bench.dir.path()).unwrap();
        assert_eq!(bench.files(), [format!("{id}.raw")]);
        assert!(again.allocated(id).unwrap() > 0);
    }

    #[test]
    fn only_a_transfer_that_may_write_can() {
        let bench = Bench::new();
        let id = Uuid::new_v4();
        bench.write(id, 0, b"x");
        let error = bench.open(id, Format::Raw, false).write(0, b"y").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}

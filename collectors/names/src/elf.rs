//! ELF files: an object, and what holds its debugging information, which may be another file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use gimli::{EndianSlice, LittleEndian};
use memmap2::Mmap;
use object::{CompressionFormat, Object, ObjectSection};
use trackway_trace::open_regular;

use crate::segments::Segments;

/// Debugging information in mapped or decompressed sections.
pub type Bytes<'d> = EndianSlice<'d, LittleEndian>;
pub type Dwarf<'d> = gimli::Dwarf<Bytes<'d>>;

/// Where distributions put debugging information that they strip off.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The mapped files of an object.
pub struct Files {
    object: Mmap,
    /// What was stripped off.
    debug: Option<Mmap>,
    /// What several files of debugging information share.
    shared: Option<Mmap>,
}

impl Files {
    pub fn open(path: &str) -> Result<Self, String> {
        let path = Path::new(path);
        let object = map(path).map_err(|error| error.to_string())?;
        let debug = parse(&object)
            .ok()
            .filter(|file| !has_debug_info(file))
            .and_then(|file| debug_candidates(path, &file).into_iter().find_map(usable));
        let shared = shared_candidates(path, debug.as_ref().unwrap_or(&object));
        Ok(Files {
            shared: shared.into_iter().find_map(|path| map(&path).ok()),
            object,
            debug,
        })
    }
}

fn map(path: &Path) -> std::io::Result<Mmap> {
    // The program may have said which file it is.
    let file = open_regular(path)?;
    // SAFETY: the map is only read. A file that is cut meanwhile would end this process, as with every mapping; who
    // replaces a program makes a new file.
    unsafe { Mmap::map(&file) }
}

fn parse(bytes: &[u8]) -> Result<object::File<'_>, String> {
    let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
    match file.is_64() && file.is_little_endian() {
        true => Ok(file),
        false => Err("it is for another processor".into()),
    }
}

fn has_debug_info(file: &object::File) -> bool {
    file.section_by_name(".debug_info").is_some()
}

fn usable(path: PathBuf) -> Option<Mmap> {
    let bytes = map(&path).ok()?;
    let holds = parse(&bytes).is_ok_and(|file| has_debug_info(&file));
    holds.then_some(bytes)
}

/// Where stripped information may be: by the build's id, then by name beside the object.
fn debug_candidates(path: &Path, file: &object::File) -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    if let Ok(Some(id)) = file.build_id() {
        candidates.extend(by_build_id(id));
    }
    if let Ok(Some((name, _))) = file.gnu_debuglink() {
        if let (Ok(name), Some(folder)) = (std::str::from_utf8(name), path.parent()) {
            candidates.push(folder.join(name));
            candidates.push(folder.join(".debug").join(name));
            let below = folder.strip_prefix("/").unwrap_or(folder);
            candidates.push(Path::new(DEBUG_FOLDER).join(below).join(name));
        }
    }
    candidates
}

fn by_build_id(id: &[u8]) -> Option<PathBuf> {
    let digits = trackway_trace::hexadecimal(id);
    let (folder, name) = digits.split_at_checked(2)?;
    Some(Path::new(DEBUG_FOLDER).join(format!(".build-id/{folder}/{name}.debug")))
}

fn shared_candidates(path: &Path, debug: &[u8]) -> Vec<PathBuf> {
    let Some((name, id)) = parse(debug).ok().and_then(|file| {
        file.gnu_debugaltlink()
            .ok()
            .flatten()
            .map(|(name, id)| (name.to_vec(), id.to_vec()))
    }) else {
        return Vec::new();
    };
    let mut candidates: Vec<PathBuf> = by_build_id(&id).into_iter().collect();
    if let (Ok(name), Some(folder)) = (String::from_utf8(name), path.parent()) {
        candidates.push(folder.join(name));
    }
    candidates
}

/// Keeps sections that had to be decompressed.
#[derive(Default)]
pub struct Sections(RefCell<Vec<Box<[u8]>>>);

impl Sections {
    fn keep(&self, bytes: Vec<u8>) -> &[u8] {
        let kept: Box<[u8]> = bytes.into();
        let (start, length) = (kept.as_ptr(), kept.len());
        self.0.borrow_mut().push(kept);
        // SAFETY: the box is neither changed nor dropped before `self`, and its bytes stay where they are.
        unsafe { std::slice::from_raw_parts(start, length) }
    }

    pub fn load<'d>(&'d self, file: &object::File<'d>, name: &str) -> Bytes<'d> {
        let bytes = file.section_by_name(name).and_then(|section| {
            let data = section.compressed_data().ok()?;
            match data.format {
                CompressionFormat::None => Some(data.data),
                _ => Some(self.keep(data.decompress().ok()?.into_owned())),
            }
        });
        EndianSlice::new(bytes.unwrap_or_default(), LittleEndian)
    }
}

/// The parsed files of an object.
pub struct ElfFile<'d> {
    pub object: object::File<'d>,
    pub debug: Option<object::File<'d>>,
    shared: Option<object::File<'d>>,
    first_address: u64,
}

impl<'d> ElfFile<'d> {
    pub fn parse(files: &'d Files) -> Result<Self, String> {
        let object = parse(&files.object)?;
        let other = |bytes: &'d Option<Mmap>| bytes.as_ref().and_then(|bytes| parse(bytes).ok());
        Ok(ElfFile {
            first_address: Segments::of(&object).first_address(),
            object,
            debug: other(&files.debug),
            shared: other(&files.shared),
        })
    }

    /// The address in the file that offset 0 stands for: where its first page is loaded.
    pub fn first_address(&self) -> u64 {
        self.first_address
    }

    pub fn dwarf(&self, sections: &'d Sections) -> Dwarf<'d> {
        let file = self.debug.as_ref().unwrap_or(&self.object);
        let load = |file: &object::File<'d>, id: gimli::SectionId| {
            Ok::<_, gimli::Error>(sections.load(file, id.name()))
        };
        let mut dwarf = Dwarf::load(|id| load(file, id)).unwrap_or_default();
        if let Some(shared) = &self.shared {
            // Loading from memory can't fail.
            let _ = dwarf.load_sup(|id| load(shared, id));
        }
        dwarf
    }
}

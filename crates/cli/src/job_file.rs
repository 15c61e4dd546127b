//! Files that lines are added to, and which of them are the same file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file, or a device, that lines for `overtake run` are added to.
#[derive(Debug)]
pub(crate) struct JobFile {
    file: File,
    is_regular: bool,
}

impl JobFile {
    /// Opens it, or makes it. If its last line has no end, it gets one: it must not become one
    /// line with what is added.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        let is_regular = file.metadata()?.is_file();
        if is_regular && is_cut_off(path)? {
            file.write_all(b"\n")?;
        }
        Ok(Self { file, is_regular })
    }

    /// Adds lines. Once this returns they outlive a crash, as far as the file can.
    pub(crate) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        if self.is_regular { self.file.sync_data() } else { Ok(()) }
    }
}

fn is_cut_off(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// What tells files apart, whatever they are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Inode {
        device: u64,
        inode: u64,
    },
    /// It is not there yet.
    Place(PathBuf),
}

impl Identity {
    /// That of an open file; `None` for pipes and devices, which may have more than one use.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        let inode = Self::Inode { device: metadata.dev(), inode: metadata.ino() };
        metadata.is_file().then_some(inode)
    }

    /// That of what is, or would be made, at `path`.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(metadata) => Self::of(&metadata),
            Err(_) => {
                let folder = match path.parent() {
                    Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
                    Some(folder) => folder,
                    None => return None,
                };
                let folder = fs::canonicalize(folder).ok()?;
                Some(Self::Place(folder.join(path.file_name()?)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_stays_a_line_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("jobs");
        for (before, after) in
            [("", "added\n"), ("whole\n", "whole\nadded\n"), ("cut", "cut\nadded\n")]
        {
            fs::write(&path, before).expect("written");
            JobFile::open(&path).expect("opened").append(b"added\n").expect("added");
            assert_eq!(fs::read_to_string(&path).expect("read"), after);
        }
    }

    #[test]
    fn a_file_has_one_identity_under_all_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        assert_eq!(Identity::at(&path("new")), Identity::at(&path("./new")));
        assert_ne!(Identity::at(&path("new")), Identity::at(&path("other")));
        fs::write(path("file"), "").expect("written");
        fs::hard_link(path("file"), path("hard")).expect("linked");
        std::os::unix::fs::symlink(path("file"), path("soft")).expect("linked");
        let file = Identity::at(&path("file"));
        assert!(file.is_some());
        assert_eq!(Identity::at(&path("hard")), file);
        assert_eq!(Identity::at(&path("soft")), file);
        assert_eq!(Identity::at(Path::new("/dev/null")), None);
    }
}

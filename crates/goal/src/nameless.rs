//! Files without a name, which vanish when they are closed. In a page, which has no files, they are
//! memory.

pub use place::{TemporaryFile, nameless};

#[cfg(not(target_family = "wasm"))]
mod place {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    #[cfg(unix)]
    use std::os::unix::fs::OpenOptionsExt;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The content.
    pub type TemporaryFile = File;

    /// A new file in the temporary folder.
    pub fn nameless() -> io::Result<TemporaryFile> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = std::env::temp_dir();
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("elanite-goal-{}-{count}", std::process::id()));
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            // Other users of the folder can guess the name, and may not open the file while it has
            // one.
            #[cfg(unix)]
            options.mode(0o600);
            match options.open(&path) {
                Ok(file) => {
                    fs::remove_file(&path)?;
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(target_family = "wasm")]
mod place {
    use std::io::{self, Cursor};

    /// The content.
    pub type TemporaryFile = Cursor<Vec<u8>>;

    /// New memory.
    pub fn nameless() -> io::Result<TemporaryFile> {
        Ok(Cursor::default())
    }
}

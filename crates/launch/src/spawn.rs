//! Requests for more ranks (`MPI_Comm_spawn`), as lines.
//!
//! A request has a part for each program: `mcmd=spawn`, a line `key=value` for each word, and
//! `endcmd`. A value is the rest of its line, and may contain spaces. The first part has the values
//! that the parents put into the new ranks' key-value space.
//!
//! | key | value |
//! |---|---|
//! | `nprocs`, `execname`, `argcnt`, `arg1`, ... | how many ranks; their program and its arguments |
//! | `totspawns`, `spawnssofar` | how many parts there are; which one this is, from 1 on |
//! | `preput_num`, `preput_key_0`, `preput_val_0`, ... | values for the key-value space |
//! | `info_num`, `info_key_0`, `info_val_0`, ... | `MPI_Info`: `wdir` and `path` have a meaning here |

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The maximum length of a request in bytes.
pub const MOST: usize = 1 << 20;

/// The most ranks in a part: more than any run has.
const RANKS: u32 = 1 << 20;

/// Ranks that run one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRanks {
    /// The program, and its arguments.
    pub words: Vec<OsString>,
    /// How many ranks run it.
    pub ranks: u32,
    /// The folder in which they start, if not in the process manager's.
    pub folder: Option<PathBuf>,
}

/// A request for more ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spawn {
    /// The programs.
    pub parts: Vec<ProgramRanks>,
    /// Keys and values that the ranks find in their key-value space.
    pub values: Vec<(String, String)>,
}

impl Spawn {
    /// How many ranks start.
    pub fn ranks(&self) -> u32 {
        self.parts.iter().map(|part| part.ranks).sum()
    }
}

/// The lines of a request so far.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    spawn: Spawn,
    /// The words in the current part.
    words: HashMap<String, String>,
    bytes: usize,
}

impl Lines {
    /// Adds a line. Returns whether the request is whole.
    ///
    /// # Errors
    ///
    /// A key that the part lacks, or that has a meaningless value.
    pub fn add(&mut self, line: &str) -> Result<bool, &'static str> {
        self.bytes += line.len();
        if self.bytes > MOST {
            return Err("an end");
        }
        if let Some((key, value)) = line.split_once('=') {
            self.words.insert(key.into(), value.into());
        }
        if line != "endcmd" {
            return Ok(false);
        }
        self.end()?;
        let [so_far, total] = [self.number("spawnssofar"), self.number("totspawns")];
        self.words.clear();
        Ok(so_far >= total)
    }

    /// The request, which is whole.
    pub fn take(&mut self) -> Spawn {
        std::mem::take(self).spawn
    }

    fn number(&self, key: &str) -> u32 {
        let value = self.words.get(key);
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    fn word(&self, key: &str) -> Option<&str> {
        self.words.get(key).map(String::as_str)
    }

    /// A list's pairs: `kind_key_0`, `kind_val_0`, and so on.
    fn pairs(&self, kind: &str) -> impl Iterator<Item = (&str, &str)> {
        let count = self.number(&format!("{kind}_num"));
        (0..count).map_while(move |number| {
            let word = |what| self.word(&format!("{kind}_{what}_{number}"));
            Some((word("key")?, word("val")?))
        })
    }

    /// A part has come.
    fn end(&mut self) -> Result<(), &'static str> {
        let program = self.word("execname").ok_or("execname")?;
        let ranks = self.number("nprocs");
        if ranks == 0 || ranks > RANKS {
            return Err("nprocs");
        }
        let info = |wanted: &str| self.pairs("info").find(|&(key, _)| key == wanted);
        let folder = info("wdir").map(|(_, folder)| PathBuf::from(folder));
        let path = info("path").map_or("", |(_, path)| path);
        let arguments = (1..=self.number("argcnt")).map_while(|number| {
            let argument = self.word(&format!("arg{number}"))?;
            Some(argument.into())
        });
        let first = find(program, path, folder.as_deref());
        let part = ProgramRanks {
            words: std::iter::once(first).chain(arguments).collect(),
            ranks,
            folder,
        };
        let values = self.pairs("preput");
        let values: Vec<_> = values
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        self.spawn.parts.push(part);
        self.spawn.values.extend(values);
        Ok(())
    }
}

/// A program's file: a path stays; a name is a file in one of `path`'s folders, or in the folder in
/// which the ranks start, or else one that the system looks for in `PATH`.
fn find(program: &str, path: &str, folder: Option<&Path>) -> OsString {
    let folder = folder.unwrap_or(Path::new("."));
    let folders = path.split(':').filter(|folder| !folder.is_empty());
    let mut folders = folders.map(Path::new).chain([folder]);
    let is_name = !program.contains('/');
    let found = folders.find(|folder| is_name && folder.join(program).is_file());
    found.map_or(program.into(), |folder| folder.join(program).into())
}

//! Named entries that programs add to a list in this crate or in one above: external rules.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Entries by name. A program fills the list before it reads the first file.
#[derive(Debug)]
pub struct Registry<T>(RwLock<BTreeMap<&'static str, T>>);

impl<T: Copy> Registry<T> {
    /// An empty list.
    #[expect(clippy::new_without_default, reason = "a static has no default")]
    pub const fn new() -> Self {
        Registry(RwLock::new(BTreeMap::new()))
    }

    /// Adds an entry, in place of an earlier one with the same name.
    pub fn add(&self, name: &'static str, entry: T) {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        entries.insert(name, entry);
    }

    /// The entry with a name.
    ///
    /// # Errors
    /// All names in alphabetical order, if this is not among them.
    pub fn get(&self, name: &str) -> Result<T, Vec<&'static str>> {
        let entries = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = entries.get(name).copied();
        found.ok_or_else(|| entries.keys().copied().collect())
    }
}

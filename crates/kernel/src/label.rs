//! Labels: what a task is called in reports.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// The name of a task. Clones are the same label: a task that keeps one can say in it what it waits for, and a report of
/// a deadlock shows what it said last.
#[derive(Clone, Default)]
pub struct Label {
    text: Rc<RefCell<String>>,
}

impl Label {
    /// A label with a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: Rc::new(RefCell::new(text.into())),
        }
    }

    /// Replaces the text; returns the one before.
    pub fn set(&self, text: impl Into<String>) -> String {
        self.text.replace(text.into())
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.borrow().clone()
    }
}

impl<T: Into<String>> From<T> for Label {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Label").field(&self.text.borrow()).finish()
    }
}

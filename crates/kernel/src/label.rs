//! Labels: the names of tasks in reports.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// The name of a task. Clones are the same label: a task that keeps its label can say in it what the task waits for, and a
/// report of a deadlock shows the last text. A label that is made of a literal takes no memory, and its text never changes.
#[derive(Clone)]
pub struct Label(Text);

#[derive(Clone)]
enum Text {
    Fixed(&'static str),
    Shared(Rc<RefCell<String>>),
}

impl Label {
    /// A label with a text that can be replaced.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Text::Shared(Rc::new(RefCell::new(text.into()))))
    }

    /// Replaces the text, unless it is a literal; returns the text before.
    pub fn set(&self, text: impl Into<String>) -> String {
        match &self.0 {
            Text::Fixed(text) => (*text).to_string(),
            Text::Shared(shared) => shared.replace(text.into()),
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.0 {
            Text::Fixed(text) => (*text).to_string(),
            Text::Shared(shared) => shared.borrow().clone(),
        }
    }
}

impl From<&'static str> for Label {
    fn from(text: &'static str) -> Self {
        Self(Text::Fixed(text))
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Label").field(&self.text()).finish()
    }
}

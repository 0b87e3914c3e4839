//! Labels: task names in reports.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::rc::Rc;

/// A task's name in reports. Clones are the same label: a task that keeps its label can add its
/// current activity, and a deadlock report shows this behind the name. A label made from a literal
/// takes no memory, and has only the name.
#[derive(Clone)]
pub struct Label(Name);

#[derive(Clone)]
enum Name {
    Fixed(&'static str),
    Shared(Rc<Shared>),
}

struct Shared {
    name: String,
    /// The task's activity, and its inner activities. They are formatted when a report needs them.
    doing: RefCell<Vec<Box<dyn Display>>>,
}

impl Label {
    /// A label that can hold its task's activity.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let (name, doing) = (name.into(), RefCell::default());
        Self(Name::Shared(Rc::new(Shared { name, doing })))
    }

    /// The task begins an activity, within its present one.
    pub fn begin(&self, what: impl Display + 'static) {
        if let Name::Shared(shared) = &self.0 {
            shared.doing.borrow_mut().push(Box::new(what));
        }
    }

    /// The task ends the activity that it began last.
    pub fn end(&self) {
        if let Name::Shared(shared) = &self.0 {
            let done = shared.doing.borrow_mut().pop();
            drop(done);
        }
    }

    /// The name, and the task's activity.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.0 {
            Name::Fixed(name) => (*name).to_string(),
            Name::Shared(shared) => {
                let doing = shared.doing.borrow();
                let doing = doing.iter().map(|what| format!(": {what}"));
                std::iter::once(shared.name.clone()).chain(doing).collect()
            }
        }
    }
}

impl From<&'static str> for Label {
    fn from(name: &'static str) -> Self {
        Self(Name::Fixed(name))
    }
}

impl From<String> for Label {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Label").field(&self.text()).finish()
    }
}

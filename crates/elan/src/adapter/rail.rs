//! An adapter's rail: whether its network works.

use kernel::Signal;

/// An adapter's view of its rail.
pub(crate) struct RailState {
    pub is_down: bool,
    /// Whether the rail as a whole is down, and not only the adapter.
    pub whole: bool,
    /// How often the rail has failed.
    pub failures: u32,
    /// Set while the rail is down, and while it works.
    pub down: Signal,
    pub up: Signal,
}

impl RailState {
    /// A rail that works.
    pub fn new() -> Self {
        RailState {
            is_down: false,
            whole: false,
            failures: 0,
            down: Signal::new(),
            up: Signal::counted(0),
        }
    }

    /// The rail fails, unless it is down.
    pub fn fail(&mut self) {
        if self.is_down {
            return;
        }
        self.is_down = true;
        self.failures += 1;
        // A signal that has been set once is set by one firing.
        self.up = Signal::new();
        self.down.fire();
    }

    /// The rail works again, unless it does.
    pub fn repair(&mut self) {
        if !self.is_down {
            return;
        }
        self.is_down = false;
        self.down.reset();
        self.up.fire();
    }
}

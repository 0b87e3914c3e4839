//! The flag that ends simulations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// A flag that stops every simulation that was started with it.
#[pyclass(frozen, module = "elanite._core")]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// The flag itself.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Cancel(Arc::new(AtomicBool::new(false)))
    }

    /// Stops these simulations.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether these simulations are to stop.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

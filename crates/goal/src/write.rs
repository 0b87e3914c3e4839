//! A whole trace as text, from its ranks' schedules.

use crate::{Schedule, TraceNotes};
use std::io::{self, Write};

/// Writes the trace with these schedules for its ranks, and its notes; each line in the head becomes
/// a comment.
///
/// # Errors
/// If it cannot be written.
pub fn write_text(
    to: &mut dyn Write,
    head: &str,
    ranks: &[Schedule],
    notes: &TraceNotes,
) -> io::Result<()> {
    for line in head.lines() {
        writeln!(to, "// {line}")?;
    }
    for note in notes.to_string().lines() {
        writeln!(to, "//@ {note}")?;
    }
    writeln!(to, "num_ranks {}", ranks.len())?;
    for (rank, schedule) in ranks.iter().enumerate() {
        writeln!(to, "rank {rank} {{\n{schedule}}}")?;
    }
    to.flush()
}

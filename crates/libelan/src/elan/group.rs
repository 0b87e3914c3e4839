//! Groups of processes, and what they do together.

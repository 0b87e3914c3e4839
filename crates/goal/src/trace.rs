//! A trace on the disk: any operation, from anywhere, in little memory.
//!
//! A text is translated first, into a file without a name that vanishes with the trace; a binary
//! file is copied into such a file, so that the trace cannot be changed once it has been checked.
//! The whole trace is checked before it is returned (`check`).

mod check;

use crate::binary::{MAGIC, NODE, OperationRecord, USED, Writer, long};
use crate::encoding::{MARK, encoding};
use crate::nameless::nameless;
use crate::pages::Pages;
use crate::scan::ScanError;
use crate::text::TextReader;
use crate::{Operation, Scales, Schedule, TraceNotes, TracePlace, TraceProblem};
use check::{LONGEST, check_text};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A trace's totals for a rank.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Where the block begins in the file.
    begin: u64,
    /// And where it ends.
    end: u64,
    /// Operations.
    count: u32,
    roots: u32,
    /// Numbers in the lists.
    listed: u32,
    /// Operations in the text's ranks before.
    before: u64,
    /// The longest message.
    longest: u64,
    /// The largest adapter number.
    nic: u8,
    /// Whether others change words of the rank.
    words: bool,
}

/// A trace.
pub struct Trace {
    file: PathBuf,
    pages: Pages,
    parts: Vec<Part>,
    /// Each operation's line in a text.
    lines: Option<Pages>,
    /// The text's labels that stand at a second operation.
    warnings: Vec<TraceProblem>,
    notes: TraceNotes,
    /// Factors on the file's computation times.
    scales: Scales,
}

/// An operation that depends on another, from the lists in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// It waits for the end.
    End = 0,
    /// It waits for the start.
    Start = 1,
}

impl Trace {
    /// Opens a trace in either form, and checks all of it.
    ///
    /// # Errors
    /// The file's mistake, and its place.
    pub fn open(path: &Path) -> Result<Trace, TraceProblem> {
        let failed =
            |error: io::Error| TraceProblem::new(path, TracePlace::File, error.to_string());
        let mut file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            let what = "a folder; name a file in GOAL, as text or binary";
            return Err(TraceProblem::new(path, TracePlace::File, what));
        }
        let mut first = Vec::new();
        let head = Read::by_ref(&mut file).take(8).read_to_end(&mut first);
        head.map_err(failed)?;
        if let Some(name) = encoding(&first) {
            let what = format!("this is {name}");
            return Err(TraceProblem::new(path, TracePlace::File, what));
        }
        let mark = if first.starts_with(MARK) {
            MARK.len()
        } else {
            0
        };
        file.seek(SeekFrom::Start(mark as u64)).map_err(failed)?;
        let number = (first.len() == 8).then(|| long(&first, 0));
        let trace = match number {
            Some(MAGIC) => {
                let mut copy = nameless().map_err(failed)?;
                io::copy(&mut file, &mut copy).map_err(failed)?;
                Trace {
                    file: path.to_owned(),
                    parts: Vec::new(),
                    pages: Pages::new(copy).map_err(failed)?,
                    lines: None,
                    warnings: Vec::new(),
                    notes: TraceNotes::default(),
                    scales: Scales::default(),
                }
            }
            Some(USED) => {
                let what =
                    "a simulation of LogGOPSim has used this file up; make it again with txt2bin";
                return Err(TraceProblem::new(path, TracePlace::Offset(0), what));
            }
            _ => return Trace::translate(path, file),
        };
        trace.checked()
    }

    /// Makes a trace from schedules, rank by rank: one schedule is in memory at a time. `name`
    /// stands for a file in errors.
    ///
    /// # Errors
    /// If the trace's binary form cannot be written.
    pub fn of(
        name: &str,
        ranks: u32,
        schedule: impl Fn(u32) -> Schedule,
    ) -> Result<Trace, TraceProblem> {
        let path = Path::new(name);
        let failed = |error: io::Error| Trace::no_room(path, &error);
        let to = BufWriter::new(nameless().map_err(failed)?);
        let mut writer = Writer::new(to, ranks).map_err(failed)?;
        for rank in 0..ranks {
            writer.block(rank, &schedule(rank)).map_err(failed)?;
        }
        let file = writer.finish(&TraceNotes::default()).map_err(failed)?;
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        let trace = Trace {
            file: path.to_owned(),
            pages: Pages::new(file).map_err(failed)?,
            parts: Vec::new(),
            lines: None,
            warnings: Vec::new(),
            notes: TraceNotes::default(),
            scales: Scales::default(),
        };
        trace.checked()
    }

    fn no_room(path: &Path, error: &io::Error) -> TraceProblem {
        let folder = std::env::temp_dir();
        let what = format!(
            "the binary form of the trace cannot be written in {}: {error}; TMPDIR names another \
            folder",
            folder.display()
        );
        TraceProblem::new(path, TracePlace::File, what)
    }

    /// Translates a text.
    fn translate(path: &Path, file: File) -> Result<Trace, TraceProblem> {
        let of_disk = |error: io::Error| Trace::no_room(path, &error);
        let wrong = |(place, what): ScanError| TraceProblem::new(path, place, what);
        let length = file.metadata().map_err(of_disk)?.len();
        let mut reader = TextReader::new(file, length).map_err(wrong)?;
        let to = BufWriter::new(nameless().map_err(of_disk)?);
        let mut writer = Writer::new(to, reader.ranks()).map_err(of_disk)?;
        let mut lines = BufWriter::new(nameless().map_err(of_disk)?);
        let mut before = vec![0; reader.ranks() as usize];
        let mut operations = 0;
        while let Some(block) = reader.block().map_err(wrong)? {
            let rank = block.rank;
            if writer.has(rank) {
                let what = format!("rank {rank} has a block already; a rank has one block");
                return Err(TraceProblem::new(path, TracePlace::Line(block.line), what));
            }
            check_text(&block).map_err(wrong)?;
            before[rank as usize] = operations;
            operations += block.lines.len() as u64;
            writer.block(rank, &block.schedule).map_err(of_disk)?;
            for line in block.lines {
                lines.write_all(&line.to_le_bytes()).map_err(of_disk)?;
            }
        }
        if let Some(rank) = writer.lacks() {
            let what = format!(
                "rank {rank} has no block; the file is truncated, or the rank does nothing: write \
                `rank {rank} {{ }}`"
            );
            return Err(TraceProblem::new(path, TracePlace::File, what));
        }
        let file = writer.finish(&reader.notes).map_err(of_disk)?;
        let file = file
            .into_inner()
            .map_err(|error| of_disk(error.into_error()))?;
        let lines = lines
            .into_inner()
            .map_err(|error| of_disk(error.into_error()))?;
        let trace = Trace {
            file: path.to_owned(),
            pages: Pages::new(file).map_err(of_disk)?,
            parts: Vec::new(),
            lines: None,
            warnings: Vec::new(),
            notes: TraceNotes::default(),
            scales: Scales::default(),
        };
        let mut trace = trace.checked()?;
        let (twice, count) = reader.twice;
        let named = twice.len() as u64;
        trace.warnings = twice.into_iter().map(wrong).collect();
        if count > named {
            let what = format!("{} more labels stand at a second operation", count - named);
            let more = TraceProblem::new(path, TracePlace::File, what);
            trace.warnings.push(more);
        }
        trace.lines = Some(Pages::new(lines).map_err(of_disk)?);
        for (part, before) in trace.parts.iter_mut().zip(before) {
            part.before = before;
        }
        Ok(trace)
    }

    /// Multiplies the computation times by factors, rounded to nanoseconds: a replay on faster or
    /// slower processors. Errors still quote the operations of the file, and
    /// [`Trace::write_binary`] still writes them.
    #[must_use]
    pub fn scaled(mut self, scales: Scales) -> Self {
        self.scales = scales;
        self
    }

    /// The computations' regions, and the pace of polls.
    pub fn notes(&self) -> &TraceNotes {
        &self.notes
    }

    /// Writes the trace in the binary form.
    ///
    /// # Errors
    /// If the trace cannot be read, or its copy not be written.
    pub fn write_binary(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let mut piece = vec![0; 1 << 16];
        let length = self.pages.length();
        let mut at = 0;
        while at < length {
            let count = (length - at).min(piece.len() as u64) as usize;
            self.pages.read(at, &mut piece[..count])?;
            to.write_all(&piece[..count])?;
            at += count as u64;
        }
        to.flush()
    }

    /// Labels that stand at a second operation: the text can be read all the same.
    pub fn warnings(&self) -> &[TraceProblem] {
        &self.warnings
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Ranks.
    pub fn ranks(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Operations in all ranks.
    pub fn operations(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.count)).sum()
    }

    /// Operations in a rank.
    pub fn count(&self, rank: u32) -> u32 {
        self.parts[rank as usize].count
    }

    /// The longest message in bytes that a rank sends or receives, or that others store in its
    /// memory or fetch from there.
    pub fn longest(&self, rank: u32) -> u64 {
        self.parts[rank as usize].longest
    }

    /// Whether others change words of a rank.
    pub(crate) fn has_words(&self, rank: u32) -> bool {
        self.parts[rank as usize].words
    }

    /// The largest adapter number that a rank's operations name.
    pub fn nic(&self, rank: u32) -> u8 {
        self.parts[rank as usize].nic
    }

    /// A rank's operation.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn operation(&mut self, rank: u32, operation: u32) -> Result<Operation, TraceProblem> {
        Ok(self.node(rank, operation)?.operation)
    }

    /// A rank's graph, which is then in memory.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn schedule(&mut self, rank: u32) -> Result<Schedule, TraceProblem> {
        let (mut schedule, mut later) = (Schedule::default(), Vec::new());
        for number in 0..self.count(rank) {
            let node = self.node(rank, number)?;
            schedule.add(node.operation);
            for edge in [Edge::End, Edge::Start] {
                later.clear();
                self.later(rank, &node, edge, &mut later)?;
                let dependencies = later
                    .iter()
                    .map(|&later| (later, number, edge == Edge::Start));
                schedule.dependencies.extend(dependencies);
            }
        }
        Ok(schedule)
    }

    /// A problem with an operation, at its line or offset; the operation is quoted.
    pub fn problem(&mut self, rank: u32, operation: u32, what: &str) -> TraceProblem {
        let place = self.place(rank, operation);
        let text = match self.written(rank, operation) {
            Ok(OperationRecord { operation, .. }) => format!(" (`{operation}`)"),
            Err(_) => String::new(),
        };
        let what = format!("rank {rank}, operation {operation}{text}: {what}");
        TraceProblem::new(&self.file, place, what)
    }

    /// Where an operation stands in its file.
    pub(crate) fn place(&mut self, rank: u32, operation: u32) -> TracePlace {
        let part = &self.parts[rank as usize];
        let offset = TracePlace::Offset(part.node(operation));
        match &mut self.lines {
            None => offset,
            Some(lines) => {
                let mut line = [0; 8];
                match lines.read(8 * (part.before + u64::from(operation)), &mut line) {
                    Ok(()) => TracePlace::Line(u64::from_le_bytes(line)),
                    Err(_) => TracePlace::File,
                }
            }
        }
    }

    /// An operation, with its computation time multiplied by its factor.
    pub(crate) fn node(
        &mut self,
        rank: u32,
        operation: u32,
    ) -> Result<OperationRecord, TraceProblem> {
        let mut node = self.written(rank, operation)?;
        if let Some(factor) = self.scales.factor(rank, &node.operation) {
            let scaled = (node.operation.size as f64 * factor).round() as u64;
            if scaled > LONGEST.as_ps() / 1000 {
                let what = format!(
                    "a computation takes at most 100 days; {factor} times this one is longer"
                );
                return Err(self.problem(rank, operation, &what));
            }
            node.operation.size = scaled;
        }
        Ok(node)
    }

    /// An operation as in the file.
    fn written(&mut self, rank: u32, operation: u32) -> Result<OperationRecord, TraceProblem> {
        let at = self.parts[rank as usize].node(operation);
        let mut bytes = [0; NODE as usize];
        self.read(at, &mut bytes)?;
        let mut node = OperationRecord::read(&bytes).map_err(|kind| {
            let what = format!(
                "an operation of kind {kind}; there are 1 (send), 2 (recv), 3 (calc), 4 \
                    (probe), 5 (poll), 6 (put), 7 (get), 8 (atomic), 9 (swap), 10 (active), 11 \
                    (handle) and 12 (await)"
            );
            TraceProblem::new(&self.file, TracePlace::Offset(at + 4), what)
        })?;
        if self.notes.regions.is_empty() {
            node.operation.region = 0;
        } else if node.operation.region > self.notes.count() {
            let (region, regions) = (node.operation.region, self.notes.count());
            let what = format!("a computation in region {region}; there are {regions}");
            return Err(TraceProblem::new(
                &self.file,
                TracePlace::Offset(at + 17),
                what,
            ));
        }
        Ok(node)
    }

    /// The number at a place among a rank's roots.
    pub(crate) fn root(&mut self, rank: u32, place: u32) -> Result<u32, TraceProblem> {
        let part = self.parts[rank as usize];
        self.number(rank, part.begin + 8 + 4 * u64::from(place))
    }

    /// The number of a rank's operations without dependencies.
    pub(crate) fn roots(&self, rank: u32) -> u32 {
        self.parts[rank as usize].roots
    }

    /// Adds the operations that wait for an operation.
    pub(crate) fn later(
        &mut self,
        rank: u32,
        node: &OperationRecord,
        edge: Edge,
        to: &mut Vec<u32>,
    ) -> Result<(), TraceProblem> {
        let part = self.parts[rank as usize];
        let (count, first) = node.later[edge as usize];
        if u64::from(first) + u64::from(count) > part.listed.into() {
            let what = format!(
                "a list of {count} numbers from {first} on; rank {rank} has {}",
                part.listed
            );
            return Err(TraceProblem::new(
                &self.file,
                TracePlace::Offset(part.begin),
                what,
            ));
        }
        let begin = part.node(part.count) + 4 * u64::from(first);
        for place in 0..u64::from(count) {
            let number = self.number(rank, begin + 4 * place)?;
            to.push(number);
        }
        Ok(())
    }

    /// The number of a rank's operation, in a list.
    fn number(&mut self, rank: u32, at: u64) -> Result<u32, TraceProblem> {
        let mut bytes = [0; 4];
        self.read(at, &mut bytes)?;
        let (number, count) = (u32::from_le_bytes(bytes), self.parts[rank as usize].count);
        if number < count {
            return Ok(number);
        }
        let what =
            format!("operation {number} of rank {rank}, which has {count}; the file is damaged");
        Err(TraceProblem::new(&self.file, TracePlace::Offset(at), what))
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), TraceProblem> {
        self.pages.read(at, bytes).map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!(
                        "the file ends before these {} bytes: it is truncated",
                        bytes.len()
                    )
                }
                _ => error.to_string(),
            };
            TraceProblem::new(&self.file, TracePlace::Offset(at), what)
        })
    }
}

impl Part {
    /// Where an operation lies in the file.
    fn node(&self, operation: u32) -> u64 {
        self.begin + 8 + 4 * u64::from(self.roots) + NODE * u64::from(operation)
    }
}

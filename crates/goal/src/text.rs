//! The text form's statements: one rank after the other.

use crate::scan::{ScanError, Scanner, Token};
use crate::schedule::Schedule;
use crate::{ANY, Kind, Operation, TraceNotes, TracePlace};
use foldhash::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;

/// A rank's most operations: the binary form counts with 32 bits.
const MOST: usize = 1 << 31;

/// Bytes of the shortest block, `rank 0{}`.
const BLOCK: u64 = 8;

/// A rank's block.
pub struct Block {
    /// The rank.
    pub rank: u32,
    /// The line on which the block begins.
    pub line: u64,
    /// Its graph.
    pub schedule: Schedule,
    /// Each operation's line.
    pub lines: Vec<u64>,
}

/// Reads a text.
pub struct TextReader<R> {
    words: Scanner<R>,
    ranks: u32,
    /// The notes so far.
    pub notes: TraceNotes,
    labels: HashMap<Box<[u8]>, u32>,
    /// Labels that stand at a second operation, as far as they are named, and how many there are.
    pub twice: (Vec<ScanError>, u64),
}

/// How many second labels are named.
const NAMED: usize = 4;

fn is(word: &Token, name: &str) -> bool {
    matches!(word, Token::Name(found) if **found == *name.as_bytes())
}

impl<R: Read> TextReader<R> {
    /// Reads the head of a text of `length` bytes.
    pub fn new(from: R, length: u64) -> Result<Self, ScanError> {
        let mut reader = TextReader {
            words: Scanner::new(from),
            ranks: 0,
            notes: TraceNotes::default(),
            labels: HashMap::default(),
            twice: (Vec::new(), 0),
        };
        let first = reader.skip_ends()?;
        let words = &mut reader.words;
        if !is(&first, "num_ranks") {
            let found = first.text();
            return words.wrong(format!(
                "a trace begins with `num_ranks` and the number of ranks, not with {found}"
            ));
        }
        reader.ranks = match words.next()? {
            Token::Number(0, _) => return words.wrong("there is at least one rank"),
            // A small file cannot take memory by its first number: each rank has a block.
            Token::Number(ranks, false) if ranks > length / BLOCK => {
                return words.wrong(format!(
                    "`num_ranks` says {ranks} ranks, and each has a block, `rank N {{ }}`; the \
                    {length} bytes of the file are too few"
                ));
            }
            Token::Number(ranks, false) if ranks < u64::from(ANY) => ranks as u32,
            word => {
                let found = word.text();
                return words.wrong(format!("`num_ranks` wants a number of ranks, not {found}"));
            }
        };
        Ok(reader)
    }

    /// How many ranks the trace has.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The next rank's block; `None` at the file's end.
    pub fn block(&mut self) -> Result<Option<Block>, ScanError> {
        let word = self.skip_ends()?;
        if word == Token::Eof {
            return Ok(None);
        }
        if !is(&word, "rank") {
            let found = word.text();
            return self
                .words
                .wrong(format!("here begins `rank N {{`, and not {found}"));
        }
        let rank = self.number("the number of a rank", self.ranks.into())? as u32;
        if rank >= self.ranks {
            let ranks = self.ranks;
            return self.words.wrong(format!(
                "there is no rank {rank}: `num_ranks` says {ranks}, so that ranks are 0 to {}",
                ranks - 1
            ));
        }
        let line = self.words.begun();
        match self.skip_ends()? {
            Token::Sign(b'{') => {}
            word => {
                return self
                    .words
                    .wrong(format!("a `{{` is missing before {}", word.text()));
            }
        }
        self.labels.clear();
        let mut block = Block {
            rank,
            line,
            schedule: Schedule::default(),
            lines: Vec::new(),
        };
        while self.statement(&mut block)? {}
        Ok(Some(block))
    }

    /// The next word behind ends of lines. Takes in the notes before it.
    fn skip_ends(&mut self) -> Result<Token, ScanError> {
        loop {
            match self.words.next()? {
                Token::End => {}
                Token::Note(note) => {
                    let read = self.notes.read(&note);
                    read.or_else(|what| self.words.wrong(what))?;
                }
                word => return Ok(word),
            }
        }
    }

    /// Takes in the note behind a statement: a computation's region.
    fn mark(
        &mut self,
        schedule: &mut Schedule,
        before: usize,
        note: &str,
    ) -> Result<(), ScanError> {
        let calc = schedule.operations[before..].last_mut();
        let calc = calc.filter(|operation| operation.kind == Kind::Calc);
        let (Some(calc), Ok(region), regions @ 1..) = (calc, note.parse(), self.notes.count())
        else {
            return Ok(());
        };
        if !(1..=regions).contains(&region) {
            return self.words.wrong(format!(
                "there is no region {region}: the notes before define regions 1 to {regions}"
            ));
        }
        calc.region = region;
        Ok(())
    }

    /// A number, 2^32 - 1 for -1 where that stands for any.
    fn number(&mut self, what: &str, most: u64) -> Result<u64, ScanError> {
        match self.words.next()? {
            Token::Number(number, false) if number <= most => Ok(number),
            Token::Number(1, true) if most == u64::from(ANY) => Ok(most),
            Token::Number(number, true) if number > 0 => self
                .words
                .wrong(format!("{what} is negative: `-{number}`; write 0 or more")),
            Token::Number(number, _) => self.words.wrong(format!(
                "{what} is too large: `{number}`; the most is {most}"
            )),
            word => {
                let found = word.text();
                self.words
                    .wrong(format!("{what} is missing before {found}"))
            }
        }
    }

    fn keyword(&mut self, name: &str) -> Result<(), ScanError> {
        let word = self.words.next()?;
        if is(&word, name) {
            return Ok(());
        }
        let found = word.text();
        self.words
            .wrong(format!("`{name}` is missing before {found}"))
    }

    /// Reads a statement; returns whether the block continues.
    fn statement(&mut self, block: &mut Block) -> Result<bool, ScanError> {
        let word = self.skip_ends()?;
        let (line, before) = (self.words.begun(), block.schedule.operations.len());
        let label = match word {
            Token::Sign(b'}') => return Ok(false),
            Token::Eof => {
                let what = format!(
                    "the text ends within the block of rank {}, which begins here; the file is \
                    truncated, or `}}` is missing",
                    block.rank
                );
                return Err((TracePlace::Line(block.line), what));
            }
            Token::Name(name) => name,
            word => {
                let found = word.text();
                return self.words.wrong(format!(
                    "here begins an operation (`send`, `recv`, `calc`), a label or \
                    `}}`, and not {found}"
                ));
            }
        };
        match (kind(&label), self.words.next()?) {
            // Labels in LogGOPSim may be words for the operations that it does not have.
            (kind, Token::Sign(b':')) if kind.is_none_or(|kind| !kind.is_loggopsim()) => {
                self.labelled(block, label, line)?;
            }
            (kind, Token::Name(name))
                if kind.is_none_or(|kind| !kind.is_loggopsim())
                    && matches!(&*name, b"requires" | b"irequires") =>
            {
                self.dependency(block, &label, *name == *b"irequires")?;
            }
            (Some(kind), word) => {
                self.words.back(word);
                self.operation(block, kind, line)?;
            }
            (None, word) => {
                let (label, found) = (String::from_utf8_lossy(&label), word.text());
                let what = format!(
                    "behind `{label}` stands `:`, `requires` or `irequires`, and not {found}"
                );
                return Err((TracePlace::Line(line), what));
            }
        }
        let mut word = self.words.next()?;
        if let Token::Note(note) = &word {
            self.mark(&mut block.schedule, before, note)?;
            word = self.words.next()?;
        }
        match word {
            Token::End => Ok(true),
            word @ (Token::Sign(b'}') | Token::Eof) => {
                self.words.back(word);
                Ok(true)
            }
            word => {
                let found = word.text();
                let what = format!(
                    "a statement ends with its line, and {found} follows; write `tag`, `cpu` and \
                    `nic` in this order, each once"
                );
                Err((TracePlace::Line(line), what))
            }
        }
    }

    fn labelled(
        &mut self,
        block: &mut Block,
        label: Box<[u8]>,
        line: u64,
    ) -> Result<(), ScanError> {
        let word = self.words.next()?;
        let kind = match &word {
            Token::Name(name) => kind(name),
            _ => None,
        };
        let Some(kind) = kind else {
            let found = word.text();
            let what = format!("behind the label stands `send`, `recv` or `calc`, and not {found}");
            return Err((TracePlace::Line(line), what));
        };
        match self.labels.entry(label) {
            Entry::Vacant(entry) => {
                entry.insert(block.schedule.operations.len() as u32);
            }
            // The first one stays, as in LogGOPSim.
            Entry::Occupied(entry) => {
                let (twice, count) = &mut self.twice;
                *count += 1;
                if twice.len() < NAMED {
                    let first = block.lines[*entry.get() as usize];
                    let label = String::from_utf8_lossy(entry.key());
                    let what = format!(
                        "the label `{label}` stands on line {first} of this rank already, and \
                        names that operation, as in LogGOPSim; give each operation its own"
                    );
                    twice.push((TracePlace::Line(line), what));
                }
            }
        }
        self.operation(block, kind, line)
    }

    fn operation(&mut self, block: &mut Block, kind: Kind, line: u64) -> Result<(), ScanError> {
        if block.lines.len() == MOST {
            return self
                .words
                .wrong(format!("a rank has at most {MOST} operations"));
        }
        let mut operation = Operation::calc(0);
        operation.kind = kind;
        if kind == Kind::Calc {
            operation.size = self.number("the time of a computation, in ns,", u64::MAX)?;
        } else {
            operation.size = self.number("the size of a message", u64::MAX)?;
            self.keyword("b")?;
            self.keyword(if kind.is_from() { "from" } else { "to" })?;
            let any = u64::from(if kind.is_incoming() { ANY } else { ANY - 1 });
            let peer = self.number("the rank at the other end", any)? as u32;
            if peer >= self.ranks && !(kind.is_incoming() && peer == ANY) {
                let ranks = self.ranks;
                let what = format!(
                    "there is no rank {peer}: `num_ranks` says {ranks}, so that ranks are 0 to {}",
                    ranks - 1
                );
                return Err((TracePlace::Line(line), what));
            }
            operation.peer = peer;
            if kind.is_tagged() && self.option("tag")? {
                operation.tag = self.number("the tag", any)? as u32;
            }
        }
        if self.option("cpu")? {
            operation.cpu = self.number("the cpu", u8::MAX.into())? as u8;
        }
        if kind != Kind::Calc && self.option("nic")? {
            operation.nic = self.number("the nic", u8::MAX.into())? as u8;
        }
        block.schedule.add(operation);
        block.lines.push(line);
        Ok(())
    }

    /// Whether a keyword follows, which is then read.
    fn option(&mut self, name: &str) -> Result<bool, ScanError> {
        let word = self.words.next()?;
        let found = is(&word, name);
        if !found {
            self.words.back(word);
        }
        Ok(found)
    }

    fn dependency(
        &mut self,
        block: &mut Block,
        later: &[u8],
        started: bool,
    ) -> Result<(), ScanError> {
        let earlier = match self.words.next()? {
            Token::Name(name) => name,
            word => {
                let found = word.text();
                return self
                    .words
                    .wrong(format!("a label is missing before {found}"));
            }
        };
        let [later, earlier] = [later, &earlier].map(|label| {
            let number = self.labels.get(label).copied();
            number.ok_or_else(|| {
                let label = String::from_utf8_lossy(label);
                let what = format!(
                    "rank {} has no label `{label}` so far; labels are known only in the block of \
                    their rank, behind their line",
                    block.rank
                );
                (TracePlace::Line(self.words.begun()), what)
            })
        });
        let dependencies = &mut block.schedule.dependencies;
        if dependencies.len() == MOST {
            let what = format!("a rank has at most {MOST} dependencies");
            return self.words.wrong(what);
        }
        dependencies.push((later?, earlier?, started));
        Ok(())
    }
}

fn kind(name: &[u8]) -> Option<Kind> {
    let kinds = Kind::ALL.into_iter();
    let mut kinds = kinds.filter(|kind| kind.name().as_bytes() == name);
    kinds.next()
}

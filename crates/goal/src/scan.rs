//! The words in the text form, from a file of any length, in one word's memory.

use crate::TracePlace;
use std::io::{self, Read};

/// The longest word: no label needs more, and a file without spaces takes no memory.
const LONGEST: usize = 255;

/// The most bytes of a note that are read: more than any region's note has.
const LONGEST_NOTE: usize = 2048;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a keyword.
    Name(Box<[u8]>),
    /// A number; negative if the flag is set.
    Number(u64, bool),
    /// One of `: { }`.
    Sign(u8),
    /// The text of a comment that begins with `//@`; the line ends behind it.
    Note(String),
    /// A line's end, or `;`.
    End,
    /// The file's end.
    Eof,
}

impl Token {
    /// The word as written in the file, for errors.
    pub fn text(&self) -> String {
        match self {
            Token::Name(name) => format!("`{}`", String::from_utf8_lossy(name)),
            Token::Number(number, false) => format!("`{number}`"),
            Token::Number(number, true) => format!("`-{number}`"),
            Token::Sign(sign) => format!("`{}`", char::from(*sign)),
            Token::Note(_) | Token::End => "the end of the line".into(),
            Token::Eof => "the end of the file".into(),
        }
    }
}

/// Reads words.
pub struct Scanner<R> {
    from: R,
    buffer: Box<[u8]>,
    at: usize,
    length: usize,
    line: u64,
    /// The line on which the last word began.
    begun: u64,
    word: Vec<u8>,
    /// A word that was put back.
    again: Option<Token>,
}

/// Why there is no next word: the place, and the mistake.
pub type ScanError = (TracePlace, String);

impl<R: Read> Scanner<R> {
    pub fn new(from: R) -> Self {
        Scanner {
            from,
            buffer: vec![0; 1 << 16].into(),
            at: 0,
            length: 0,
            line: 1,
            begun: 1,
            word: Vec::new(),
            again: None,
        }
    }

    /// The line on which the last word began.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// Something wrong with the last word.
    pub fn wrong<T>(&self, what: impl Into<String>) -> Result<T, ScanError> {
        Err((TracePlace::Line(self.begun), what.into()))
    }

    fn fill(&mut self) -> Result<(), ScanError> {
        loop {
            match self.from.read(&mut self.buffer) {
                Ok(length) => {
                    (self.at, self.length) = (0, length);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.wrong(format!("the file cannot be read: {error}")),
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, ScanError> {
        if self.at == self.length {
            self.fill()?;
            if self.length == 0 {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer[self.at]))
    }

    /// Puts the last word back.
    pub fn back(&mut self, word: Token) {
        self.again = Some(word);
    }

    /// Takes bytes into the word while they belong to it.
    fn gather(&mut self, belongs: impl Fn(u8) -> bool) -> Result<(), ScanError> {
        self.word.clear();
        while let Some(byte) = self.peek()?.filter(|&byte| belongs(byte)) {
            if self.word.len() == LONGEST {
                return self.wrong(format!("a word is longer than {LONGEST} characters"));
            }
            self.word.push(byte);
            self.at += 1;
        }
        Ok(())
    }

    /// Passes over a comment after its first `/`. Returns the text of a note.
    fn comment(&mut self) -> Result<Option<String>, ScanError> {
        let begin = self.line;
        match self.peek()? {
            Some(b'/') => {
                self.at += 1;
                let notes = self.peek()? == Some(b'@');
                let mut text = Vec::new();
                while let Some(byte) = self.peek()?.filter(|&byte| byte != b'\n') {
                    if notes && text.len() < LONGEST_NOTE {
                        text.push(byte);
                    }
                    self.at += 1;
                }
                let text = String::from_utf8_lossy(&text).into_owned();
                Ok(notes.then(|| text[1..].trim().to_owned()))
            }
            Some(b'*') => {
                let mut last = b' ';
                self.at += 1;
                while let Some(byte) = self.peek()? {
                    self.at += 1;
                    self.line += u64::from(byte == b'\n');
                    if (last, byte) == (b'*', b'/') {
                        return Ok(None);
                    }
                    last = byte;
                }
                let what = "the comment that begins here has no end; write `*/` behind it";
                Err((TracePlace::Line(begin), what.into()))
            }
            _ => self.wrong("`/` begins no comment; write `//` or `/*`"),
        }
    }

    /// The next word.
    pub fn next(&mut self) -> Result<Token, ScanError> {
        if let Some(word) = self.again.take() {
            return Ok(word);
        }
        loop {
            self.begun = self.line;
            let Some(byte) = self.peek()? else {
                return Ok(Token::Eof);
            };
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' | b';' => {
                    self.at += 1;
                    self.line += u64::from(byte == b'\n');
                    return Ok(Token::End);
                }
                b'/' => {
                    self.at += 1;
                    if let Some(note) = self.comment()? {
                        return Ok(Token::Note(note));
                    }
                }
                b':' | b'{' | b'}' => {
                    self.at += 1;
                    return Ok(Token::Sign(byte));
                }
                b'-' => {
                    self.at += 1;
                    return self.number(true);
                }
                b'0'..=b'9' => return self.number(false),
                byte if byte.is_ascii_alphabetic() => {
                    self.gather(|byte| byte.is_ascii_alphanumeric() || byte == b'_')?;
                    return Ok(Token::Name(self.word.as_slice().into()));
                }
                0 => return self.wrong("the text has a zero byte: it is damaged, or no text"),
                byte => {
                    let byte = byte.escape_ascii();
                    return self.wrong(format!("`{byte}` belongs to no statement of GOAL"));
                }
            }
        }
    }

    fn number(&mut self, negative: bool) -> Result<Token, ScanError> {
        self.gather(|byte| byte.is_ascii_digit())?;
        if self.word.is_empty() {
            return self.wrong("`-` without a number behind it");
        }
        let digit =
            |number: u64, &byte: &u8| number.checked_mul(10)?.checked_add(u64::from(byte - b'0'));
        match self.word.iter().try_fold(0, digit) {
            Some(number) => Ok(Token::Number(number, negative)),
            None => self.wrong("a number is larger than 64 bits hold"),
        }
    }
}

//! A source text's tokens: comments are dropped, and white space between tokens is one space.

/// The text without comments, and with one space for any white space and comments between tokens.
///
/// Literals stay as they are: a string may hold `//` and line breaks. A text that is not well
/// formed gives some text, too.
pub fn significant(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let end = at + length(&text[at..]);
        let token = &text[at..end];
        if token[0].is_ascii_whitespace() || token.starts_with(b"//") || token.starts_with(b"/*") {
            if kept.last().is_some_and(|last| *last != b' ') {
                kept.push(b' ');
            }
        } else {
            kept.extend_from_slice(token);
        }
        at = end;
    }
    if kept.last() == Some(&b' ') {
        kept.pop();
    }
    kept
}

/// The length of the first token, comment or white space in a text that is not empty.
fn length(text: &[u8]) -> usize {
    match text[0] {
        b'/' if text.starts_with(b"//") => position(text, |byte| *byte == b'\n'),
        b'/' if text.starts_with(b"/*") => block(text),
        b'"' => quoted(text, 1, b'"'),
        b'\'' => character(text),
        first if first.is_ascii_alphanumeric() || first == b'_' || !first.is_ascii() => {
            let word = position(text, |byte| {
                !(byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
            });
            let raw = matches!(&text[..word], b"r" | b"br" | b"cr");
            raw.then(|| raw_string(&text[word..]))
                .flatten()
                .map_or(word, |rest| word + rest)
        }
        first if first.is_ascii_whitespace() => position(text, |byte| !byte.is_ascii_whitespace()),
        _ => 1,
    }
}

/// The position of the first wanted byte, else the text's length.
fn position(text: &[u8], wanted: impl Fn(&u8) -> bool) -> usize {
    text.iter().position(wanted).unwrap_or(text.len())
}

/// The length of a comment in `/*` and `*/`, which may hold others.
fn block(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of a literal that ends with a quote, in which a backslash escapes the next byte.
fn quoted(text: &[u8], begin: usize, quote: u8) -> usize {
    let mut at = begin;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of a character, or 1 for the quote of a lifetime.
fn character(text: &[u8]) -> usize {
    if text.get(1) == Some(&b'\\') {
        return quoted(text, 1, b'\'');
    }
    // One character's bytes: the first, and those that continue it.
    let end = 2 + position(text.get(2..).unwrap_or_default(), |byte| {
        byte & 0xC0 != 0x80
    });
    if text.get(end) == Some(&b'\'') {
        end + 1
    } else {
        1
    }
}

/// The length of `#"..."#` with any number of `#`, if the text begins with it.
fn raw_string(text: &[u8]) -> Option<usize> {
    let marks = position(text, |byte| *byte != b'#');
    if text.get(marks) != Some(&b'"') {
        return None;
    }
    let end: Vec<u8> = [b"\"".as_slice(), &vec![b'#'; marks]].concat();
    let body = &text[marks + 1..];
    let length = body.windows(end.len()).position(|window| window == end);
    Some(length.map_or(text.len(), |length| marks + 1 + length + end.len()))
}

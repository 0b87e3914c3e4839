//! Files that are no plain text in UTF-8, by their first bytes: compressed ones, archives and other
//! encodings.

/// The byte order mark of UTF-8, which some editors write before a text.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

const ENCODINGS: [(&[u8], &str); 7] = [
    (
        b"\x1f\x8b",
        "compressed by gzip; decompress it: gunzip FILE",
    ),
    (b"BZh", "compressed by bzip2; decompress it: bunzip2 FILE"),
    (b"\xfd7zXZ\0", "compressed by xz; decompress it: unxz FILE"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed by zstd; decompress it: unzstd FILE",
    ),
    (b"PK\x03\x04", "an archive (zip); unpack it: unzip FILE"),
    (b"\xff\xfe", WIDE),
    (b"\xfe\xff", WIDE),
];

const WIDE: &str = "a text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE";

/// The encoding of a file that begins with these bytes, and the command that makes a plain text of
/// it; `None` for all others.
#[must_use]
pub fn encoding(first: &[u8]) -> Option<&'static str> {
    let found = ENCODINGS.iter().find(|(begin, _)| first.starts_with(begin));
    found.map(|(_, name)| *name)
}

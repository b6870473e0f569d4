//! The records of a text, one at a time, with the text they stand in.
//!
//! A quote that nothing closes swallows all lines after it. It is found where the text ends within
//! it, or where a record has become longer than any that is meant.

use crate::error::{Error, Result};
use csv::{ByteRecord, ReaderBuilder};
use std::io::{self, Read};

/// Most bytes of a record: what a quote that nothing closes may take of the memory.
pub(super) const MOST: u64 = 64 << 20;

/// A source that keeps what it has given until told to forget it.
struct Kept<R> {
    source: R,
    kept: Vec<u8>,
    /// The place of the first kept byte.
    start: u64,
    /// The place that it doesn't go beyond.
    most: u64,
    ended: bool,
    stopped: bool,
    /// The last byte given.
    last: u8,
    /// Whether a `\r` was among them that no `\n` follows; most texts have none.
    alone: bool,
}

impl<R> Kept<R> {
    /// Looks for a `\r` alone, many bytes at a time: without one no record has to be searched.
    fn look(&mut self, new: &[u8]) {
        let Some(&last) = new.last() else { return };
        let alone = |pair: (&u8, &u8)| *pair.0 == b'\r' && *pair.1 != b'\n';
        self.alone |= alone((&self.last, &new[0]));
        if new.contains(&b'\r') {
            // No early end: so it goes by vectors.
            let pairs = new.iter().zip(&new[1..]);
            self.alone |= pairs.fold(false, |any, pair| any | alone(pair));
        }
        self.last = last;
    }

    fn from(&self, start: u64) -> &[u8] {
        &self.kept[(start - self.start) as usize..]
    }
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stopped = self.start + self.kept.len() as u64 > self.most;
        if self.stopped {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let read = self.source.read(buffer)?;
        self.ended = read == 0;
        self.look(&buffer[..read]);
        self.kept.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// The records of a text; the first is the header.
pub(super) struct Records<R> {
    csv: csv::Reader<Kept<R>>,
    /// The cells of the last record.
    pub(super) record: ByteRecord,
    name: String,
    delimiter: u8,
    /// Whether the source is the first part of another, so that its last record may be one's.
    cut_off: bool,
    most: u64,
    /// The place and the line at which the last record starts.
    start: (u64, u64),
    /// The lines up to its end that the reader doesn't count: those that `\r` alone ends.
    uncounted: u64,
    /// Whether it ends with a `\r`, which a `\n` may follow.
    split: bool,
}

impl<R: Read> Records<R> {
    pub(super) fn new(source: R, delimiter: u8, name: &str, cut_off: bool) -> Self {
        let kept = Kept {
            source,
            kept: Vec::new(),
            start: 0,
            most: 0,
            ended: false,
            stopped: false,
            last: 0,
            alone: false,
        };
        let mut csv = ReaderBuilder::new();
        csv.has_headers(false).delimiter(delimiter).buffer_capacity(1 << 16);
        Self {
            csv: csv.from_reader(kept),
            record: ByteRecord::new(),
            name: name.to_owned(),
            delimiter,
            cut_off,
            most: MOST,
            start: (0, 1),
            uncounted: 0,
            split: false,
        }
    }

    /// Reads the next record; whether there is one. What ends a source that is cut off is none.
    pub(super) fn next(&mut self) -> Result<bool> {
        let place = self.csv.position();
        self.start = (place.byte(), place.line() + self.uncounted);
        self.csv.get_mut().most = self.start.0 + self.most;
        let read = self.csv.read_byte_record(&mut self.record);
        self.count_lines();
        let Kept { ended, stopped, .. } = *self.csv.get_ref();
        if ended && self.cut_off {
            return Ok(false);
        }
        if ended || stopped {
            self.check_end(stopped)?;
        }
        read.map_err(|error| match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                let line = self.line();
                unequal(&self.name, line, *len, *expected_len)
            }
            _ => super::csv_error(&error, &self.name),
        })
    }

    /// Counts the lines up to the last record's end that the reader doesn't.
    fn count_lines(&mut self) {
        let kept = self.csv.get_ref();
        let text = kept.from(self.start.0);
        // Only here is it known what follows the `\r` that the record before ended with.
        if self.split && text.first().is_some_and(|&byte| byte != b'\n') {
            self.start.1 += 1;
            self.uncounted += 1;
        }
        let text = &text[..(self.end() - self.start.0) as usize];
        self.split = text.ends_with(b"\r");
        if kept.alone {
            self.uncounted += returns_alone(text) - u64::from(self.split);
        }
    }

    /// Whether the source has ended, or was stopped, where a record may.
    fn check_end(&self, stopped: bool) -> Result<()> {
        let text = self.csv.get_ref().from(self.start.0);
        let twice = "a quote in a quoted cell is written twice";
        let (what, line, advice) = match (open_quote(text, self.delimiter), stopped) {
            (None, false) => return Ok(()),
            (None, true) => {
                let advice = "the file may be no text: --input-format names another format";
                ("a row is longer than", self.line(), advice)
            }
            (Some(lines), false) => {
                ("a quote opens that nothing closes", self.start.1 + lines, twice)
            }
            (Some(lines), true) => {
                ("a quote opens that is not closed within", self.start.1 + lines, twice)
            }
        };
        let limit = if stopped { format!(" {} MiB", self.most >> 20) } else { String::new() };
        let what = format!("line {line} of {}: {what}{limit}", self.name);
        Err(Error::malformed(what).hint(advice))
    }

    /// The line on which the last record starts.
    pub(super) fn line(&self) -> u64 {
        let text = self.csv.get_ref().from(self.start.0);
        // What is left of the line end before, and empty lines.
        let before = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.start.1 + line_ends(&text[..before])
    }

    /// The place at which the last record ends.
    pub(super) fn end(&self) -> u64 {
        self.csv.position().byte()
    }

    /// The kept text up to the end of the last record.
    pub(super) fn text(&self) -> &[u8] {
        let kept = self.csv.get_ref();
        &kept.kept[..(self.end() - kept.start) as usize]
    }

    /// Forgets the text up to the end of the last record, if that is so many bytes.
    pub(super) fn forget(&mut self, bytes: usize) {
        let text = self.text().len();
        if text >= bytes {
            let kept = self.csv.get_mut();
            kept.kept.drain(..text);
            kept.start += text as u64;
        }
    }
}

fn unequal(name: &str, line: u64, len: u64, expected: u64) -> Error {
    let what = format!("line {line} of {name} has {len} cells, the header has {expected}");
    Error::malformed(what).hint("the line is cut off, or a cell with a delimiter lacks quotes")
}

/// How many lines end before the quote that is open at the end of this text, if one is.
fn open_quote(text: &[u8], delimiter: u8) -> Option<u64> {
    #[derive(PartialEq)]
    enum At {
        Start,
        Cell,
        Quoted,
        /// Behind a quote in a quoted cell: its end, or the first of two.
        Quote,
    }
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let (mut at, mut opened) = (At::Start, 0);
    for (place, &byte) in text.iter().enumerate() {
        at = match (at, byte) {
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (At::Start, b'"') => {
                opened = place;
                At::Quoted
            }
            (_, b'\r' | b'\n') => At::Start,
            (_, byte) if byte == delimiter => At::Start,
            _ => At::Cell,
        };
    }
    (at == At::Quoted).then(|| line_ends(&text[..opened]))
}

/// How many lines end in a text: by `\n`, `\r\n`, or `\r` alone.
fn line_ends(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64 + returns_alone(text)
}

/// How many `\r` have no `\n` behind them.
fn returns_alone(text: &[u8]) -> u64 {
    let alone = |at: usize| text[at] == b'\r' && text.get(at + 1) != Some(&b'\n');
    (0..text.len()).filter(|&at| alone(at)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str, cut_off: bool, most: u64) -> Result<usize, String> {
        let mut records = Records::new(text.as_bytes(), b',', "it", cut_off);
        records.most = most;
        let mut count = 0;
        while records.next().map_err(|error| error.to_string())? {
            count += 1;
            records.forget(1);
        }
        Ok(count)
    }

    #[test]
    fn finds_the_quote_that_nothing_closes() {
        for (text, line) in [
            ("x,n\n1,\"a\n2,3\n", 2),
            ("x,n\r\n1,\"a\r\n2,3\r\n", 2),
            ("x,n\n1,2\n\n\"a\nb\",\"c\n2,3", 5),
            ("x,n\r1,2\r\r\"a\rb\",\"c\r2,3", 5),
            ("\u{feff}\"x,n\n1,2\n", 1),
            ("x,n\n\"1,2\n", 2),
        ] {
            let error = read_all(text, false, MOST).unwrap_err();
            assert!(error.contains(&format!("line {line} of it: a quote opens")), "{error}");
        }
        for text in ["x,n\n1,\"a\"\"\n\"", "x,n\n1,a\"b", "x,n\n1,\"a\"b\"", "x,n\n1, \""] {
            assert_eq!(read_all(text, false, MOST), Ok(2), "{text}");
        }
    }

    #[test]
    fn a_record_has_a_limit() {
        let long = "1,2\n".repeat(100_000);
        let open = format!("x,n\n1,\"\n{long}");
        let error = read_all(&open, false, 1 << 17).unwrap_err();
        assert!(error.contains("line 2") && error.contains("not closed within"), "{error}");
        let wide = format!("x,n\n1,{}\n", "2".repeat(400_000));
        let error = read_all(&wide, false, 1 << 17).unwrap_err();
        assert!(error.contains("line 2 of it: a row is longer"), "{error}");
        assert!(!error.contains("quote"), "{error}");
        assert_eq!(read_all(&format!("x,n\n{long}"), false, 1 << 17), Ok(100_001));
    }

    #[test]
    fn a_part_ends_with_its_last_whole_record() {
        assert_eq!(read_all("x,n\n1,2\n3", true, MOST), Ok(2));
        assert_eq!(read_all("x,n\n1,2\n3,\"\n", true, MOST), Ok(2));
        assert_eq!(read_all("x,n\r1,2\r3,4", true, MOST), Ok(2));
    }

    #[test]
    fn counts_lines_of_any_end() {
        for end in ["\n", "\r\n", "\r"] {
            for lines in ["x,n|1,2||3|", "||x,n|3", "x,\"a|b|\"|3", "x,n|1,2|\"a\",2|3|"] {
                let text = lines.replace('|', end);
                let line = lines.split('3').next().unwrap().matches('|').count() + 1;
                finds_the_short_record(&text, line);
            }
        }
        finds_the_short_record("x,n\r1,2\n1,2\r\n1,2\r\r\n3", 6);
        finds_the_short_record("x,n\r\n1,2\r\n\"1\r\",2\r\n3", 5);
    }

    /// However many bytes are read at once.
    fn finds_the_short_record(text: &str, line: usize) {
        for bytes in [1, 2, 3, 1 << 16] {
            let mut records = Records::new(Pieces(text.as_bytes(), bytes), b',', "it", false);
            let error = loop {
                match records.next() {
                    Ok(more) => assert!(more, "{text:?}"),
                    Err(error) => break error.to_string(),
                }
                records.forget(1);
            };
            let says = format!("line {line} of it has 1 cells, the header has 2");
            assert!(error.contains(&says), "{text:?} by {bytes}: {error}");
        }
    }

    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }
}

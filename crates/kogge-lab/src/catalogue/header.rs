//! The comment that a lesson opens with: prose for the reader, and a few lines that a program reads
//! too.
//!
//! ```text
//! // Title.
//! //
//! // Shows what it shows, in a paragraph.
//! //
//! // Right because …, or Hazard: …, in another.
//! //
//! // source: where the algorithm was published
//! // scan:   inclusive or exclusive
//! // sizes:  1..1024                     the lengths N that it claims
//! // work:   N log2(N) - (N - 1)         operator applications
//! // work (any N):  …                    the same where the formula above has no value
//! // steps:  log2(N)                     barrier intervals in which the operator is applied
//! // steps (any N): …
//! // where:  N <= BLOCK^2                where the formulas hold, if not everywhere
//! // hazard: deadlock with N = 1024, resident = 2
//! // host:
//! //     scan<<<1, N>>>(x, y, N);        see the module `host`
//! ```

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::expression::{Expression, Names, NotationError};
use super::host::Program;
use super::trial::Trial;

/// Whether the value at i includes x\[i\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// y\[i\] = x\[0\] ∘ … ∘ x\[i\].
    Inclusive,
    /// y\[i\] = x\[0\] ∘ … ∘ x\[i − 1\], and y\[0\] the identity.
    Exclusive,
}

/// A count as a function of N: the textbook's formula, and one for every N where that is another.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    textbook: Option<(String, Expression)>,
    any: Option<(String, Expression)>,
}

impl Formula {
    /// The formula as the header writes it, the textbook's where there is one.
    pub fn text(&self) -> Option<&str> {
        self.textbook.as_ref().or(self.any.as_ref()).map(|(text, _)| text.as_str())
    }

    /// The values at hand, the textbook's first: none where no formula is exact, and two that must
    /// agree where both are.
    pub fn values(&self, names: &impl Names) -> Vec<i64> {
        [&self.textbook, &self.any]
            .into_iter()
            .flatten()
            .filter_map(|(_, formula)| formula.value(names))
            .collect()
    }
}

/// A header, read.
#[derive(Clone, Debug)]
pub struct Header {
    /// The first line, without its full stop.
    pub title: String,
    /// The paragraphs, each on one line.
    pub prose: Vec<String>,
    /// Where the algorithm was published.
    pub source: Option<String>,
    /// Inclusive or exclusive.
    pub kind: Kind,
    /// The lengths that the lesson claims.
    pub sizes: RangeInclusive<u64>,
    /// Operator applications.
    pub work: Formula,
    /// Barrier intervals in which the operator is applied.
    pub steps: Formula,
    /// Where the formulas hold.
    pub holds: Option<Expression>,
    /// The run that shows the lesson's hazard, if it has one.
    pub hazard: Option<Trial>,
    /// What the host does.
    pub host: Program,
}

struct Nothing;

impl Names for Nothing {
    fn value(&self, _: &str) -> Option<i64> {
        None
    }
    fn size_of(&self, _: &str) -> Option<i64> {
        None
    }
}

impl Header {
    /// Reads the header of a source.
    ///
    /// # Errors
    ///
    /// A source without a header, a key that is missing or unknown, a bad formula or host program.
    pub fn parse(source: &str) -> Result<Self, NotationError> {
        let lines: Vec<&str> = source
            .lines()
            .map_while(|line| line.strip_prefix("//"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
            .collect();
        let Some((title, rest)) = lines.split_first() else {
            return Err(NotationError::new(1, "a lesson opens with a comment that describes it"));
        };
        let keys_at = rest.iter().position(|line| key_of(line).is_some()).unwrap_or(rest.len());
        let keys = Keys::read(&rest[keys_at..], u32::try_from(keys_at).unwrap_or(0) + 2)?;
        Ok(Self {
            title: title.trim_end_matches('.').to_owned(),
            prose: paragraphs(&rest[..keys_at]),
            source: keys.text("source"),
            kind: keys.kind()?,
            sizes: keys.sizes()?,
            work: keys.formula("work")?,
            steps: keys.formula("steps")?,
            holds: keys.expression("where")?.map(|(_, expression)| expression),
            hazard: keys
                .values
                .get("hazard")
                .map(|(text, line)| Trial::parse(text, *line))
                .transpose()?,
            host: keys.host()?,
        })
    }
}

/// The value of one key of a source's opening comment, and its line: for `host`, all that follows
/// it.
///
/// Other lines of the comment need not be keys.
pub fn opening_key(source: &str, key: &str) -> Option<(String, u32)> {
    let comment: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    let is_key = |line: &&str| {
        key_of(line).is_some_and(|(name, value)| name == key && (key != "host" || value.is_empty()))
    };
    let at = comment.iter().position(is_key)?;
    let line = u32::try_from(at).unwrap_or(0) + 1;
    Some(match key {
        "host" => (comment[at + 1..].join("\n"), line + 1),
        _ => (key_of(comment[at])?.1.to_owned(), line),
    })
}

/// The integer macros of a source: `#define NAME 256`.
pub fn integer_macros(source: &str) -> HashMap<String, i64> {
    let define = |line: &str| {
        let mut words = line.trim_start().strip_prefix("#define ")?.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    source.lines().filter_map(define).collect()
}

/// The key that a line begins with, and what follows it: a lower-case word, perhaps `(any N)`, a
/// colon.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let word = key.strip_suffix(" (any N)").unwrap_or(key);
    let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    plain.then_some((key, value.trim()))
}

fn paragraphs(lines: &[&str]) -> Vec<String> {
    let joined = |lines: &[&str]| lines.join(" ");
    lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty()).map(joined).collect()
}

struct Keys {
    values: HashMap<String, (String, u32)>,
    last_line: u32,
}

const KNOWN: [&str; 10] = [
    "source",
    "scan",
    "sizes",
    "work",
    "work (any N)",
    "steps",
    "steps (any N)",
    "where",
    "hazard",
    "host",
];

impl Keys {
    fn read(lines: &[&str], first_line: u32) -> Result<Self, NotationError> {
        let mut values = HashMap::new();
        let mut line_number = first_line;
        for (at, line) in lines.iter().enumerate() {
            line_number = first_line + u32::try_from(at).unwrap_or(0);
            let Some((key, value)) = key_of(line) else {
                return Err(NotationError::new(line_number, "expected `key: value`"));
            };
            if !KNOWN.contains(&key) {
                return Err(NotationError::new(
                    line_number,
                    format!("`{key}` is no key of a header"),
                ));
            }
            if key == "host" {
                values.insert(key.to_owned(), (lines[at + 1..].join("\n"), line_number + 1));
                break;
            }
            values.insert(key.to_owned(), (value.to_owned(), line_number));
        }
        Ok(Self { values, last_line: line_number })
    }

    fn text(&self, key: &str) -> Option<String> {
        self.values.get(key).map(|(text, _)| text.clone())
    }

    fn required(&self, key: &str) -> Result<(&str, u32), NotationError> {
        match self.values.get(key) {
            Some((text, line)) => Ok((text, *line)),
            None => Err(NotationError::new(self.last_line, format!("the header lacks `{key}:`"))),
        }
    }

    fn expression(&self, key: &str) -> Result<Option<(String, Expression)>, NotationError> {
        let Some((text, line)) = self.values.get(key) else { return Ok(None) };
        Ok(Some((text.clone(), Expression::parse(text, *line)?)))
    }

    fn formula(&self, key: &str) -> Result<Formula, NotationError> {
        Ok(Formula {
            textbook: self.expression(key)?,
            any: self.expression(&format!("{key} (any N)"))?,
        })
    }

    fn kind(&self) -> Result<Kind, NotationError> {
        match self.required("scan")? {
            ("inclusive", _) => Ok(Kind::Inclusive),
            ("exclusive", _) => Ok(Kind::Exclusive),
            (_, line) => Err(NotationError::new(line, "a scan is inclusive or exclusive")),
        }
    }

    fn sizes(&self) -> Result<RangeInclusive<u64>, NotationError> {
        let (text, line) = self.required("sizes")?;
        let bound =
            |text: &str| u64::try_from(Expression::parse(text, line).ok()?.value(&Nothing)?).ok();
        text.split_once("..")
            .and_then(|(low, high)| Some(bound(low)?..=bound(high)?))
            .ok_or_else(|| NotationError::new(line, "sizes are written `1..1024`"))
    }

    fn host(&self) -> Result<Program, NotationError> {
        let (text, line) = self.required("host")?;
        Program::parse(text, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// A lesson.\n//\n// Shows a thing: it\n// runs.\n//\n// scan:   exclusive\n// sizes:  1..2^4\n// host:\n//     k<<<1, N>>>(x);\n\n#define BLOCK 64\nk();\n";

    #[test]
    fn a_header_is_read() {
        let header = Header::parse(TEXT).unwrap();
        assert_eq!(header.title, "A lesson");
        assert_eq!(header.prose, ["Shows a thing: it runs."]);
        assert_eq!((header.kind, header.sizes), (Kind::Exclusive, 1..=16));
        assert_eq!(header.host.plan(3, 4, &HashMap::new()).unwrap().launches[0].block, 3);
        assert_eq!(integer_macros(TEXT)["BLOCK"], 64);
    }

    #[test]
    fn errors_name_their_line() {
        let broken =
            |from: &str, to: &str| Header::parse(&TEXT.replace(from, to)).unwrap_err().line;
        assert_eq!(broken("exclusive", "both"), 6);
        assert_eq!(broken("1..2^4", "2"), 7);
        assert_eq!(broken("k<<<1, N>>>(x);", "k<<<;"), 9);
        assert_eq!(broken("sizes:", "size:"), 7);
        assert_eq!(broken("// scan:   exclusive\n", ""), 7);
        assert_eq!(Header::parse("int x;").unwrap_err().line, 1);
    }
}

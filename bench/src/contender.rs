//! What is measured: a named way to scan, or a copy that no scan can beat.

/// What a contender is there for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Moves the same bytes without scanning: the ceiling.
    Copy,
    /// kogge as a user calls it: the one that ratios are of.
    Kogge,
    /// kogge told otherwise: a number of threads, a SIMD level, an operator.
    Variant,
    /// Another library, or a loop by hand.
    Peer,
    /// Something that isn't a rival but tells what a property of kogge costs.
    Probe,
}

/// Whether the output is another buffer than the input.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// From one buffer into another that exists.
    Into,
    /// The output overwrites the input.
    InPlace,
}

impl Mode {
    /// The name in records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Into => "into",
            Self::InPlace => "in-place",
        }
    }
}

/// Whether a contender's name has such a word in it, in capitals or not.
pub fn has_word(name: &str, word: &str) -> bool {
    name.to_lowercase().contains(&word.to_lowercase())
}

type Into<'a, T> = Box<dyn Fn(&[T], &mut [T]) + Send + Sync + 'a>;
type InPlace<'a, T> = Box<dyn Fn(&mut [T]) + Send + Sync + 'a>;

/// How a contender is run.
pub enum Run<'a, T> {
    /// From one buffer into another.
    Into(Into<'a, T>),
    /// On one buffer.
    InPlace(InPlace<'a, T>),
}

/// One entry of a comparison.
pub struct Contender<'a, T> {
    /// The name in records and tables.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// Threads that it may use.
    pub threads: usize,
    /// Whether its result is the scan of the elements, and must be right.
    pub checked: bool,
    /// The thing itself.
    pub run: Run<'a, T>,
}

impl<'a, T> Contender<'a, T> {
    /// A contender from one buffer into another.
    pub fn into(
        role: Role,
        name: impl ToString,
        threads: usize,
        run: impl Fn(&[T], &mut [T]) + Send + Sync + 'a,
    ) -> Self {
        let run = Run::Into(Box::new(run));
        Self { name: name.to_string(), role, threads, checked: role != Role::Copy, run }
    }

    /// A contender on one buffer.
    pub fn in_place(
        role: Role,
        name: impl ToString,
        threads: usize,
        run: impl Fn(&mut [T]) + Send + Sync + 'a,
    ) -> Self {
        let run = Run::InPlace(Box::new(run));
        Self { name: name.to_string(), role, threads, checked: role != Role::Copy, run }
    }

    /// Not a scan of these elements by this operator: its result is not compared.
    pub fn unchecked(self) -> Self {
        Self { checked: false, ..self }
    }

    /// Runs it once. A contender of one buffer leaves the input alone.
    pub fn call(&self, input: &[T], output: &mut [T]) {
        match &self.run {
            Run::Into(run) => run(input, output),
            Run::InPlace(run) => run(output),
        }
    }
}

//! The catalogue: the classic scans as lessons, one `.cu` file each.
//!
//! A lesson is a header (see [`Header`]) and CUDA C that compiles as it stands, for the simulated
//! GPU and for a real one. Three macros make it a scan of anything:
//!
//! - `ELEMENT`, the type of an element (`float` unless defined otherwise);
//! - `IDENTITY`, a value that changes nothing it is combined with (`0`);
//! - `COMBINE(a, b)`, the associative operator (`((a) + (b))`), commutative or not.
//!
//! The lesson makes them a type `T` and a function `combine`; the calls of that function are the
//! work. Sizes such as `BLOCK` are macros too. Each lesson has [`Mutant`]s: itself with one thing
//! left out, and the hazard that this must bring.
//!
//! To add a lesson, add its file, its mutants and its line in [`lessons`].

mod check;
mod expression;
mod header;
mod host;
mod launch;
mod mutant;
mod operator;
mod script;
mod trial;

use std::sync::LazyLock;

pub use check::Check;
pub use expression::{Expression, NotationError};
pub use header::{Formula, Header, Kind, integer_macros, opening_key};
pub use host::{Argument, Launch, Plan, Program as HostProgram, Scratch};
pub use mutant::Mutant;
pub use operator::{OPERATORS, Operator};
pub use script::Setup;
pub use trial::{Finds, Trial};

/// A lesson: its text, read.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its name, that of its file.
    pub name: String,
    /// The whole text of its file.
    pub text: String,
    /// What its header says.
    pub header: Header,
    /// Its mutants.
    pub mutants: Vec<Mutant>,
}

impl Lesson {
    /// Reads a lesson from its text and that of its mutants.
    ///
    /// # Errors
    ///
    /// A header or a mutant that can't be read.
    pub fn parse(name: &str, text: &str, mutants: &str) -> Result<Self, NotationError> {
        Ok(Self {
            name: name.to_owned(),
            text: text.to_owned(),
            header: Header::parse(text)?,
            mutants: Mutant::parse_all(mutants)?,
        })
    }
}

macro_rules! lessons {
    ($($name:literal)*) => {
        &[$((
            $name,
            include_str!(concat!("../../lessons/", $name, ".cu")),
            include_str!(concat!("../../lessons/mutants/", $name, ".mutants")),
        )),*]
    };
}

/// Name, text and mutants of every lesson, in the order in which they are best read.
const TEXTS: &[(&str, &str, &str)] = lessons! {
    "sequential"
    "one_thread_per_output"
    "kogge_stone_global"
    "kogge_stone_spin"
    "kogge_stone_cooperative"
    "kogge_stone_shared"
    "kogge_stone_double_buffer"
    "kogge_stone_exclusive_load"
    "kogge_stone_exclusive_result"
    "kogge_stone_warp"
    "brent_kung_diverging"
    "brent_kung"
    "sklansky"
    "ladner_fischer"
    "han_carlson"
    "hillis_steele"
    "blelloch"
    "coarsened"
    "hierarchical"
    "hierarchical_exclusive"
    "domino_static"
    "domino"
    "look_back"
    "reduce_then_scan"
    "rounds"
};

/// All lessons, in the order in which they are best read.
pub fn lessons() -> &'static [Lesson] {
    static LESSONS: LazyLock<Vec<Lesson>> = LazyLock::new(|| {
        let read = |&(name, text, mutants): &(&str, &str, &str)| {
            Lesson::parse(name, text, mutants)
                .unwrap_or_else(|error| panic!("lesson {name}: {error}"))
        };
        TEXTS.iter().map(read).collect()
    });
    &LESSONS
}

/// The lesson of this name; hyphens and underscores are the same.
pub fn lesson(name: &str) -> Option<&'static Lesson> {
    let name = name.replace('-', "_");
    lessons().iter().find(|lesson| lesson.name == name)
}

//! Nesting: the depth of every parenthesis, and whether they balance.
//!
//! A text balances if its depth ends at 0 and never falls below it; the least depth of two texts in
//! a row is the lesser of the first's and the second's taken from where the first ends.

use kogge::{Element, inclusive_scan, operator};

/// What is known of a stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Nesting {
    /// The depth at its end, from its beginning.
    pub depth: i32,
    /// The least depth within, at most 0.
    pub least: i32,
}

impl Nesting {
    /// Of one character.
    pub fn of(character: u8) -> Self {
        let depth = match character {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        Self { depth, least: depth.min(0) }
    }
}

/// Both stretches as one.
#[operator(identity = Nesting { depth: 0, least: 0 }, exact)]
pub fn Nest(left: Nesting, right: Nesting) -> Nesting {
    Nesting { depth: left.depth + right.depth, least: left.least.min(left.depth + right.least) }
}

/// Whether all parentheses of the text have their partners.
pub fn balanced(text: &str) -> bool {
    let characters: Vec<Nesting> = text.bytes().map(Nesting::of).collect();
    let nesting = inclusive_scan(&characters, Nest);
    nesting.last().is_none_or(|whole| whole.depth == 0 && whole.least == 0)
}

/// Runs the example.
pub fn main() {
    let deep = format!("{}x{}", "(".repeat(30_000), ")".repeat(30_000));
    for (text, expected) in
        [("", true), ("(a (b) c)", true), ("())(", false), ("((", false), (&deep, true)]
    {
        assert_eq!(balanced(text), expected);
        println!(
            "{}: {}",
            if expected { "balanced" } else { "not balanced" },
            &text[..text.len().min(20)]
        );
    }
}

//! Drawings of a run: the network of its operator applications.
//!
//! Elements run across, steps run down. Each application is a box in the column of the last element
//! that its result covers, with an arrow from its left operand; the box says which elements are
//! combined in it. What a finding concerns, and what no longer stands for a run of neighbours, is
//! red.
//!
//! [`Network::of`] reads the network from a traced [`Report`](crate::Report); [`svg`](fn@svg) and
//! [`text`](fn@text) draw it, and with the feature `png` so does `png`.

mod network;
#[cfg(feature = "png")]
mod png;
mod svg;
mod text;

pub use network::{Caption, Combination, Network, Output, Row};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use svg::svg;
pub use text::{Width, text};

/// The typeface of the drawings, a subset of Noto Sans (SIL Open Font License, `assets/OFL.txt`).
pub const FONT: &[u8] = include_bytes!("../../assets/NotoSans-subset.ttf");

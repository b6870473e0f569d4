//! How the parts of a scan cooperate, with no intrinsic in sight.
//!
//! From the inside out: [`lanes`] applies an operator to registers; [`rows`] and [`arrays`] scan
//! rows of any [format](mod@format), [`part`] one that isn't full, [`windows`] many that are
//! shorter, as [`cut`] finds their chunks, [`successive`] some at a time whose values leave [from
//! registers](turned) or through an [`outlet`]; [`free`], [`exact`] and [`headed`] do where any
//! order is as good. Whether rows, arrays or [`exact`] take a segment, the [shape](mod@shape) of
//! its types tells; [`compact`] code goes by the operator's own loops, and what is left of a row of
//! halves through [`staged`]. [`folds`] makes of rows' totals what precedes the next one; [`tile`]
//! puts segments together; [`sequential`] goes through tiles one by one, [`parallel`] lets threads
//! take them in turn, and [`middle`] has one of two take the middle of few, with [`handover`]
//! between them. [`strip`] goes across lines side by side, from and to where [`abreast`] says,
//! [`line`](mod@line) by line of the cache where it can, by [groups](group) of sixteen lines with
//! [`levels`] above their rows, and [`narrow`] through tables of fewer columns than that;
//! [`segmented`] through segments of any lengths, whose heads are masks. [`io`] is where all others
//! read and write, and [`asking`] what is brought near before, by [`pages`] in turn where memory is
//! far.

pub(crate) mod abreast;
mod arrays;
pub(crate) mod asking;
mod compact;
pub(crate) mod cut;
pub(crate) mod exact;
mod folds;
pub(crate) mod format;
mod free;
pub(crate) mod group;
pub(crate) mod handover;
pub(crate) mod headed;
pub(crate) mod io;
mod lanes;
pub(crate) mod levels;
pub(crate) mod line;
mod middle;
pub(crate) mod narrow;
pub(crate) mod outlet;
mod pages;
pub(crate) mod parallel;
pub(crate) mod part;
mod rows;
pub(crate) mod segmented;
pub(crate) mod sequential;
mod shape;
mod staged;
pub(crate) mod strip;
pub(crate) mod successive;
pub(crate) mod tile;
#[cfg(test)]
mod trial;
mod turned;
pub(crate) mod windows;

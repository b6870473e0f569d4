//! The front end: CUDA C text to a syntax tree.
//!
//! Text is cut into tokens, tokens are preprocessed, and the parser reads the
//! outline of the file. Function bodies are kept as tokens until something
//! calls them, so that host code, and device code outside the language, is
//! read past as long as no launched kernel needs it.

pub(crate) mod ast;
mod condition;
mod parse;
mod preprocess;
mod token;

pub(crate) use parse::{parse_body, parse_file, parse_kernel_name};
pub(crate) use preprocess::preprocess;
pub(crate) use token::Pos;

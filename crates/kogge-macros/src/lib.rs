//! Write an operator once in Rust; get Rust, CUDA C++ and WGSL.
//!
//! A macro sees tokens, not types. So it does what tokens allow: it checks that a function stays
//! within the operator language and makes two things of it, node by node in one walk (`language`):
//! Rust, in which arithmetic is calls into `kogge::device::lang`, and the same tree as data. Types
//! are found later, by `rustc` in the Rust and by unification in the data. What isn't in the
//! language is refused here, at its token, with what to write instead.
//!
//! Use these by way of `kogge`, which exports them and documents the language (`kogge::device`).

mod arguments;
mod attempt;
mod device;
mod element;
mod language;
mod operator;
mod path;

use proc_macro::TokenStream;

/// Makes a function of two elements an associative operator for every engine.
///
/// ```ignore
/// /// The greater of the products of a prefix.
/// #[kogge::operator(identity = 1.0, exact)]
/// fn Longest(left: f32, right: f32) -> f32 {
///     left.max(right)
/// }
/// let longest = kogge::inclusive_scan(&data, Longest);
/// ```
///
/// The function becomes a unit struct of its name that implements `kogge::Operator` (compiled Rust)
/// and `kogge::device::DeviceOperator` (CUDA C++ and WGSL). Arguments of the attribute:
///
/// * `identity = expression`: the value that changes nothing; any Rust expression.
/// * `exact`, or `exact = constant`: `combine` is associative to the last bit, as integer sums and
///   minima are and float sums are not. Left out, it is taken not to be, which is always right.
/// * `commutative`, or `commutative = constant`: besides being exact, `combine` commutes to the
///   last bit, and the identity changes no bit. Left out, it is taken not to.
/// * `on = Name`: implements an operator on one more type for a struct that exists already.
/// * `crate = path`: where `kogge` or `kogge_core` is, if Cargo can't tell.
///
/// Type parameters and `where` clauses of the function become those of the implementations:
/// `fn Sum<T: Number>(left: T, right: T) -> T { left + right }`. A first parameter `inner: &O`,
/// with `O: Operator<T>` among the type parameters, makes an operator that wraps another one: a
/// struct `Name<O>(pub O)`, whose function may call `inner.combine(…)`.
#[proc_macro_attribute]
pub fn operator(arguments: TokenStream, item: TokenStream) -> TokenStream {
    operator::expand(arguments.into(), item.into()).into()
}

/// Lets operators call a function of the operator language.
///
/// The function stays an ordinary one. It can take and return numbers, `bool`, arrays and
/// `#[derive(Element)]` structs, and has no type parameters.
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(arguments.into(), item.into()).into()
}

/// Makes a `repr(C)` struct an element: plain old data that every engine knows.
///
/// Implements `bytemuck::Zeroable` and `Pod`, `kogge::Element` (accumulated in itself) and
/// `kogge::device::DeviceType`. Fields must be elements themselves and types of the operator
/// language, and nothing may be padding between or after them: both are checked at compile time. So
/// `usize` can't be a field, because it has another size on another machine, nor can `f16` and
/// `bf16`: these are elements by themselves alone, widened to `f32` before an operator sees them.
/// The struct must be `Copy`.
///
/// A generic struct is an element for the types that it lists: `#[element(T = [i32, f32])]`.
#[proc_macro_derive(Element, attributes(element))]
pub fn derive_element(item: TokenStream) -> TokenStream {
    element::expand(item.into()).into()
}

//! Operators and elements as the kernels take them: the text that kogge-core generates, within a
//! struct that a template can be given.

use crate::Error;
use kogge_core::Element;
use kogge_core::device::ir::{Block, Expr, Function, Scalar, Type, Word};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType, Storage, cuda};

/// What the operator language's words mean in CUDA C++; goes before the operators, once.
pub use kogge_core::device::cuda::PRELUDE;

/// An operator's text, and what its tree tells about speed.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorSource {
    /// The definition of the struct by which kernels know it. Follows [`PRELUDE`].
    pub text: String,
    /// Whether it adds integers narrower than a word. The struct adds them as `int`, whose low bits
    /// are the same, and whole words of them can be added at once.
    pub adds_narrow_integers: bool,
    /// The struct of its quicker form for numbers, which gives some NaN where an operand is one; or
    /// its own.
    pub plain: String,
}

/// The text of an operator as a struct `name` with `Element`, `identity` and `combine`.
///
/// # Errors
///
/// [`Error::Operator`] if the operator calls itself.
pub fn operator_source<A, O>(operator: &O, name: &str) -> Result<OperatorSource, Error>
where
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let (function, identity) = (operator.function(), operator.identity().device_value());
    let adds_narrow_integers = adds_narrow_integers(&function);
    let function = if adds_narrow_integers { addition_of_int(&function) } else { function };
    let definition = cuda::definition(&function, &identity, name)?;
    let text = format!(
        "{definition}struct {name} {{
    typedef kogge::{name}::Element Element;
    static __device__ __forceinline__ Element identity() {{ return kogge::{name}::identity(); }}
    static __device__ __forceinline__ Element combine(Element left, Element right) {{
        return kogge::{name}::combine(left, right);
    }}
}};
"
    );
    let (plain, definition) = match extreme_of_numbers(&function) {
        None => (name.to_string(), String::new()),
        Some(word) => (format!("{name}Plain"), plain_operator(name, word)),
    };
    Ok(OperatorSource { text: text + &definition, adds_narrow_integers, plain })
}

/// What gives the extreme of two `f32` in one instruction, if that is all the function does.
fn extreme_of_numbers(function: &Function) -> Option<&'static str> {
    match (word_of_parameters(function)?, &function.result) {
        (Word::Minimum, Type::Scalar(Scalar::F32)) => Some("lowest"),
        (Word::Maximum, Type::Scalar(Scalar::F32)) => Some("highest"),
        _ => None,
    }
}

/// The quicker form of operator `name`.
fn plain_operator(name: &str, word: &str) -> String {
    format!(
        "struct {name}Plain {{
    typedef {name}::Element Element;
    static __device__ __forceinline__ Element combine(Element left, Element right) {{ return kogge::{word}(left, right); }}
    static __device__ __forceinline__ bool is_number(Element value) {{ return value == value; }}
}};
"
    )
}

/// Whether `combine` is `left + right` of 8 or 16 bits.
fn adds_narrow_integers(function: &Function) -> bool {
    let Type::Scalar(scalar) = function.result else { return false };
    scalar.is_integer() && scalar.bits() < 32 && word_of_parameters(function) == Some(Word::Add)
}

/// The word that the function applies to its two parameters, if that is all it does.
fn word_of_parameters(function: &Function) -> Option<Word> {
    let [left, right] = function.parameters.as_slice() else { return None };
    let Block { statements, value: Some(value) } = &function.body else { return None };
    let Expr::Word(word, operands) = &**value else { return None };
    let named = |expr: &Expr, name| *expr == Expr::Variable(name);
    let plain = statements.is_empty()
        && operands.len() == 2
        && named(&operands[0], left.name)
        && named(&operands[1], right.name);
    plain.then_some(*word)
}

/// The same function, on `int`. Addition and narrowing can change places, modulo 2^8 or 2^16.
fn addition_of_int(function: &Function) -> Function {
    let int = || Type::Scalar(Scalar::I32);
    let mut wide = Function { result: int(), ..function.clone() };
    wide.parameters.iter_mut().for_each(|parameter| parameter.ty = int());
    wide
}

/// What kernels call the type of an element: `operator` is the struct of the operator on `A`.
///
/// # Errors
///
/// [`Error::Unsupported`] if the element is neither `A` nor a number.
pub(crate) fn type_name<T, A>(operator: &str) -> Result<String, Error>
where
    T: DeviceElement,
    A: DeviceElement,
{
    match T::storage() {
        Storage::Type(Type::Scalar(scalar)) => Ok(format!("kogge::{}", scalar.name())),
        Storage::F16 => Ok("f16".into()),
        Storage::Bf16 => Ok("bf16".into()),
        storage if storage == A::storage() => Ok(format!("{operator}::Element")),
        _ => Err(Error::Unsupported(format!(
            "elements `{}` accumulated in `{}`: on a GPU only numbers can be widened",
            std::any::type_name::<T>(),
            std::any::type_name::<A>(),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge_core::ops::{Affine, Compose, Max, Sum};
    use kogge_core::{bf16, f16};

    fn adds<A: Element + DeviceType, O: DeviceOperator<A>>(operator: O) -> bool {
        let source = operator_source::<A, O>(&operator, "Name").expect("a text");
        assert!(source.text.contains("struct Name {"), "{}", source.text);
        assert_eq!(source.text.contains("typedef i32 Element;"), source.adds_narrow_integers);
        source.adds_narrow_integers
    }

    /// A user's own addition is known as well as the built-in one.
    #[kogge_core::operator(identity = 0)]
    fn Own(left: u8, right: u8) -> u8 {
        left + right
    }
    #[kogge_core::operator(identity = 0)]
    fn Twice(left: u8, right: u8) -> u8 {
        left + right + right
    }

    #[test]
    fn additions_of_narrow_integers_are_known() {
        assert!(adds::<i8, _>(Sum) && adds::<u16, _>(Sum) && adds::<u8, _>(Own));
        assert!(!adds::<f32, _>(Sum) && !adds::<u64, _>(Sum));
        assert!(!adds::<i8, _>(Max) && !adds::<u8, _>(Twice));
        assert!(!adds::<Affine<f32>, _>(Compose));
    }

    #[test]
    fn kernels_name_elements() {
        let name = type_name::<f16, f32>("Op").ok();
        assert_eq!(name.as_deref(), Some("f16"));
        assert_eq!(type_name::<bf16, f64>("Op").ok().as_deref(), Some("bf16"));
        assert_eq!(type_name::<u16, u64>("Op").ok().as_deref(), Some("kogge::u16"));
        let pair = type_name::<Affine<f32>, Affine<f32>>("Op").ok();
        assert_eq!(pair.as_deref(), Some("Op::Element"));
        let refused = type_name::<Affine<f32>, Affine<f64>>("Op");
        assert!(matches!(refused, Err(Error::Unsupported(_))));
    }
}

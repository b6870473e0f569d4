//! Operators and elements as the kernels take them: the text that kogge-core generates, within a struct
//! that a template can be given.

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
    /// Whether it adds integers narrower than a word. The struct adds them as `int`, whose low bits are
    /// the same, and whole words of them can be added at once.
    pub adds_narrow_integers: bool,
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
    Ok(OperatorSource { text, adds_narrow_integers })
}

/// Whether `combine` is `left + right` of 8 or 16 bits.
fn adds_narrow_integers(function: &Function) -> bool {
    let Type::Scalar(scalar) = function.result else { return false };
    let [left, right] = function.parameters.as_slice() else { return false };
    let Block { statements, value: Some(value) } = &function.body else { return false };
    let Expr::Word(Word::Add, operands) = &**value else { return false };
    let named = |expr: &Expr, name| *expr == Expr::Variable(name);
    scalar.is_integer()
        && scalar.bits() < 32
        && statements.is_empty()
        && named(&operands[0], left.name)
        && named(&operands[1], right.name)
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

//! Operators as CUDA C++.

use super::ir::{Function, Scalar, Type, Value, Word};
use super::writer::{Dialect, Names, Program, field_name, sized};
use super::{DeviceOperator, DeviceType, Error};
use std::fmt::Write as _;

/// The words of the language in CUDA C++ (namespace `kogge`); it may be included more than once.
pub const PRELUDE: &str = include_str!("lang.cuh");

/// An operator as CUDA C++ that needs no header, to be put before a kernel.
///
/// Within `namespace kogge::NAME` the text defines `Element` (the accumulator, laid out as in
/// Rust), `Element identity()` and `Element combine(Element left, Element right)`, all
/// `__device__`. It starts with [`PRELUDE`], so it stands alone, and several operators can share a
/// translation unit.
///
/// # Errors
///
/// [`Error::Recursion`] if a `#[device]` function calls itself through another one.
pub fn source<A, O>(operator: &O, name: &str) -> Result<String, Error>
where
    A: DeviceType + crate::Element,
    O: DeviceOperator<A>,
{
    let (function, identity) = (operator.function(), operator.identity().device_value());
    Ok(format!("{PRELUDE}\n{}", definition(&function, &identity, name)?))
}

/// The part of [`source()`] that follows the [`PRELUDE`], of an operator that is at hand as data:
/// its `combine` and its identity, a value of the function's result type.
///
/// # Errors
///
/// As [`source()`].
pub fn definition(function: &Function, identity: &Value, name: &str) -> Result<String, Error> {
    let ty = &function.result;
    let mut cuda = Cuda::default();
    let mut program = Program::new(&mut cuda);
    let combine = program.function(function)?;
    let identity = program.value(ty, identity)?;
    let element = {
        let Program { dialect, names, .. } = &mut program;
        dialect.type_name(ty, names)?
    };
    let functions = program.text;
    // Kernels combine in dozens of places: in line, so much code takes seconds to compile and
    // doesn't fit the GPU's instruction cache.
    let inlining = if cuda.costly { "KOGGE_CALLED" } else { "KOGGE_FN" };
    Ok(format!(
        "namespace kogge {{\nnamespace {name} {{\n\n{}{functions}\
         typedef {element} Element;\n\
         static_assert(sizeof(Element) == {}, \"laid out as in Rust\");\n\n\
         KOGGE_FN Element identity() {{\n    return {identity};\n}}\n\n\
         {inlining} Element combine(Element left, Element right) {{\n    \
         return {combine}(left, right);\n}}\n\n\
         }}  // namespace {name}\n}}  // namespace kogge\n",
        cuda.structs,
        ty.bytes(),
    ))
}

#[derive(Default)]
struct Cuda {
    structs: String,
    /// Whether there is a word that takes dozens of instructions.
    costly: bool,
}

impl Dialect for Cuda {
    fn type_name(&mut self, ty: &Type, names: &mut Names) -> Result<String, Error> {
        Ok(match ty {
            Type::Scalar(scalar) => scalar.name().to_owned(),
            Type::Array(element, len) => {
                format!("Array<{}, {len}>", self.type_name(element, names)?)
            }
            Type::Struct(declared) => {
                let (name, new) = names.of_struct(declared);
                if new {
                    let mut text = format!("struct {name} {{\n");
                    let fields = declared.fields.iter().enumerate();
                    for (place, field) in fields.filter(|(_, field)| sized(&field.ty)) {
                        let ty = self.type_name(&field.ty, names)?;
                        let _ = writeln!(text, "    {ty} {};", field_name(declared, place));
                    }
                    let _ = write!(self.structs, "{text}}};\n\n");
                }
                name
            }
        })
    }

    fn literal(&mut self, scalar: Scalar, bits: u64) -> Result<String, Error> {
        Ok(match scalar {
            Scalar::Bool => (bits != 0).to_string(),
            Scalar::F32 => {
                format!("f32_from_bits({bits:#010x}u /* {:?} */)", f32::from_bits(bits as u32))
            }
            Scalar::F64 => {
                format!("f64_from_bits({bits:#018x}ull /* {:?} */)", f64::from_bits(bits))
            }
            // The literal of a minimum would be the negation of a number that is out of range.
            Scalar::I64 if bits == 1 << 63 => "(i64(-9223372036854775807ll) - 1)".to_owned(),
            _ if scalar.is_signed() => format!("{}({}ll)", scalar.name(), bits as i64),
            _ => format!("{}({bits}ull)", scalar.name()),
        })
    }

    fn compose(&mut self, ty: &Type, parts: &[String], names: &mut Names) -> Result<String, Error> {
        let (name, parts) = (self.type_name(ty, names)?, parts.join(", "));
        Ok(match ty {
            Type::Array(..) => format!("{name}{{{{{parts}}}}}"),
            _ => format!("{name}{{{parts}}}"),
        })
    }

    fn word(&mut self, word: Word, _: &[Scalar], arguments: &[String]) -> Result<String, Error> {
        use Word::{Div, Exp, Exp2, Ln, Log2, Powi, Rem, Sqrt};
        self.costly |= matches!(word, Div | Rem | Sqrt | Exp | Ln | Exp2 | Log2 | Powi);
        Ok(format!("{}({})", word.name(), arguments.join(", ")))
    }

    fn cast(&mut self, _: Scalar, to: Scalar, value: &str) -> Result<String, Error> {
        Ok(format!("As<{}>::from({value})", to.name()))
    }

    fn element(&self, array: &str, index: &str, len: usize) -> String {
        format!("{array}.at[index<{len}>({index})]")
    }

    fn variable(&self, ty: &str, name: &str, value: Option<&str>) -> String {
        match value {
            Some(value) => format!("{ty} {name} = {value};"),
            None => format!("{ty} {name};"),
        }
    }

    fn signature(&self, name: &str, parameters: &[(String, String)], result: &str) -> String {
        let parameters: Vec<_> =
            parameters.iter().map(|(name, ty)| format!("{ty} {name}")).collect();
        format!("KOGGE_FN {result} {name}({})", parameters.join(", "))
    }

    fn repeat(&self, counter: &str, turns: u32) -> String {
        format!("for (u32 {counter} = 0; {counter} < {turns}u; ++{counter})")
    }
}

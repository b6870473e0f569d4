//! Operators as WGSL.
//!
//! WGSL has no 8- and 16-bit integers: they live in `i32` and `u32`, sign- or zero-extended, and
//! every word brings its result back into range. Elements travel through memory as words of 32
//! bits, little end first, exactly as Rust lays them out.
//!
//! Every word is a function, so that no literal operands make a constant expression, whose overflow
//! WGSL would refuse.

mod words;

use super::ir::{Scalar, Type, Word};
use super::writer::{Dialect, Names, Program, field_name, sized};
use super::{DeviceOperator, DeviceType, Error};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// An operator as WGSL, and what a device must have to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The text: `alias KoggeElement`, `fn kogge_identity() -> KoggeElement`,
    /// `fn kogge_combine(left: KoggeElement, right: KoggeElement) -> KoggeElement`,
    /// `alias KoggeWords` (the `array<u32, …>` that holds an element in memory, the last word
    /// filled up with zeros), `fn kogge_unpack(words: KoggeWords) -> KoggeElement` and
    /// `fn kogge_pack(value: KoggeElement) -> KoggeWords`. All names start with `kogge_` or
    /// `Kogge`, or end in an underscore and digits.
    pub text: String,
    /// Whether the device must have 64-bit integers (wgpu's `SHADER_INT64`).
    pub needs_int64: bool,
    /// Whether the device must have 64-bit floats (wgpu's `SHADER_F64`).
    pub needs_float64: bool,
}

/// How the text guards what WGSL leaves to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options<'a> {
    /// A `u32` expression that is always 0 without the shader compiler knowing it, such as a field
    /// of a uniform. WGSL allows compilers to fuse and reassociate float arithmetic, and they do:
    /// Mesa moves literals to the end of a chain of sums. With a zero mixed into the bits of each
    /// float literal and result, none can; it costs an integer operation each.
    pub zero: Option<&'a str>,
}

/// An operator as WGSL.
///
/// Errors: [`Error::Unsupported`] for what WGSL can't say: transcendental functions and `mul_add`
/// of `f64`. [`Error::Recursion`] if a `#[device]` function calls itself through another one.
pub fn source<A, O>(operator: &O, options: Options<'_>) -> Result<Source, Error>
where
    A: DeviceType + crate::Element,
    O: DeviceOperator<A>,
{
    let identity = operator.identity().device_value();
    let (function, ty) = (operator.function(), A::device_type());
    let mut wgsl = Wgsl { zero: options.zero, ..Wgsl::default() };
    let mut program = Program::new(&mut wgsl);
    let combine = program.function(&function)?;
    let identity = program.value(&ty, &identity)?;
    let memory = memory(&mut program, &ty)?;
    let functions = program.text;
    let mut text = format!(
        "{}fn kogge_identity() -> KoggeElement {{\n    return {identity};\n}}\n\n\
         fn kogge_combine(left: KoggeElement, right: KoggeElement) -> KoggeElement {{\n    \
         return {combine}(left, right);\n}}\n\n{memory}{functions}",
        wgsl.structs
    );
    for word in wgsl.words.values() {
        text.push_str(word);
        text.push('\n');
    }
    Ok(Source { text, needs_int64: wgsl.int64, needs_float64: wgsl.float64 })
}

/// The element's name, and its way from and to words of memory.
fn memory(program: &mut Program<'_, Wgsl<'_>>, ty: &Type) -> Result<String, Error> {
    let mut offset = 0;
    let unpack = unpack(program, ty, &mut offset)?;
    let mut pieces = vec![Vec::new(); offset.div_ceil(4)];
    pack(program, ty, "value", &mut 0, &mut pieces)?;
    let words: Vec<_> = pieces.iter().map(|pieces| pieces.join(" | ")).collect();
    let name = program.dialect.type_name(ty, &mut program.names)?;
    let len = words.len();
    Ok(format!(
        "alias KoggeElement = {name};\nalias KoggeWords = array<u32, {len}>;\n\n\
         fn kogge_unpack(words: KoggeWords) -> KoggeElement {{\n    return {unpack};\n}}\n\n\
         fn kogge_pack(value: KoggeElement) -> KoggeWords {{\n    \
         return KoggeWords({});\n}}\n\n",
        words.join(", ")
    ))
}

/// The value at this byte offset of `words`.
fn unpack(
    program: &mut Program<'_, Wgsl<'_>>,
    ty: &Type,
    offset: &mut usize,
) -> Result<String, Error> {
    let parts = match ty {
        Type::Scalar(scalar) => {
            let (word, shift) = (format!("words[{}]", *offset / 4), *offset % 4 * 8);
            let high = format!("words[{}]", *offset / 4 + 1);
            *offset += ty.bytes();
            return program.dialect.read_words(*scalar, &word, &high, shift);
        }
        Type::Array(element, len) => {
            let parts = (0..*len).map(|_| unpack(program, element, offset));
            parts.collect::<Result<Vec<_>, _>>()?
        }
        Type::Struct(declared) => {
            let fields = declared.fields.iter().filter(|field| sized(&field.ty));
            let parts = fields.map(|field| unpack(program, &field.ty, offset));
            parts.collect::<Result<Vec<_>, _>>()?
        }
    };
    program.dialect.compose(ty, &parts, &mut program.names)
}

/// The pieces of each word of memory, to be joined by `|`.
fn pack(
    program: &mut Program<'_, Wgsl<'_>>,
    ty: &Type,
    value: &str,
    offset: &mut usize,
    words: &mut [Vec<String>],
) -> Result<(), Error> {
    match ty {
        Type::Scalar(scalar) => {
            let (word, shift) = (*offset / 4, *offset % 4 * 8);
            *offset += ty.bytes();
            for (piece, word) in
                program.dialect.write_words(*scalar, value, shift)?.into_iter().zip(word..)
            {
                words[word].push(piece);
            }
            Ok(())
        }
        Type::Array(element, len) => (0..*len)
            .try_for_each(|i| pack(program, element, &format!("{value}[{i}]"), offset, words)),
        Type::Struct(declared) => {
            let fields = declared.fields.iter().enumerate();
            fields.filter(|(_, field)| sized(&field.ty)).try_for_each(|(place, field)| {
                let value = format!("{value}.{}", field_name(declared, place));
                pack(program, &field.ty, &value, offset, words)
            })
        }
    }
}

#[derive(Default)]
struct Wgsl<'a> {
    zero: Option<&'a str>,
    structs: String,
    /// The words used, by their names.
    words: BTreeMap<String, String>,
    int64: bool,
    float64: bool,
}

impl Wgsl<'_> {
    /// The type that holds such values.
    fn holder(&mut self, scalar: Scalar) -> &'static str {
        self.int64 |= matches!(scalar, Scalar::I64 | Scalar::U64);
        self.float64 |= scalar == Scalar::F64;
        words::holder(scalar)
    }

    /// Calls the word of this name, which `text` defines.
    fn call(&mut self, name: String, text: String, arguments: &[String]) -> String {
        let call = format!("{name}({})", arguments.join(", "));
        self.words.entry(name).or_insert(text);
        call
    }

    fn read_words(
        &mut self,
        scalar: Scalar,
        low: &str,
        high: &str,
        shift: usize,
    ) -> Result<String, Error> {
        self.holder(scalar);
        Ok(match scalar {
            Scalar::I8 => format!("(bitcast<i32>({low} << {}u) >> 24u)", 24 - shift),
            Scalar::I16 => format!("(bitcast<i32>({low} << {}u) >> 16u)", 16 - shift),
            Scalar::U8 => format!("(({low} >> {shift}u) & 0xffu)"),
            Scalar::U16 => format!("(({low} >> {shift}u) & 0xffffu)"),
            Scalar::Bool => format!("({low} != 0u)"),
            Scalar::I32 => format!("bitcast<i32>({low})"),
            Scalar::U32 | Scalar::Usize => low.to_owned(),
            Scalar::F32 => format!("bitcast<f32>({low})"),
            Scalar::U64 => format!("(u64({low}) | (u64({high}) << 32u))"),
            Scalar::I64 => format!("bitcast<i64>(u64({low}) | (u64({high}) << 32u))"),
            Scalar::F64 => {
                self.int64 = true;
                format!("bitcast<f64>(u64({low}) | (u64({high}) << 32u))")
            }
        })
    }

    fn write_words(
        &mut self,
        scalar: Scalar,
        value: &str,
        shift: usize,
    ) -> Result<Vec<String>, Error> {
        let low = match scalar {
            Scalar::I8 => format!("((bitcast<u32>({value}) & 0xffu) << {shift}u)"),
            Scalar::I16 => format!("((bitcast<u32>({value}) & 0xffffu) << {shift}u)"),
            Scalar::U8 | Scalar::U16 => format!("({value} << {shift}u)"),
            Scalar::Bool => format!("select(0u, 1u, {value})"),
            Scalar::I32 | Scalar::F32 => format!("bitcast<u32>({value})"),
            Scalar::U32 | Scalar::Usize => value.to_owned(),
            Scalar::U64 => return Ok(halves(value)),
            Scalar::I64 | Scalar::F64 => return Ok(halves(&format!("bitcast<u64>({value})"))),
        };
        Ok(vec![low])
    }
}

fn halves(value: &str) -> Vec<String> {
    vec![format!("u32({value} & 0xfffffffflu)"), format!("u32({value} >> 32u)")]
}

impl Dialect for Wgsl<'_> {
    fn type_name(&mut self, ty: &Type, names: &mut Names) -> Result<String, Error> {
        Ok(match ty {
            Type::Scalar(scalar) => self.holder(*scalar).to_owned(),
            Type::Array(element, len) => {
                format!("array<{}, {len}>", self.type_name(element, names)?)
            }
            Type::Struct(declared) => {
                let (name, new) = names.of_struct(declared);
                if new {
                    let mut text = format!("struct {name} {{\n");
                    let fields = declared.fields.iter().enumerate();
                    for (place, field) in fields.filter(|(_, field)| sized(&field.ty)) {
                        let ty = self.type_name(&field.ty, names)?;
                        let _ = writeln!(text, "    {}: {ty},", field_name(declared, place));
                    }
                    let _ = write!(self.structs, "{text}}}\n\n");
                }
                name
            }
        })
    }

    fn literal(&mut self, scalar: Scalar, bits: u64) -> Result<String, Error> {
        self.holder(scalar);
        Ok(match scalar {
            Scalar::Bool => (bits != 0).to_string(),
            Scalar::I8 | Scalar::I16 | Scalar::I32 => format!("i32({})", bits as i64),
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::Usize => format!("{bits}u"),
            Scalar::U64 => format!("{bits}lu"),
            Scalar::I64 if bits == 1 << 63 => "(-9223372036854775807li - 1li)".to_owned(),
            Scalar::I64 => format!("({}li)", bits as i64),
            // Zeros, infinities, NaN and subnormals have no literal that every device keeps.
            // With a zero to hide behind, no literal is shown, so that nothing is simplified by it.
            Scalar::F32 if self.zero.is_none() && f32::from_bits(bits as u32).is_normal() => {
                format!("({:?}f)", f32::from_bits(bits as u32))
            }
            Scalar::F64 if self.zero.is_none() && f64::from_bits(bits).is_normal() => {
                format!("({:?}lf)", f64::from_bits(bits))
            }
            Scalar::F32 => self.word(Word::F32FromBits, &[Scalar::U32], &[format!("{bits}u")])?,
            Scalar::F64 => self.word(Word::F64FromBits, &[Scalar::U64], &[format!("{bits}lu")])?,
        })
    }

    fn compose(&mut self, ty: &Type, parts: &[String], names: &mut Names) -> Result<String, Error> {
        Ok(format!("{}({})", self.type_name(ty, names)?, parts.join(", ")))
    }

    fn word(
        &mut self,
        word: Word,
        types: &[Scalar],
        arguments: &[String],
    ) -> Result<String, Error> {
        let word = words::word(word, types, self.zero)?;
        self.int64 |= word.needs_int64;
        for (name, text) in word.helpers {
            self.words.entry((*name).to_owned()).or_insert_with(|| (*text).to_owned());
        }
        Ok(self.call(word.name, word.text, arguments))
    }

    fn cast(&mut self, from: Scalar, to: Scalar, value: &str) -> Result<String, Error> {
        if from == to {
            return Ok(value.to_owned());
        }
        let (name, text) = words::cast(from, to);
        Ok(self.call(name, text, &[value.to_owned()]))
    }

    fn element(&self, array: &str, index: &str, len: usize) -> String {
        format!("{array}[min({index}, {}u)]", len.saturating_sub(1))
    }

    fn variable(&self, ty: &str, name: &str, value: Option<&str>) -> String {
        match value {
            Some(value) => format!("var {name}: {ty} = {value};"),
            None => format!("var {name}: {ty};"),
        }
    }

    fn signature(&self, name: &str, parameters: &[(String, String)], result: &str) -> String {
        let parameters: Vec<_> =
            parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        format!("fn {name}({}) -> {result}", parameters.join(", "))
    }

    fn repeat(&self, counter: &str, turns: u32) -> String {
        format!("for (var {counter} = 0u; {counter} < {turns}u; {counter}++)")
    }
}

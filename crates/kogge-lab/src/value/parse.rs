//! The command line's way of writing values.

use super::spelling::vector;
use super::{ArrayInit, Diagnostic, Number, ScalarType, Value, Values};

/// Most elements of an array that a text of a few characters asks for.
const MAX_LEN: usize = 1 << 28;

/// Reads a value: a number (`42`, `-1.5`, `0x10`, `true`), a null pointer (`nullptr`, `NULL`, 0),
/// or an array:
/// `TYPE[N]` (zeros), `TYPE:iota(N)`, `TYPE:ones(N)`, `TYPE:random(N,SEED)`,
/// `TYPE:uninit(N)`, `TYPE:1,2,3`, `TYPE:@FILE`. An array of vectors is one of
/// their components: `uint4[8]` is `uint[32]`.
///
/// `load` reads a file's elements as the type given; it is never called for
/// another form.
///
/// # Errors
///
/// Another form, an unknown type, a number beyond the type's range, more than
/// 2^28 elements, or whatever `load` says.
///
/// ```
/// use kogge_lab::value::{ArrayInit, Number, ScalarType, Value, parse};
///
/// let mut no_file = |_: &str, _| unreachable!();
/// assert_eq!(parse("42", &mut no_file)?, Value::Number(Number::Int(42)));
/// let iota = ArrayInit::Iota(ScalarType::F32, 16);
/// assert_eq!(parse("float:iota(16)", &mut no_file)?, Value::Array(iota));
/// # Ok::<(), kogge_lab::Diagnostic>(())
/// ```
pub fn parse(
    text: &str,
    load: &mut dyn FnMut(&str, ScalarType) -> Result<Values, Diagnostic>,
) -> Result<Value, Diagnostic> {
    let text = text.trim();
    if matches!(text, "nullptr" | "NULL") {
        return Ok(Value::Number(Number::Int(0)));
    }
    if let Some(n) = number(text) {
        return Ok(Value::Number(n));
    }
    if let Some((ty, rest)) = text.split_once(':') {
        return contents(&element(ty)?, rest.trim(), load).map(Value::Array);
    }
    if let Some((ty, len)) = text.strip_suffix(']').and_then(|t| t.split_once('[')) {
        let element = element(ty)?;
        return Ok(Value::Array(ArrayInit::Zeros(element.ty, element.length(len)?)));
    }
    Err(Diagnostic::general(format!("`{text}` is no value")).with_help(
        "write a number, nullptr, TYPE[N], TYPE:iota(N), TYPE:ones(N), TYPE:random(N,SEED), TYPE:@FILE or TYPE:1,2,3",
    ))
}

/// What an array has so many of.
struct Element {
    ty: ScalarType,
    /// Components of a vector, 1 of any other type.
    components: usize,
    name: String,
}

fn element(name: &str) -> Result<Element, Diagnostic> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let name = words.join(" ");
    let found = ScalarType::from_name(&name).map(|ty| (ty, 1)).or_else(|| vector(&name));
    let Some((ty, components)) = found else {
        return Err(Diagnostic::general(format!("`{name}` is no type")).with_help(
            "name a type of numbers, such as unsigned int, or a vector, such as uint4",
        ));
    };
    Ok(Element { ty, components, name })
}

impl Element {
    /// How many numbers there are in as many elements as the text says.
    fn length(&self, text: &str) -> Result<usize, Diagnostic> {
        let text = text.trim();
        let Ok(elements) = text.parse::<usize>() else {
            return Err(Diagnostic::general(format!("`{text}` is no number of elements")));
        };
        let numbers = elements.checked_mul(self.components).filter(|&n| n <= MAX_LEN);
        numbers.ok_or_else(|| {
            Diagnostic::general(format!("{elements} elements have more than 2^28 numbers"))
        })
    }

    /// Refuses a last vector that is not complete.
    fn whole(&self, values: Values) -> Result<ArrayInit, Diagnostic> {
        if values.len().is_multiple_of(self.components) {
            return Ok(ArrayInit::Data(values));
        }
        let (name, given, components) = (&self.name, values.len(), self.components);
        Err(Diagnostic::general(format!("{given} numbers make no whole number of {name}"))
            .with_help(format!("give a multiple of {components}")))
    }
}

fn contents(
    element: &Element,
    text: &str,
    load: &mut dyn FnMut(&str, ScalarType) -> Result<Values, Diagnostic>,
) -> Result<ArrayInit, Diagnostic> {
    if let Some(file) = text.strip_prefix('@') {
        let ty = element.ty;
        let values = load(file, ty)?;
        if values.ty() != ty {
            return Err(Diagnostic::general(format!(
                "{file} holds {}, not {}",
                values.ty().c_name(),
                ty.c_name()
            )));
        }
        return element.whole(values);
    }
    if let Some((name, arguments)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        return generated(element, name.trim(), arguments);
    }
    element.whole(list(element.ty, text)?)
}

fn generated(element: &Element, name: &str, arguments: &str) -> Result<ArrayInit, Diagnostic> {
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let ty = element.ty;
    let length = |n: &str| element.length(n);
    let init = match (name, &arguments[..]) {
        ("iota", [n]) => ArrayInit::Iota(ty, length(n)?),
        ("ones", [n]) => ArrayInit::Ones(ty, length(n)?),
        ("zeros", [n]) => ArrayInit::Zeros(ty, length(n)?),
        ("uninit", [n]) => ArrayInit::Uninitialised(ty, length(n)?),
        ("random", [n]) => ArrayInit::Random(ty, length(n)?, 0),
        ("random", [n, seed]) => {
            let seed =
                seed.parse().map_err(|_| Diagnostic::general(format!("`{seed}` is no seed")))?;
            ArrayInit::Random(ty, length(n)?, seed)
        }
        _ => {
            return Err(Diagnostic::general(format!("`{name}` makes no array"))
                .with_help("iota(N), ones(N), zeros(N), uninit(N) and random(N,SEED) do"));
        }
    };
    Ok(init)
}

fn list(ty: ScalarType, text: &str) -> Result<Values, Diagnostic> {
    if text.is_empty() {
        return Ok(Values::from_numbers(ty, 0, |_| Number::Int(0)));
    }
    let mut numbers = Vec::new();
    for word in text.split(',') {
        let word = word.trim();
        let n =
            number(word).ok_or_else(|| Diagnostic::general(format!("`{word}` is no number")))?;
        if !fits(ty, n) {
            return Err(Diagnostic::general(format!("{word} is no {}", ty.c_name())));
        }
        numbers.push(n);
    }
    Ok(Values::from_numbers(ty, numbers.len(), |i| numbers[i]))
}

fn number(text: &str) -> Option<Number> {
    match text {
        "true" => return Some(Number::Bool(true)),
        "false" => return Some(Number::Bool(false)),
        _ => {}
    }
    if let Some(hexadecimal) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return u64::from_str_radix(hexadecimal, 16).ok().map(Number::UInt);
    }
    if let Ok(n) = text.parse() {
        return Some(Number::Int(n));
    }
    if let Ok(n) = text.parse() {
        return Some(Number::UInt(n));
    }
    // `f` as in C; words like `inf` and `nan` as Rust has them.
    let digits = text.strip_suffix('f').filter(|t| t.contains('.')).unwrap_or(text);
    digits.parse().ok().map(Number::Double)
}

/// Whether a type holds a number: an integer in its range; a float anything.
fn fits(ty: ScalarType, n: Number) -> bool {
    let (low, high): (i128, i128) = match ty {
        ScalarType::F32 | ScalarType::F64 => return true,
        ScalarType::Bool => (0, 1),
        ScalarType::I8 => (i8::MIN.into(), i8::MAX.into()),
        ScalarType::U8 => (0, u8::MAX.into()),
        ScalarType::I16 => (i16::MIN.into(), i16::MAX.into()),
        ScalarType::U16 => (0, u16::MAX.into()),
        ScalarType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ScalarType::U32 => (0, u32::MAX.into()),
        ScalarType::I64 => (i64::MIN.into(), i64::MAX.into()),
        ScalarType::U64 => (0, u64::MAX.into()),
    };
    let value: i128 = match n {
        Number::Bool(x) => i128::from(x),
        Number::Int(x) => x.into(),
        Number::UInt(x) => x.into(),
        Number::Single(_) | Number::Double(_) => return false,
    };
    (low..=high).contains(&value)
}

//! Integer formulas, written as one writes them on paper: `N log2(N) - (N - 1)`, `ceil(N / 2)`,
//! `2^k`.
//!
//! A formula has a value only where it is exact: `log2(N)` at powers of two, `N / 2` at even `N`.
//! `floor(…)` and `ceil(…)` around a quotient or a logarithm give it a value everywhere. So a
//! textbook formula that holds at powers of two says so by itself, and is compared with a run only
//! there.

use std::fmt;

/// How deep parentheses may nest.
const DEPTH: u32 = 64;

/// What is wrong with a header, a formula or a host program, and in which line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The line, from 1.
    pub line: u32,
    /// What was expected or found.
    pub message: String,
}

impl NotationError {
    pub(super) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for NotationError {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(i64),
    Name(String),
    Mark(&'static str),
}

/// Longest first, so that `<<<` is not read as three marks.
const MARKS: [&str; 24] = [
    "<<<", ">>>", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", "[",
    "]", "{", "}", ";", ",", "=", "&",
];

/// Splits `text`, whose first line is line `line` of its file, into tokens, each with its line.
pub(super) fn tokens(text: &str, mut line: u32) -> Result<Vec<(Token, u32)>, NotationError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = |more: fn(char) -> bool| rest.find(|c| !more(c)).unwrap_or(rest.len());
        let taken = if c.is_whitespace() {
            line += u32::from(c == '\n');
            c.len_utf8()
        } else if c.is_ascii_digit() {
            let end = word(|c| c.is_ascii_digit());
            let value = rest[..end]
                .parse()
                .map_err(|_| NotationError::new(line, "this number is too large"))?;
            found.push((Token::Number(value), line));
            end
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = word(|c| c.is_ascii_alphanumeric() || c == '_');
            found.push((Token::Name(rest[..end].to_owned()), line));
            end
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            found.push((Token::Mark(mark), line));
            mark.len()
        } else {
            return Err(NotationError::new(line, format!("`{c}` has no meaning here")));
        };
        rest = &rest[taken..];
    }
    Ok(found)
}

/// A place in a list of tokens.
pub(super) struct Cursor<'a> {
    tokens: &'a [(Token, u32)],
    next: usize,
    depth: u32,
    first_line: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [(Token, u32)], first_line: u32) -> Self {
        Self { tokens, next: 0, depth: 0, first_line }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<&'a Token> {
        self.tokens.get(self.next + ahead).map(|(token, _)| token)
    }

    pub(super) fn line(&self) -> u32 {
        let here = self.tokens.get(self.next).or(self.tokens.last());
        here.map_or(self.first_line, |&(_, line)| line)
    }

    pub(super) fn at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    pub(super) fn error(&self, message: impl Into<String>) -> NotationError {
        NotationError::new(self.line(), message)
    }

    /// Whether `mark` stood here; it is passed if so.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(0), Some(Token::Mark(m)) if *m == mark);
        self.next += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), NotationError> {
        if self.eat(mark) { Ok(()) } else { Err(self.error(format!("expected `{mark}`"))) }
    }

    /// Whether the word stood here; it is passed if so.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(0), Some(Token::Name(name)) if name == word);
        self.next += usize::from(found);
        found
    }

    /// The next token as text; `expected` says what else could stand here.
    pub(super) fn word(&mut self, expected: &str) -> Result<String, NotationError> {
        let text = match self.peek(0) {
            Some(Token::Number(number)) => number.to_string(),
            // Two names in a row, as in `unsigned int`, must not become one.
            Some(Token::Name(name)) => {
                match self.next.checked_sub(1).map(|at| &self.tokens[at].0) {
                    Some(Token::Name(_)) => format!(" {name}"),
                    _ => name.clone(),
                }
            }
            Some(Token::Mark(mark)) if !matches!(*mark, ";" | "{" | "}") => (*mark).to_owned(),
            _ => return Err(self.error(format!("expected {expected}"))),
        };
        self.next += 1;
        Ok(text)
    }

    pub(super) fn name(&mut self) -> Result<String, NotationError> {
        let Some(Token::Name(name)) = self.peek(0) else {
            return Err(self.error("expected a name"));
        };
        self.next += 1;
        Ok(name.clone())
    }

    /// Enters a nested construct; the depth is bounded, as files come from anywhere.
    pub(super) fn enter(&mut self) -> Result<(), NotationError> {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.error("this nests too deeply")) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// An expression over named integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A number.
    Number(i64),
    /// A name, whose value the caller knows.
    Name(String),
    /// The size of a type in bytes.
    SizeOf(String),
    /// An operation on two values.
    Binary(Binary, Box<[Expression; 2]>),
    /// A function of one or two values.
    Call(Function, Vec<Expression>),
}

/// The operations on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    /// Defined where it leaves no remainder.
    Divide,
    Remainder,
    Power,
    Less,
    AtMost,
    Equal,
    Unequal,
}

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The logarithm to base two, defined at powers of two.
    Log2,
    /// Rounds the quotient or the logarithm inside down.
    Floor,
    /// Rounds the quotient or the logarithm inside up.
    Ceil,
    /// The smaller of two.
    Min,
    /// The larger of two.
    Max,
    /// The number of bits set.
    Popcount,
    /// The Fibonacci number: 0, 1, 1, 2, 3, …
    Fibonacci,
    /// The work of a Kogge–Stone scan of so many elements.
    KoggeStone,
}

impl Function {
    fn named(name: &str) -> Option<(Self, usize)> {
        Some(match name {
            "log2" => (Self::Log2, 1),
            "floor" => (Self::Floor, 1),
            "ceil" => (Self::Ceil, 1),
            "min" => (Self::Min, 2),
            "max" => (Self::Max, 2),
            "popcount" => (Self::Popcount, 1),
            "fibonacci" => (Self::Fibonacci, 1),
            "kogge_stone" => (Self::KoggeStone, 1),
            _ => return None,
        })
    }
}

/// What the names in an expression stand for.
pub trait Names {
    /// The value of a name, if it has one.
    fn value(&self, name: &str) -> Option<i64>;
    /// The size of a type in bytes, if it is known.
    fn size_of(&self, name: &str) -> Option<i64>;
}

impl Expression {
    /// Reads an expression that fills `text`; `line` is where it stands in its file.
    pub fn parse(text: &str, line: u32) -> Result<Self, NotationError> {
        let tokens = tokens(text, line)?;
        let mut cursor = Cursor::new(&tokens, line);
        let expression = comparison(&mut cursor)?;
        if cursor.at_end() {
            Ok(expression)
        } else {
            Err(cursor.error("the formula should end here"))
        }
    }

    /// The value, or nothing where a name is unknown or the formula is not exact.
    pub fn value(&self, names: &impl Names) -> Option<i64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Name(name) => names.value(name),
            Self::SizeOf(name) => names.size_of(name),
            Self::Binary(operation, sides) => {
                operation.value(sides[0].value(names)?, sides[1].value(names)?)
            }
            Self::Call(Function::Floor, inner) => {
                inner[0].rounded(names, i64::div_euclid, i64::ilog2)
            }
            Self::Call(Function::Ceil, inner) => inner[0].rounded(names, ceil_div, ceil_log2),
            Self::Call(function, arguments) => {
                let first = arguments[0].value(names)?;
                match function {
                    Function::Log2 => {
                        (first > 0 && first & (first - 1) == 0).then(|| first.ilog2().into())
                    }
                    Function::Min => Some(first.min(arguments[1].value(names)?)),
                    Function::Max => Some(first.max(arguments[1].value(names)?)),
                    Function::Popcount => Some(first.count_ones().into()),
                    Function::Fibonacci => fibonacci(first),
                    Function::KoggeStone => kogge_stone(first),
                    Function::Floor | Function::Ceil => None,
                }
            }
        }
    }

    /// The value of a quotient or a logarithm, rounded.
    fn rounded(
        &self,
        names: &impl Names,
        div: fn(i64, i64) -> i64,
        log2: fn(i64) -> u32,
    ) -> Option<i64> {
        match self {
            Self::Binary(Binary::Divide, sides) => {
                let (a, b) = (sides[0].value(names)?, sides[1].value(names)?);
                (b > 0 && a >= 0).then(|| div(a, b))
            }
            Self::Call(Function::Log2, inner) => {
                let value = inner[0].value(names)?;
                (value > 0).then(|| log2(value).into())
            }
            _ => self.value(names),
        }
    }
}

impl Binary {
    fn value(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => (b != 0 && a.checked_rem(b)? == 0).then(|| a / b),
            Self::Remainder => a.checked_rem(b),
            Self::Power => a.checked_pow(b.try_into().ok()?),
            Self::Less => Some((a < b).into()),
            Self::AtMost => Some((a <= b).into()),
            Self::Equal => Some((a == b).into()),
            Self::Unequal => Some((a != b).into()),
        }
    }
}

fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)
}

fn ceil_log2(a: i64) -> u32 {
    a.ilog2() + u32::from(a & (a - 1) != 0)
}

fn fibonacci(n: i64) -> Option<i64> {
    let (mut a, mut b) = (0_i64, 1_i64);
    for _ in 0..u32::try_from(n).ok().filter(|&n| n < 90)? {
        (a, b) = (b, a + b);
    }
    Some(a)
}

fn kogge_stone(n: i64) -> Option<i64> {
    if n <= 0 {
        return Some(0);
    }
    let steps = ceil_log2(n);
    n.checked_mul(steps.into())?.checked_sub(1_i64.checked_shl(steps)? - 1)
}

/// `a < b` and the like, or a sum.
pub(super) fn comparison(cursor: &mut Cursor) -> Result<Expression, NotationError> {
    let left = sum(cursor)?;
    let (operation, swap) = match cursor.peek(0) {
        Some(Token::Mark("<")) => (Binary::Less, false),
        Some(Token::Mark("<=")) => (Binary::AtMost, false),
        Some(Token::Mark(">")) => (Binary::Less, true),
        Some(Token::Mark(">=")) => (Binary::AtMost, true),
        Some(Token::Mark("==")) => (Binary::Equal, false),
        Some(Token::Mark("!=")) => (Binary::Unequal, false),
        _ => return Ok(left),
    };
    cursor.next += 1;
    let right = sum(cursor)?;
    let sides = if swap { [right, left] } else { [left, right] };
    Ok(Expression::Binary(operation, Box::new(sides)))
}

fn sum(cursor: &mut Cursor) -> Result<Expression, NotationError> {
    let mut left = product(cursor)?;
    loop {
        let operation = match cursor.peek(0) {
            Some(Token::Mark("+")) => Binary::Add,
            Some(Token::Mark("-")) => Binary::Subtract,
            _ => return Ok(left),
        };
        cursor.next += 1;
        left = Expression::Binary(operation, Box::new([left, product(cursor)?]));
    }
}

/// Factors, with `*`, `/` and `%` or side by side.
fn product(cursor: &mut Cursor) -> Result<Expression, NotationError> {
    let mut left = power(cursor)?;
    loop {
        let operation = match cursor.peek(0) {
            Some(Token::Mark("*")) => Some(Binary::Multiply),
            Some(Token::Mark("/")) => Some(Binary::Divide),
            Some(Token::Mark("%")) => Some(Binary::Remainder),
            Some(Token::Number(_) | Token::Name(_) | Token::Mark("(")) => None,
            _ => return Ok(left),
        };
        cursor.next += usize::from(operation.is_some());
        let sides = Box::new([left, power(cursor)?]);
        left = Expression::Binary(operation.unwrap_or(Binary::Multiply), sides);
    }
}

fn power(cursor: &mut Cursor) -> Result<Expression, NotationError> {
    let base = factor(cursor)?;
    if !cursor.eat("^") {
        return Ok(base);
    }
    Ok(Expression::Binary(Binary::Power, Box::new([base, factor(cursor)?])))
}

fn factor(cursor: &mut Cursor) -> Result<Expression, NotationError> {
    match cursor.peek(0) {
        Some(Token::Number(value)) => {
            cursor.next += 1;
            Ok(Expression::Number(*value))
        }
        Some(Token::Name(name)) if name == "sizeof" => {
            cursor.next += 1;
            cursor.expect("(")?;
            let name = cursor.name()?;
            cursor.expect(")")?;
            Ok(Expression::SizeOf(name))
        }
        Some(Token::Name(name)) => {
            cursor.next += 1;
            match Function::named(name) {
                Some((function, arity)) => call(cursor, function, arity),
                None => Ok(Expression::Name(name.clone())),
            }
        }
        Some(Token::Mark("(")) => {
            cursor.enter()?;
            cursor.expect("(")?;
            let inner = comparison(cursor)?;
            cursor.expect(")")?;
            cursor.leave();
            Ok(inner)
        }
        _ => Err(cursor.error("expected a number, a name or `(`")),
    }
}

fn call(
    cursor: &mut Cursor,
    function: Function,
    arity: usize,
) -> Result<Expression, NotationError> {
    cursor.enter()?;
    cursor.expect("(")?;
    let mut arguments = vec![comparison(cursor)?];
    while arguments.len() < arity {
        cursor.expect(",")?;
        arguments.push(comparison(cursor)?);
    }
    cursor.expect(")")?;
    cursor.leave();
    Ok(Expression::Call(function, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct At(i64);

    impl Names for At {
        fn value(&self, name: &str) -> Option<i64> {
            (name == "N").then_some(self.0)
        }
        fn size_of(&self, _: &str) -> Option<i64> {
            Some(4)
        }
    }

    fn value(text: &str, n: i64) -> Option<i64> {
        Expression::parse(text, 1).unwrap().value(&At(n))
    }

    #[test]
    fn formulas_read_as_on_paper() {
        assert_eq!(value("N log2(N) - (N - 1)", 16), Some(49));
        assert_eq!(value("2N - 2 - log2(N)", 16), Some(26));
        assert_eq!(value("N (N - 1) / 2", 5), Some(10));
        assert_eq!(value("2^ceil(log2(N)) - 1", 5), Some(7));
        assert_eq!(value("2 * N * sizeof(T)", 3), Some(24));
        assert_eq!(value("10 - 3 - N", 2), Some(5));
        assert_eq!(value("N % 32 + (N > 32)", 33), Some(2));
        assert_eq!(value("kogge_stone(N)", 5), Some(5 * 3 - 7));
        assert_eq!(value("fibonacci(N)", 10), Some(55));
    }

    #[test]
    fn a_formula_has_no_value_where_it_is_not_exact() {
        assert_eq!(value("log2(N)", 12), None);
        assert_eq!(value("N / 2", 7), None);
        assert_eq!(
            value("floor(N / 2) + ceil(N / 2) + floor(log2(N)) + ceil(log2(N))", 7),
            Some(3 + 4 + 2 + 3)
        );
        assert_eq!(value("M", 7), None);
        assert_eq!(value("2^N", 80), None);
        assert_eq!(value("N / (N - N)", 3), None);
        assert_eq!(value("log2(N - N)", 3), None);
    }

    #[test]
    fn bad_formulas_are_refused_with_their_line() {
        for text in ["", "N +", "N)", "log2 N", "min(N)", "99999999999999999999", "N $ 2", "(N"] {
            assert_eq!(Expression::parse(text, 9).unwrap_err().line, 9, "{text}");
        }
        assert!(Expression::parse(&"(".repeat(100_000), 1).is_err());
    }
}

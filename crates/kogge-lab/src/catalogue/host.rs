//! The host's part of a lesson: which scratch arrays it takes, and which kernels it launches on
//! what.
//!
//! It is written in the header as one would write it in CUDA C++, without the ceremony:
//!
//! ```text
//! scan_any(x, y, n) {                     a procedure, which may call itself
//!     let G = ceil(n / BLOCK);            a number
//!     T totals[G];                        an array of elements, not initialised
//!     unsigned ready[G] = 0;              an array of zeros
//!     scan<<<G, BLOCK, 4 * n>>>(x, y, totals, ready, n);   grid, block, bytes of shared memory
//!     scan<<<G, BLOCK>>>(x, nullptr);     a null pointer; NULL and 0 are as well
//!     cooperative scan<<<G, BLOCK>>>(x);  a launch that needs all its blocks resident
//!     scan<T, 256><<<G, 256>>>(x);        a kernel that is a template; what arrays tell of its
//!                                         arguments, or their defaults, may be left out
//!     if (G > 1) { … }
//!     for (s = 1; s < n; s = 2 s) { … }
//! }
//! scan_any(x, y, N);                      what runs: x is the input, y the output, N their length
//! ```
//!
//! Names that the program does not define are the integer `#define`s of the source.

use std::collections::{HashMap, HashSet};

use super::expression::{Cursor, Expression, Names, NotationError, Token, comparison, tokens};

/// How many statements a host program may execute.
const STATEMENTS: u32 = 10_000;
/// How deep its procedures may call each other.
const CALLS: u32 = 40;

/// A host program, parsed.
#[derive(Clone, Debug, Default)]
pub struct Program {
    procedures: HashMap<String, Procedure>,
    main: Vec<Statement>,
}

#[derive(Clone, Debug)]
struct Procedure {
    parameters: Vec<String>,
    body: Vec<Statement>,
}

#[derive(Clone, Debug)]
struct Statement {
    line: u32,
    act: Act,
}

#[derive(Clone, Debug)]
enum Act {
    Let(String, Expression),
    Array {
        element: String,
        name: String,
        length: Expression,
        zeroed: bool,
    },
    Launch {
        kernel: String,
        cooperative: bool,
        shape: Vec<Expression>,
        arguments: Vec<Expression>,
    },
    Call(String, Vec<Expression>),
    If(Expression, Vec<Statement>),
    For {
        counter: String,
        from: Expression,
        whilst: Expression,
        next: Expression,
        body: Vec<Statement>,
    },
}

/// What a host program does for one length: arrays to allocate, then launches in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The scratch arrays, in the order they are first needed.
    pub scratch: Vec<Scratch>,
    /// The launches.
    pub launches: Vec<Launch>,
}

impl Plan {
    /// Whether a launch takes the array of this name.
    pub fn uses(&self, name: &str) -> bool {
        let takes =
            |argument: &Argument| matches!(argument, Argument::Array(array) if array == name);
        self.launches.iter().any(|launch| launch.arguments.iter().any(takes))
    }
}

/// A scratch array in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Its name, made unique by a number where a procedure runs more than once.
    pub name: String,
    /// The C name of its element type; `T` is the lesson's element.
    pub element: String,
    /// How many elements it has.
    pub length: u64,
    /// Whether it is filled with zeros before the first launch; otherwise it is uninitialised.
    pub zeroed: bool,
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The number of blocks.
    pub grid: u32,
    /// The number of threads in a block.
    pub block: u32,
    /// The bytes of dynamic shared memory of a block.
    pub shared: u32,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The array of that name: `x`, `y` or a scratch array.
    Array(String),
    /// A number.
    Number(i64),
    /// `nullptr` or `NULL`.
    Null,
}

impl Program {
    /// Reads a program whose first line is line `line` of its file.
    pub fn parse(text: &str, line: u32) -> Result<Self, NotationError> {
        let tokens = tokens(text, line)?;
        let mut cursor = Cursor::new(&tokens, line);
        let mut program = Self::default();
        while !cursor.at_end() {
            if is_procedure(&cursor) {
                let name = cursor.name()?;
                let parameters = parameters(&mut cursor)?;
                let body = block(&mut cursor)?;
                program.procedures.insert(name, Procedure { parameters, body });
            } else {
                program.main.push(statement(&mut cursor)?);
            }
        }
        Ok(program)
    }

    /// Runs the program for arrays `x` and `y` of `n` elements of `element_bytes` each; `constants`
    /// are the integer macros of the source.
    pub fn plan(
        &self,
        n: u64,
        element_bytes: u64,
        constants: &HashMap<String, i64>,
    ) -> Result<Plan, NotationError> {
        self.plan_on(["x", "y"], &[], n, element_bytes, constants)
    }

    /// The same for arrays and numbers of other names.
    pub(super) fn plan_on<'a>(
        &self,
        arrays: impl IntoIterator<Item = &'a str>,
        numbers: &[(&str, i64)],
        n: u64,
        element_bytes: u64,
        constants: &HashMap<String, i64>,
    ) -> Result<Plan, NotationError> {
        let mut host = Host {
            program: self,
            constants,
            element_bytes,
            plan: Plan::default(),
            executed: 0,
            calls: 0,
        };
        let n = i64::try_from(n).map_err(|_| NotationError::new(1, "N is too large"))?;
        let mut scope = Scope::default();
        scope.arrays.extend(arrays.into_iter().map(|name| (name.to_owned(), name.to_owned())));
        scope.numbers.insert("N".to_owned(), n);
        scope.numbers.extend(numbers.iter().map(|&(name, number)| (name.to_owned(), number)));
        host.run(&self.main, &mut scope)?;
        Ok(host.plan)
    }
}

/// `name (names) {` begins a procedure; a call has `;` there.
fn is_procedure(cursor: &Cursor) -> bool {
    let mut ahead = 1;
    if !matches!(cursor.peek(1), Some(Token::Mark("(")))
        || matches!(cursor.peek(0), Some(Token::Name(n)) if n == "if" || n == "for")
    {
        return false;
    }
    while !matches!(cursor.peek(ahead), None | Some(Token::Mark(")" | ";"))) {
        ahead += 1;
    }
    matches!(cursor.peek(ahead + 1), Some(Token::Mark("{")))
}

fn parameters(cursor: &mut Cursor) -> Result<Vec<String>, NotationError> {
    cursor.expect("(")?;
    let mut names = Vec::new();
    while !cursor.eat(")") {
        names.push(cursor.name()?);
        cursor.eat(",");
    }
    Ok(names)
}

fn block(cursor: &mut Cursor) -> Result<Vec<Statement>, NotationError> {
    cursor.enter()?;
    cursor.expect("{")?;
    let mut body = Vec::new();
    while !cursor.eat("}") {
        body.push(statement(cursor)?);
    }
    cursor.leave();
    Ok(body)
}

fn statement(cursor: &mut Cursor) -> Result<Statement, NotationError> {
    let line = cursor.line();
    let act = if cursor.eat_word("let") {
        let name = cursor.name()?;
        cursor.expect("=")?;
        Act::Let(name, comparison(cursor)?)
    } else if cursor.eat_word("if") {
        cursor.expect("(")?;
        let condition = comparison(cursor)?;
        cursor.expect(")")?;
        return Ok(Statement { line, act: Act::If(condition, block(cursor)?) });
    } else if cursor.eat_word("for") {
        return Ok(Statement { line, act: loop_of(cursor)? });
    } else if matches!(cursor.peek(1), Some(Token::Name(_))) {
        if cursor.eat_word("cooperative") { launch(cursor, true)? } else { array(cursor)? }
    } else if matches!(cursor.peek(1), Some(Token::Mark("("))) {
        Act::Call(cursor.name()?, arguments(cursor)?)
    } else {
        launch(cursor, false)?
    };
    cursor.expect(";")?;
    Ok(Statement { line, act })
}

fn loop_of(cursor: &mut Cursor) -> Result<Act, NotationError> {
    cursor.expect("(")?;
    let counter = cursor.name()?;
    cursor.expect("=")?;
    let from = comparison(cursor)?;
    cursor.expect(";")?;
    let whilst = comparison(cursor)?;
    cursor.expect(";")?;
    if cursor.name()? != counter {
        return Err(cursor.error(format!("expected `{counter} = …`")));
    }
    cursor.expect("=")?;
    let next = comparison(cursor)?;
    cursor.expect(")")?;
    Ok(Act::For { counter, from, whilst, next, body: block(cursor)? })
}

fn array(cursor: &mut Cursor) -> Result<Act, NotationError> {
    let (element, name) = (cursor.name()?, cursor.name()?);
    cursor.expect("[")?;
    let length = comparison(cursor)?;
    cursor.expect("]")?;
    let zeroed = cursor.eat("=");
    if zeroed && comparison(cursor)? != Expression::Number(0) {
        return Err(cursor.error("an array starts as zeros or uninitialised"));
    }
    Ok(Act::Array { element, name, length, zeroed })
}

/// `kernel<<<…>>>(…)`, where the kernel may have template arguments.
fn launch(cursor: &mut Cursor, cooperative: bool) -> Result<Act, NotationError> {
    let mut kernel = cursor.name()?;
    while !cursor.eat("<<<") {
        kernel.push_str(&cursor.word("`<<<`")?);
    }
    let mut shape = vec![comparison(cursor)?];
    while cursor.eat(",") {
        shape.push(comparison(cursor)?);
    }
    cursor.expect(">>>")?;
    if !(2..=3).contains(&shape.len()) {
        return Err(cursor.error("a launch has a grid, a block and perhaps bytes of shared memory"));
    }
    Ok(Act::Launch { kernel, cooperative, shape, arguments: arguments(cursor)? })
}

fn arguments(cursor: &mut Cursor) -> Result<Vec<Expression>, NotationError> {
    cursor.expect("(")?;
    let mut arguments = Vec::new();
    while !cursor.eat(")") {
        if !arguments.is_empty() {
            cursor.expect(",")?;
        }
        arguments.push(comparison(cursor)?);
    }
    Ok(arguments)
}

#[derive(Default)]
struct Scope {
    numbers: HashMap<String, i64>,
    arrays: HashMap<String, String>,
    /// Parameters that are null pointers.
    nulls: HashSet<String>,
}

impl Scope {
    fn is_null(&self, name: &str) -> bool {
        matches!(name, "nullptr" | "NULL") || self.nulls.contains(name)
    }
}

/// A host program at work.
struct Host<'a> {
    program: &'a Program,
    constants: &'a HashMap<String, i64>,
    element_bytes: u64,
    plan: Plan,
    executed: u32,
    calls: u32,
}

struct Known<'a>(&'a Scope, &'a HashMap<String, i64>, u64);

impl Names for Known<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        self.0.numbers.get(name).or_else(|| self.1.get(name)).copied()
    }

    fn size_of(&self, name: &str) -> Option<i64> {
        match name {
            "T" => i64::try_from(self.2).ok(),
            "int" | "unsigned" | "float" => Some(4),
            "double" => Some(8),
            _ => None,
        }
    }
}

impl Host<'_> {
    fn run(&mut self, body: &[Statement], scope: &mut Scope) -> Result<(), NotationError> {
        body.iter().try_for_each(|statement| self.step(statement, scope))
    }

    fn number(&self, of: &Expression, scope: &Scope, line: u32) -> Result<i64, NotationError> {
        of.value(&Known(scope, self.constants, self.element_bytes))
            .ok_or_else(|| NotationError::new(line, "a number here has no value: a name is unknown, or a quotient or logarithm is not exact"))
    }

    fn count<C: TryFrom<i64>>(
        &self,
        of: &Expression,
        scope: &Scope,
        line: u32,
    ) -> Result<C, NotationError> {
        let number = self.number(of, scope, line)?;
        C::try_from(number).map_err(|_| NotationError::new(line, format!("{number} is no count")))
    }

    fn step(&mut self, statement: &Statement, scope: &mut Scope) -> Result<(), NotationError> {
        let line = statement.line;
        self.executed += 1;
        if self.executed > STATEMENTS {
            return Err(NotationError::new(line, "the host program does not end"));
        }
        match &statement.act {
            Act::Let(name, value) => {
                let value = self.number(value, scope, line)?;
                scope.numbers.insert(name.clone(), value);
            }
            Act::Array { element, name, length, zeroed } => {
                let length = self.count(length, scope, line)?;
                let unique = self.unique(name);
                scope.arrays.insert(name.clone(), unique.clone());
                self.plan.scratch.push(Scratch {
                    name: unique,
                    element: element.clone(),
                    length,
                    zeroed: *zeroed,
                });
            }
            Act::Launch { kernel, cooperative, shape, arguments } => {
                let launch = Launch {
                    kernel: kernel.clone(),
                    cooperative: *cooperative,
                    grid: self.count(&shape[0], scope, line)?,
                    block: self.count(&shape[1], scope, line)?,
                    shared: shape.get(2).map_or(Ok(0), |bytes| self.count(bytes, scope, line))?,
                    arguments: self.arguments(arguments, scope, line)?,
                };
                self.plan.launches.push(launch);
            }
            Act::Call(name, arguments) => {
                let arguments = self.arguments(arguments, scope, line)?;
                self.call(name, arguments, line)?;
            }
            Act::If(condition, body) => {
                if self.number(condition, scope, line)? != 0 {
                    self.run(body, scope)?;
                }
            }
            Act::For { counter, from, whilst, next, body } => {
                let mut value = self.number(from, scope, line)?;
                loop {
                    scope.numbers.insert(counter.clone(), value);
                    if self.number(whilst, scope, line)? == 0 {
                        break;
                    }
                    self.executed += 1;
                    self.run(body, scope)?;
                    value = self.number(next, scope, line)?;
                    if self.executed > STATEMENTS {
                        return Err(NotationError::new(line, "the loop does not end"));
                    }
                }
            }
        }
        Ok(())
    }

    fn arguments(
        &self,
        of: &[Expression],
        scope: &Scope,
        line: u32,
    ) -> Result<Vec<Argument>, NotationError> {
        of.iter()
            .map(|argument| match argument {
                Expression::Name(name) if scope.arrays.contains_key(name) => {
                    Ok(Argument::Array(scope.arrays[name].clone()))
                }
                Expression::Name(name) if scope.is_null(name) => Ok(Argument::Null),
                number => Ok(Argument::Number(self.number(number, scope, line)?)),
            })
            .collect()
    }

    fn call(
        &mut self,
        name: &str,
        arguments: Vec<Argument>,
        line: u32,
    ) -> Result<(), NotationError> {
        let program = self.program;
        let Some(procedure) = program.procedures.get(name) else {
            return Err(NotationError::new(line, format!("there is no procedure `{name}`")));
        };
        if procedure.parameters.len() != arguments.len() {
            return Err(NotationError::new(
                line,
                format!("`{name}` takes {} arguments", procedure.parameters.len()),
            ));
        }
        self.calls += 1;
        if self.calls > CALLS {
            return Err(NotationError::new(line, "the procedures call each other without end"));
        }
        let mut scope = Scope::default();
        for (parameter, argument) in procedure.parameters.iter().cloned().zip(arguments) {
            match argument {
                Argument::Array(array) => drop(scope.arrays.insert(parameter, array)),
                Argument::Number(number) => drop(scope.numbers.insert(parameter, number)),
                Argument::Null => drop(scope.nulls.insert(parameter)),
            }
        }
        self.run(&procedure.body, &mut scope)
    }

    fn unique(&self, name: &str) -> String {
        let taken = |name: &str| self.plan.scratch.iter().any(|scratch| scratch.name == name);
        if !taken(name) {
            return name.to_owned();
        }
        (2..).map(|k| format!("{name}{k}")).find(|name| !taken(name)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str, n: u64) -> Result<Plan, NotationError> {
        let constants = HashMap::from([("BLOCK".to_owned(), 4)]);
        Program::parse(text, 1)?.plan(n, 8, &constants)
    }

    #[test]
    fn a_procedure_calls_itself_until_one_tile_is_left() {
        let text = "scan_any(x, y, n) {
                let G = ceil(n / BLOCK);
                T totals[G];
                tiles<<<G, BLOCK, n * sizeof(T)>>>(x, y, totals, n);
                if (G > 1) { scan_any(totals, totals, G); add<<<G - 1, BLOCK>>>(y, totals, n); }
            }
            scan_any(x, y, N);";
        let plan = plan(text, 17).unwrap();
        let kernels: Vec<_> =
            plan.launches.iter().map(|l| (l.kernel.as_str(), l.grid, l.shared)).collect();
        assert_eq!(
            kernels,
            [("tiles", 5, 136), ("tiles", 2, 40), ("tiles", 1, 16), ("add", 1, 0), ("add", 4, 0)]
        );
        let scratch: Vec<_> = plan.scratch.iter().map(|s| (s.name.as_str(), s.length)).collect();
        assert_eq!(scratch, [("totals", 5), ("totals2", 2), ("totals3", 1)]);
        assert_eq!(plan.launches[1].arguments[0], Argument::Array("totals".into()));
    }

    #[test]
    fn loops_count_and_flags_start_at_zero() {
        let text =
            "unsigned f[1] = 0; for (s = 1; s < N; s = 2s) { cooperative k<<<1, s>>>(f, s); }";
        let plan = plan(text, 5).unwrap();
        assert_eq!(plan.launches.iter().map(|l| l.block).collect::<Vec<_>>(), [1, 2, 4]);
        assert!(plan.scratch[0].zeroed && plan.launches[0].cooperative);
    }

    #[test]
    fn a_kernel_may_have_template_arguments() {
        let plan = plan("k<unsigned int, 2 * 8><<<N, 2>>>(x);", 5).unwrap();
        assert_eq!(
            (plan.launches[0].kernel.as_str(), plan.launches[0].grid),
            ("k<unsigned int,2*8>", 5)
        );
    }

    #[test]
    fn what_does_not_end_or_make_sense_is_refused() {
        for text in [
            "f() { f(); } f();",
            "for (s = 1; s > 0; s = s) { }",
            "k<<<1>>>();",
            "k<<<0 - 1, 1>>>();",
            "k<<<N / 2, 1>>>();",
            "g();",
            "f(a) { } f();",
            "T a[2] = 1;",
            "let = 3;",
            "if (1) {",
            "k<<<1, 1>>>(z);",
            "k<int",
            "k<int>(x);",
        ] {
            assert!(plan(text, 5).is_err(), "{text}");
        }
    }
}

//! The parser: recursive descent, bounded in depth.
//!
//! C++ cannot be parsed without knowing which names are types and templates;
//! the parser of the file collects them, and bodies, parsed later, know all.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ast::{File, Function, Path, Stmt, Variable};
use super::token::{Kind, Pos, Token};
use crate::diagnostic::Diagnostic;

mod atomic;
mod declarator;
mod expr;
mod file;
mod hex_float;
mod library;
mod number;
mod path;
mod record;
mod special;
mod specifiers;
mod stmt;
mod types;

use special::Special;

/// Deepest tree: bounds the stack here and in whatever walks the tree.
const MAX_DEPTH: u32 = 120;

pub(crate) type Names = HashSet<Arc<str>>;

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    /// Types of the file, for a body; the parser's own come on top.
    known_types: Arc<Names>,
    types: Names,
    known_templates: Arc<Names>,
    templates: Names,
    /// Template parameters to be forgotten behind their template.
    fresh: Vec<Arc<str>>,
    /// What the declaration being read specialises.
    special: Special,
    /// Whether the declaration being read begins with `template <…>`.
    headed: bool,
    /// Templates of functions that are declared and not defined, as far as is known yet.
    declared_templates: Vec<Function>,
    /// All that are declared.
    function_templates: Names,
    /// Templates of structs, by their index.
    struct_templates: HashMap<Arc<str>, usize>,
    /// Whether the pointer that was read last is `const` itself.
    const_pointer: bool,
    /// The last type that was found to be unknown, and where.
    unknown: Option<(Pos, Arc<str>)>,
    /// Where functions are declared first: name, and number of parameters if that is known.
    prototypes: HashMap<(Arc<str>, Option<usize>), usize>,
    /// Variables that are only declared so far.
    declared: Vec<Variable>,
    /// Whether `>` closes template arguments.
    in_arguments: bool,
}

/// Reads the outline of a file.
pub(crate) fn parse_file(tokens: Vec<Token>, unread: Vec<String>) -> Result<File, Diagnostic> {
    let mut parser = Parser::new(tokens, Arc::default(), Arc::default());
    parser.types = types::builtin_types();
    parser.templates.insert(Arc::from("numeric_limits"));
    parser.templates.insert(Arc::from("tiled_partition"));
    let mut file = File { unread, ..File::default() };
    parser.file(&mut file)?;
    parser.add_declared_templates(&mut file);
    file.types = Arc::new(parser.types);
    file.templates = Arc::new(parser.templates);
    Ok(file)
}

/// Reads a function's body.
pub(crate) fn parse_body(function: &Function, file: &File) -> Result<Vec<Stmt>, Diagnostic> {
    let mut tokens = function.body.to_vec();
    let last = function.body.last().map_or(function.pos, |t| t.pos);
    tokens.push(Token::end_of_function(last));
    let mut parser = Parser::new(tokens, file.types.clone(), file.templates.clone());
    parser.types.extend(function.types.iter().cloned());
    let body = parser.statements();
    body.map_err(|error| parser.explained(error, file))
}

/// Reads a kernel's name with its template arguments, as a launch gives it, and what stands behind:
/// nothing, or the types of its parameters in parentheses, without spaces.
pub(crate) fn parse_kernel_name(text: &str, file: &File) -> Result<(Path, String), Diagnostic> {
    let wrong = |_| Diagnostic::general(format!("`{text}` is no kernel's name"));
    let mut tokens = super::token::tokenize(text).map_err(wrong)?;
    tokens.push(Token::end(Pos::default()));
    let mut parser = Parser::new(tokens, file.types.clone(), file.templates.clone());
    let path = parser.path().map_err(wrong)?;
    if parser.peek().kind != Kind::End && !parser.is("(") {
        return Err(wrong(Diagnostic::general("")));
    }
    Ok((path, parser.tokens[parser.at..].iter().map(|t| &*t.text).collect()))
}

impl Parser {
    fn new(tokens: Vec<Token>, types: Arc<Names>, templates: Arc<Names>) -> Self {
        Self {
            tokens,
            at: 0,
            depth: 0,
            known_types: types,
            types: Names::new(),
            known_templates: templates,
            templates: Names::new(),
            fresh: Vec::new(),
            special: Special::Nothing,
            headed: false,
            declared_templates: Vec::new(),
            function_templates: Names::new(),
            struct_templates: HashMap::new(),
            const_pointer: false,
            declared: Vec::new(),
            prototypes: HashMap::new(),
            unknown: None,
            in_arguments: false,
        }
    }

    fn is_type(&self, name: &str) -> bool {
        self.types.contains(name) || self.known_types.contains(name)
    }

    fn is_template(&self, name: &str) -> bool {
        self.templates.contains(name) || self.known_templates.contains(name)
    }

    /// Makes a template's parameter known as a type.
    fn declare_template_type(&mut self, name: &Arc<str>) {
        if self.types.insert(name.clone()) {
            self.fresh.push(name.clone());
        }
    }

    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    /// A token further on; the end token for ever after the last.
    fn ahead(&self, n: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + n).min(last)]
    }

    fn pos(&self) -> Pos {
        self.peek().pos
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn is(&self, text: &str) -> bool {
        self.peek().is(text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if text == ">" && self.closes_arguments() {
            self.split_shift();
        }
        if self.eat(text) {
            return Ok(());
        }
        let found = self.peek();
        Err(found.pos.error(format!("expected `{text}`, found {}", found.describe())))
    }

    /// Whether argument lists end here: up to three of them at once.
    fn closes_arguments(&self) -> bool {
        self.is(">") || self.is(">>") || self.is(">>>")
    }

    /// Cuts the first `>` off what closes several argument lists.
    fn split_shift(&mut self) {
        let token = &mut self.tokens[self.at];
        let rest = token.text.len().saturating_sub(1);
        if rest > 0 {
            let mut first = token.clone();
            first.text = Arc::from(">");
            token.text = Arc::from(">".repeat(rest));
            self.tokens.insert(self.at, first);
        }
    }

    fn name(&mut self, what: &str) -> Result<Arc<str>, Diagnostic> {
        let token = self.peek();
        if !token.is_name() {
            return Err(token.pos.error(format!("expected {what}, found {}", token.describe())));
        }
        Ok(self.next().text)
    }

    /// The error of a type that is not known.
    fn unknown_type(&mut self, pos: Pos, name: &Arc<str>) -> Diagnostic {
        self.unknown = Some((pos, name.clone()));
        pos.error(format!("the type `{name}` is not known"))
    }

    /// An error, or what is behind it, if a type is not known.
    fn explained(&self, error: Diagnostic, file: &File) -> Diagnostic {
        match &self.unknown {
            Some((pos, name)) if (pos.line, pos.column) == (error.line, error.column) => {
                file.explained(error, name)
            }
            _ => error,
        }
    }

    fn refuse<T>(&self, what: &str) -> Result<T, Diagnostic> {
        Err(self.pos().outside(what))
    }

    /// Goes one level down the tree.
    fn descend(&mut self) -> Result<(), Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.pos().error("this is nested too deeply"));
        }
        Ok(())
    }

    /// Reads past a balanced group whose opening token is next; returns the
    /// tokens between.
    fn balanced(&mut self) -> Result<Arc<[Token]>, Diagnostic> {
        let start = self.pos();
        let from = self.at + 1;
        let mut depth = 0usize;
        loop {
            let token = self.next();
            match (token.kind, &*token.text) {
                (Kind::End, _) => return Err(start.error("this bracket is not closed")),
                (Kind::Punct, "(" | "[" | "{") => depth += 1,
                (Kind::Punct, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Ok(self.tokens[from..self.at - 1].into());
            }
        }
    }
}

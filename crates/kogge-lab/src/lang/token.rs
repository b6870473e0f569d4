//! Tokens, and the lexer that cuts a source into them.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;

/// A place in the source; lines and columns from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    pub(crate) fn error(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.line, self.column, message)
    }

    /// The error of something that CUDA has and the laboratory has not.
    pub(crate) fn outside(self, what: impl std::fmt::Display) -> Diagnostic {
        self.error(format!("{what}: outside the language of the laboratory"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    String,
    Char,
    Punct,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub text: Arc<str>,
    pub pos: Pos,
    /// First of its line: a `#` here starts a directive.
    pub first: bool,
    /// Preceded by white space: tells `#define F (x)` from `#define F(x)`.
    pub spaced: bool,
    /// Macros that made this token, and may not expand it again.
    pub hidden: Option<Arc<Hidden>>,
}

/// A list of macro names (Prosser's hide set).
#[derive(Debug)]
pub(crate) struct Hidden {
    pub name: Arc<str>,
    pub rest: Option<Arc<Hidden>>,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Punct | Kind::Name) && &*self.text == text
    }

    pub(crate) fn is_name(&self) -> bool {
        self.kind == Kind::Name
    }

    pub(crate) fn hides(&self, name: &str) -> bool {
        let mut at = self.hidden.as_ref();
        while let Some(h) = at {
            if &*h.name == name {
                return true;
            }
            at = h.rest.as_ref();
        }
        false
    }

    pub(crate) fn end(pos: Pos) -> Self {
        Self { kind: Kind::End, text: Arc::from(""), pos, first: true, spaced: true, hidden: None }
    }

    /// The end of a function's body, behind which the source goes on.
    pub(crate) fn end_of_function(pos: Pos) -> Self {
        Self { text: Arc::from("the function"), ..Self::end(pos) }
    }

    /// What a diagnostic calls it.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            Kind::End if self.text.is_empty() => "the end of the source".to_owned(),
            Kind::End => format!("the end of {}", self.text),
            _ => format!("`{}`", self.text),
        }
    }
}

/// Longest first, so that the first match is the longest.
const PUNCTUATORS: [&str; 52] = [
    "<<<", ">>>", "<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--", "<<", ">>", "<=",
    ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "{", "}",
    "[", "]", "(", ")", ";", ":", "?", ".", ",", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "<", ">", "=",
];

/// What C++ has for those who lack the characters: names that are punctuators.
const SPELLED: [(&str, &str); 11] = [
    ("and", "&&"),
    ("or", "||"),
    ("not", "!"),
    ("xor", "^"),
    ("bitand", "&"),
    ("bitor", "|"),
    ("compl", "~"),
    ("and_eq", "&="),
    ("or_eq", "|="),
    ("xor_eq", "^="),
    ("not_eq", "!="),
];

/// Cuts a source into tokens. Comments and spliced lines are gone, directives
/// are still there. Time linear in the source.
pub(crate) fn tokenize(source: &str) -> Result<Vec<Token>, Diagnostic> {
    Lexer::new(source).run()
}

struct Lexer {
    /// Characters with their places, spliced lines joined.
    text: Vec<(char, Pos)>,
    at: usize,
    first: bool,
    spaced: bool,
    tokens: Vec<Token>,
}

impl Lexer {
    fn new(source: &str) -> Self {
        let mut text = Vec::with_capacity(source.len());
        let mut pos = Pos { line: 1, column: 1 };
        let mut chars = source.chars().filter(|&c| c != '\r').peekable();
        while let Some(c) = chars.next() {
            if c == '\\' && chars.peek() == Some(&'\n') {
                chars.next();
                pos = Pos { line: pos.line + 1, column: 1 };
                continue;
            }
            text.push((c, pos));
            if c == '\n' {
                pos.line += 1;
                pos.column = 1;
            } else {
                pos.column += 1;
            }
        }
        Self { text, at: 0, first: true, spaced: true, tokens: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).map_or('\0', |&(c, _)| c)
    }

    fn pos(&self) -> Pos {
        let last = self.text.last().map_or(Pos { line: 1, column: 1 }, |x| x.1);
        self.text.get(self.at).map_or(last, |x| x.1)
    }

    fn run(mut self) -> Result<Vec<Token>, Diagnostic> {
        while self.at < self.text.len() {
            let c = self.peek(0);
            match c {
                '\n' => {
                    self.first = true;
                    self.spaced = true;
                    self.at += 1;
                }
                c if c.is_whitespace() || c == '\u{feff}' => {
                    self.spaced = true;
                    self.at += 1;
                }
                '/' if self.peek(1) == '/' => {
                    while self.at < self.text.len() && self.peek(0) != '\n' {
                        self.at += 1;
                    }
                }
                '/' if self.peek(1) == '*' => self.block_comment()?,
                '"' | '\'' => self.quoted(c)?,
                c if c == '_' || c == '$' || c.is_alphabetic() => {
                    self.take(Kind::Name, |c| c == '_' || c == '$' || c.is_alphanumeric());
                }
                c if c.is_ascii_digit() || (c == '.' && self.peek(1).is_ascii_digit()) => {
                    self.number();
                }
                _ => self.punctuator()?,
            }
        }
        Ok(self.tokens)
    }

    fn block_comment(&mut self) -> Result<(), Diagnostic> {
        let start = self.pos();
        self.at += 2;
        while !(self.peek(0) == '*' && self.peek(1) == '/') {
            if self.at >= self.text.len() {
                return Err(start.error("this comment has no end"));
            }
            self.at += 1;
        }
        self.at += 2;
        self.spaced = true;
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), Diagnostic> {
        let (start, from) = (self.pos(), self.at);
        self.at += 1;
        while self.peek(0) != quote {
            if self.at >= self.text.len() || self.peek(0) == '\n' {
                return Err(start.error("this literal has no closing quote"));
            }
            self.at += if self.peek(0) == '\\' { 2 } else { 1 };
        }
        self.at += 1;
        let kind = if quote == '"' { Kind::String } else { Kind::Char };
        self.push(kind, from, start);
        Ok(())
    }

    /// A preprocessing number: the parser reads its value. An exponent's sign
    /// and a digit separator belong to it.
    fn number(&mut self) {
        let (start, from) = (self.pos(), self.at);
        let hexadecimal = self.peek(0) == '0' && matches!(self.peek(1), 'x' | 'X');
        loop {
            let (c, next) = (self.peek(0), self.peek(1));
            let exponent = match c {
                'e' | 'E' => !hexadecimal,
                'p' | 'P' => true,
                _ => false,
            };
            if exponent && matches!(next, '+' | '-') || c == '\'' && next.is_alphanumeric() {
                self.at += 2;
            } else if c.is_alphanumeric() || c == '.' || c == '_' {
                self.at += 1;
            } else {
                break;
            }
        }
        self.push(Kind::Number, from, start);
    }

    fn take(&mut self, kind: Kind, accept: impl Fn(char) -> bool) {
        let (start, from) = (self.pos(), self.at);
        while self.at < self.text.len() && accept(self.peek(0)) {
            self.at += 1;
        }
        self.push(kind, from, start);
    }

    fn punctuator(&mut self) -> Result<(), Diagnostic> {
        let (start, from) = (self.pos(), self.at);
        if self.peek(0) == '#' {
            self.at += if self.peek(1) == '#' { 2 } else { 1 };
            self.push(Kind::Punct, from, start);
            return Ok(());
        }
        let found =
            PUNCTUATORS.iter().find(|p| p.chars().enumerate().all(|(i, c)| self.peek(i) == c));
        match found {
            Some(p) => {
                self.at += p.len();
                self.push(Kind::Punct, from, start);
                Ok(())
            }
            None => {
                Err(start.error(format!("the character {:?} has no meaning here", self.peek(0))))
            }
        }
    }

    fn push(&mut self, kind: Kind, from: usize, pos: Pos) {
        self.at = self.at.min(self.text.len());
        let text: String = self.text[from..self.at].iter().map(|x| x.0).collect();
        let spelled = SPELLED.iter().find(|(name, _)| kind == Kind::Name && *name == text);
        let (kind, text) = match spelled {
            Some((_, punctuator)) => (Kind::Punct, Arc::from(*punctuator)),
            None => (kind, Arc::from(text)),
        };
        self.tokens.push(Token {
            kind,
            text,
            pos,
            first: self.first,
            spaced: self.spaced,
            hidden: None,
        });
        self.first = false;
        self.spaced = false;
    }
}

//! The preprocessor: directives, and macros after Prosser's algorithm with
//! hide sets. A token made by a macro stands where the macro was invoked.

use std::collections::HashMap;
use std::sync::Arc;

use super::condition::evaluate;
use super::token::{Hidden, Kind, Pos, Token, tokenize};
use crate::diagnostic::Diagnostic;

/// Most tokens that expansion may make.
const MAX_TOKENS: usize = 1 << 20;
/// Longest source, in bytes.
const MAX_SOURCE: usize = 1 << 22;

struct Macro {
    /// Parameters of a function-like macro.
    parameters: Option<Vec<Arc<str>>>,
    variadic: bool,
    body: Vec<Token>,
}

/// Whether a conditional group is read.
enum Group {
    /// This branch is.
    Taken,
    /// This branch is not, a later one may be.
    Waiting,
    /// An earlier branch was, or the whole is inside a skipped group.
    Done,
}

/// Tokens of a source after preprocessing, ending with an end token.
pub(crate) fn preprocess(
    source: &str,
    defines: &[(String, String)],
) -> Result<Preprocessed, Diagnostic> {
    if source.len() > MAX_SOURCE {
        return Err(Diagnostic::general("a source of more than 4 MiB"));
    }
    let mut state = Preprocessor::new();
    for (name, value) in defines {
        state.define_text(name, value)?;
    }
    let tokens = tokenize(source)?;
    let end = tokens.last().map_or(Pos { line: 1, column: 1 }, |t| t.pos);
    state.run(tokens)?;
    state.out.push(Token::end(end));
    Ok(Preprocessed { tokens: state.out, unread: state.unread })
}

/// A source without its directives and macros.
pub(crate) struct Preprocessed {
    pub tokens: Vec<Token>,
    /// Headers that it includes and whose text is not here.
    pub unread: Vec<String>,
}

struct Preprocessor {
    macros: HashMap<Arc<str>, Macro>,
    groups: Vec<(Group, Pos)>,
    out: Vec<Token>,
    /// Headers whose text is missing.
    unread: Vec<String>,
    /// Tokens that expansion has handled, over the whole source.
    work: usize,
}

impl Preprocessor {
    fn new() -> Self {
        let mut new = Self {
            macros: HashMap::new(),
            groups: Vec::new(),
            out: Vec::new(),
            unread: Vec::new(),
            work: 0,
        };
        for (name, value) in [
            ("__CUDACC__", "1"),
            ("__CUDA_ARCH__", "900"),
            ("__CUDACC_VER_MAJOR__", "13"),
            ("__CUDACC_VER_MINOR__", "0"),
            ("__cplusplus", "201703L"),
            ("KOGGE_LAB", "1"),
            ("INT_MAX", "2147483647"),
            ("INT_MIN", "(-2147483647-1)"),
            ("UINT_MAX", "4294967295u"),
            ("LLONG_MAX", "9223372036854775807LL"),
            ("ULLONG_MAX", "18446744073709551615ull"),
            ("FLT_MAX", "3.402823466e+38f"),
            ("FLT_MIN", "1.175494351e-38f"),
            ("FLT_EPSILON", "1.192092896e-07f"),
            ("DBL_MAX", "1.7976931348623157e+308"),
            ("CUDART_INF_F", "__builtin_inff()"),
            ("INFINITY", "__builtin_inff()"),
            ("NAN", "__builtin_nanf()"),
            ("NULL", "0"),
        ] {
            // These texts are ours: they cannot fail to lex.
            let _ = new.define_text(name, value);
        }
        new
    }

    fn define_text(&mut self, name: &str, value: &str) -> Result<(), Diagnostic> {
        let named = |e: Diagnostic| {
            Diagnostic::general(format!("in the definition of {name}: {}", e.message))
        };
        let tokens = tokenize(&format!("{name} {value}")).map_err(named)?;
        self.define(&tokens, Pos::default()).map_err(named)
    }

    fn run(&mut self, tokens: Vec<Token>) -> Result<(), Diagnostic> {
        let mut at = 0;
        while at < tokens.len() {
            let end = line_end(&tokens, at);
            if tokens[at].is("#") {
                self.directive(&tokens[at + 1..end], tokens[at].pos)?;
                at = end;
            } else if self.reading() {
                // An invocation may span lines: expand up to the next directive.
                let mut end = end;
                while end < tokens.len() && !tokens[end].is("#") {
                    end = line_end(&tokens, end);
                }
                let expanded = self.expand(tokens[at..end].to_vec())?;
                self.out.extend(without_pragmas(expanded));
                at = end;
            } else {
                at = end;
            }
        }
        match self.groups.last() {
            None => Ok(()),
            Some((_, pos)) => Err(pos.error("this conditional has no #endif")),
        }
    }

    fn reading(&self) -> bool {
        // Within a group that is not read, every group is done.
        let innermost = self.groups.last();
        innermost.is_none_or(|(g, _)| matches!(g, Group::Taken))
    }

    fn directive(&mut self, line: &[Token], pos: Pos) -> Result<(), Diagnostic> {
        let Some((name, rest)) = line.split_first() else {
            return Ok(());
        };
        match &*name.text {
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => {
                self.conditional(&name.text, rest, pos)
            }
            _ if !self.reading() => Ok(()),
            "define" => self.define(rest, pos),
            "undef" => {
                if let Some(t) = rest.first() {
                    self.macros.remove(&t.text);
                }
                Ok(())
            }
            "include" => {
                self.unread.extend(unread(rest));
                Ok(())
            }
            "pragma" | "line" | "ident" | "warning" => Ok(()),
            "error" => {
                let words: Vec<&str> = rest.iter().map(|t| &*t.text).collect();
                Err(pos.error(format!("#error {}", words.join(" "))))
            }
            other => Err(pos.error(format!("#{other} is no directive"))),
        }
    }

    fn conditional(&mut self, name: &str, rest: &[Token], pos: Pos) -> Result<(), Diagnostic> {
        let no_if = || pos.error(format!("#{name} without #if"));
        match name {
            "if" | "ifdef" | "ifndef" => {
                let group = if !self.reading() {
                    Group::Done
                } else if self.holds(name, rest, pos)? {
                    Group::Taken
                } else {
                    Group::Waiting
                };
                self.groups.push((group, pos));
            }
            "elif" => {
                let (group, start) = self.groups.pop().ok_or_else(no_if)?;
                let group = match group {
                    Group::Waiting if self.holds("if", rest, pos)? => Group::Taken,
                    Group::Waiting => Group::Waiting,
                    Group::Taken | Group::Done => Group::Done,
                };
                self.groups.push((group, start));
            }
            "else" => {
                let (group, start) = self.groups.pop().ok_or_else(no_if)?;
                let group = match group {
                    Group::Waiting => Group::Taken,
                    Group::Taken | Group::Done => Group::Done,
                };
                self.groups.push((group, start));
            }
            _ => {
                self.groups.pop().ok_or_else(no_if)?;
            }
        }
        Ok(())
    }

    fn holds(&mut self, name: &str, rest: &[Token], pos: Pos) -> Result<bool, Diagnostic> {
        if name == "if" {
            let replaced = self.replace_defined(rest);
            let expanded = self.expand(replaced)?;
            return Ok(evaluate(&expanded, pos)? != 0);
        }
        let Some(t) = rest.first() else {
            return Err(pos.error(format!("#{name} needs a name")));
        };
        Ok(self.macros.contains_key(&t.text) == (name == "ifdef"))
    }

    fn replace_defined(&self, tokens: &[Token]) -> Vec<Token> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(t) = tokens.get(at) {
            at += 1;
            if !t.is("defined") {
                out.push(t.clone());
                continue;
            }
            let bracketed = tokens.get(at).is_some_and(|t| t.is("("));
            at += usize::from(bracketed);
            let known = tokens.get(at).is_some_and(|t| self.macros.contains_key(&t.text));
            at += 1 + usize::from(bracketed);
            out.push(Token {
                kind: Kind::Number,
                text: Arc::from(if known { "1" } else { "0" }),
                ..t.clone()
            });
        }
        out
    }

    fn define(&mut self, line: &[Token], pos: Pos) -> Result<(), Diagnostic> {
        let Some((name, rest)) = line.split_first().filter(|(t, _)| t.is_name()) else {
            return Err(pos.error("#define needs a name"));
        };
        let function = rest.first().is_some_and(|t| t.is("(") && !t.spaced);
        let mut variadic = false;
        let (parameters, body) = if function {
            let mut names = Vec::new();
            let mut at = 1;
            loop {
                match rest.get(at) {
                    Some(t) if t.is(")") => break,
                    Some(t) if t.is("...") => {
                        variadic = true;
                        names.push(Arc::from("__VA_ARGS__"));
                    }
                    Some(t) if t.is_name() => names.push(t.text.clone()),
                    Some(t) if t.is(",") => {}
                    _ => return Err(name.pos.error("these macro parameters are not closed")),
                }
                at += 1;
            }
            (Some(names), &rest[at + 1..])
        } else {
            (None, rest)
        };
        self.macros.insert(name.text.clone(), Macro { parameters, variadic, body: body.to_vec() });
        Ok(())
    }

    /// Expands all macros in a run of tokens.
    fn expand(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Diagnostic> {
        let mut input = tokens;
        input.reverse();
        let mut out = Vec::new();
        while let Some(token) = input.pop() {
            self.work += 1;
            if self.work > MAX_TOKENS {
                return Err(token.pos.error("macros expand to more than a million tokens"));
            }
            let Some(macro_) = self.invoked(&token, &input) else {
                out.push(token);
                continue;
            };
            let arguments = match &macro_.parameters {
                None => Vec::new(),
                Some(parameters) => {
                    arguments(&mut input, parameters.len(), macro_.variadic, &token)?
                }
            };
            let body = self.substitute(&token, &arguments)?;
            self.work += body.len();
            input.extend(body.into_iter().rev());
        }
        Ok(out)
    }

    fn invoked(&self, token: &Token, rest: &[Token]) -> Option<&Macro> {
        if !token.is_name() || token.hides(&token.text) {
            return None;
        }
        let macro_ = self.macros.get(&token.text)?;
        let called = rest.last().is_some_and(|t| t.is("("));
        (macro_.parameters.is_none() || called).then_some(macro_)
    }

    /// The body of the macro that `name` invokes, arguments put in.
    fn substitute(
        &mut self,
        name: &Token,
        arguments: &[Vec<Token>],
    ) -> Result<Vec<Token>, Diagnostic> {
        let Some(macro_) = self.macros.get(&name.text) else {
            return Ok(Vec::new());
        };
        let parameters = macro_.parameters.clone().unwrap_or_default();
        let body = macro_.body.clone();
        let argument = |t: &Token| {
            let index = parameters.iter().position(|p| t.is_name() && *p == t.text)?;
            arguments.get(index)
        };
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while let Some(t) = body.get(at) {
            let pasted = body.get(at + 1).is_some_and(|t| t.is("##"));
            let quoted = body.get(at + 1).filter(|_| t.is("#") && !parameters.is_empty());
            if let Some(tokens) = quoted.and_then(argument) {
                out.push(stringize(tokens, name));
                at += 2;
            } else if t.is("##") && !out.is_empty() && at + 1 < body.len() {
                let next = &body[at + 1];
                let right = argument(next).cloned().unwrap_or_else(|| vec![next.clone()]);
                paste(&mut out, right);
                at += 2;
            } else if let Some(tokens) = argument(t) {
                if pasted {
                    out.extend(tokens.iter().cloned());
                } else {
                    out.extend(self.expand(tokens.clone())?);
                }
                at += 1;
            } else {
                out.push(t.clone());
                at += 1;
            }
        }
        for t in &mut out {
            t.pos = name.pos;
            t.hidden = Some(Arc::new(Hidden { name: name.text.clone(), rest: t.hidden.take() }));
        }
        // What hid the name hides its expansion: no macro can grow for ever.
        let mut above = name.hidden.as_ref();
        let mut depth = 0;
        while let Some(h) = above {
            depth += 1;
            self.work += out.len();
            for t in &mut out {
                if !t.hides(&h.name) {
                    t.hidden =
                        Some(Arc::new(Hidden { name: h.name.clone(), rest: t.hidden.take() }));
                }
            }
            above = h.rest.as_ref();
        }
        if depth > 200 || self.work > MAX_TOKENS {
            return Err(name.pos.error("macros are nested too deeply"));
        }
        Ok(out)
    }
}

/// Tokens without `_Pragma("…")`, which is read past as `#pragma` is.
fn without_pragmas(tokens: Vec<Token>) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = &tokens[..];
    while let [token, behind @ ..] = rest {
        rest = match behind {
            [open, text, close, behind @ ..]
                if token.is("_Pragma")
                    && open.is("(")
                    && text.kind == Kind::String
                    && close.is(")") =>
            {
                behind
            }
            _ => {
                out.push(token.clone());
                behind
            }
        };
    }
    out
}

fn line_end(tokens: &[Token], at: usize) -> usize {
    let rest = tokens[at + 1..].iter().position(|t| t.first);
    rest.map_or(tokens.len(), |n| at + 1 + n)
}

/// Takes the arguments of an invocation from the (reversed) input.
fn arguments(
    input: &mut Vec<Token>,
    count: usize,
    variadic: bool,
    name: &Token,
) -> Result<Vec<Vec<Token>>, Diagnostic> {
    input.pop();
    let mut arguments = vec![Vec::new()];
    let mut depth = 0u32;
    loop {
        let Some(t) = input.pop() else {
            return Err(name
                .pos
                .error(format!("the arguments of macro `{}` are not closed", name.text)));
        };
        let last = variadic && arguments.len() == count;
        match &*t.text {
            ")" if depth == 0 && t.kind == Kind::Punct => break,
            "," if depth == 0 && !last && t.kind == Kind::Punct => {
                arguments.push(Vec::new());
                continue;
            }
            "(" if t.kind == Kind::Punct => depth += 1,
            ")" if t.kind == Kind::Punct => depth -= 1,
            _ => {}
        }
        if let Some(argument) = arguments.last_mut() {
            argument.push(t);
        }
    }
    let empty = count == 0 && arguments.len() == 1 && arguments[0].is_empty();
    if variadic && arguments.len() + 1 == count {
        arguments.push(Vec::new());
    }
    if arguments.len() != count && !empty {
        return Err(name.pos.error(format!(
            "macro `{}` takes {count} arguments, here it is given {}",
            name.text,
            arguments.len()
        )));
    }
    Ok(arguments)
}

fn stringize(tokens: &[Token], at: &Token) -> Token {
    let words: Vec<&str> = tokens.iter().map(|t| &*t.text).collect();
    Token { kind: Kind::String, text: format!("{:?}", words.join(" ")).into(), ..at.clone() }
}

fn paste(out: &mut Vec<Token>, right: Vec<Token>) {
    let mut right = right.into_iter();
    if let (Some(left), Some(first)) = (out.last_mut(), right.next()) {
        left.text = format!("{}{}", left.text, first.text).into();
    }
    out.extend(right);
}

/// The header that an `#include` names, if its text is missing: what the others declare is built
/// in.
fn unread(rest: &[Token]) -> Option<String> {
    let name: String = rest.iter().map(|t| &*t.text).collect();
    if name.starts_with('<') {
        return None;
    }
    let bare = name.trim_matches('"');
    let known = [
        "cuda",
        "device_launch_parameters",
        "cooperative_groups",
        "helper_",
        "vector_types",
        "math",
        "std",
    ];
    (!known.iter().any(|k| bare.starts_with(k))).then(|| bare.to_owned())
}

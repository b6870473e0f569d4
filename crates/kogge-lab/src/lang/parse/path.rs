//! Names: namespaces before them, members of types, template arguments.

use std::sync::Arc;

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Part, Path, TemplateArgument};
use crate::lang::token::Kind;

/// Namespaces whose names are known without them.
const NAMESPACES: [&str; 5] = ["std", "cg", "cooperative_groups", "cuda", "thrust"];

impl Parser {
    /// Skips `std::`, `cg::` and a leading `::`.
    pub(super) fn skip_namespaces(&mut self) {
        loop {
            if self.is("::") {
                self.at += 1;
            } else if self.ahead(1).is("::")
                && (NAMESPACES.contains(&&*self.peek().text)
                    || self.is_template(&format!("namespace {}", self.peek().text)))
            {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    pub(super) fn skip_distance(&self) -> usize {
        let mut n = 0;
        loop {
            let token = self.ahead(n);
            if token.is("::") {
                n += 1;
            } else if self.ahead(n + 1).is("::")
                && (NAMESPACES.contains(&&*token.text)
                    || self.is_template(&format!("namespace {}", token.text)))
            {
                n += 2;
            } else {
                return n;
            }
        }
    }

    /// A name with qualifiers and template arguments.
    pub(super) fn path(&mut self) -> Result<Path, Diagnostic> {
        if let Some(path) = self.cuda_path()? {
            return Ok(path);
        }
        self.check_library()?;
        self.skip_namespaces();
        let pos = self.pos();
        let mut parts = vec![self.part()?];
        while self.is("::") && self.ahead(1).is_name() {
            self.descend()?;
            self.at += 1;
            parts.push(self.part()?);
        }
        self.depth -= (parts.len() - 1) as u32;
        Ok(Path { parts, pos })
    }

    pub(super) fn part(&mut self) -> Result<Part, Diagnostic> {
        self.eat("template");
        let name = self.name("a name")?;
        if &*name == "operator" {
            return Ok(Part { name: self.operator_name()?, arguments: None });
        }
        let template = self.is_template(&name) && self.is("<");
        let arguments = if template {
            self.at += 1;
            Some(self.template_arguments()?)
        } else {
            None
        };
        Ok(Part { name, arguments })
    }

    /// `operator+`, `operator()` and so on, behind the word itself.
    pub(super) fn operator_name(&mut self) -> Result<Arc<str>, Diagnostic> {
        let token = self.next();
        let text = match &*token.text {
            "(" => {
                self.expect(")")?;
                "operator()".to_owned()
            }
            "[" => {
                self.expect("]")?;
                "operator[]".to_owned()
            }
            _ if token.kind == Kind::Punct => format!("operator{}", token.text),
            _ => {
                self.at -= 1;
                return self.refuse("conversion operators");
            }
        };
        Ok(text.into())
    }

    /// Template arguments behind their `<`, with the `>`.
    pub(super) fn template_arguments(&mut self) -> Result<Vec<TemplateArgument>, Diagnostic> {
        let outer = std::mem::replace(&mut self.in_arguments, true);
        let mut arguments = Vec::new();
        while !self.closes_arguments() {
            arguments.push(self.template_argument()?);
            if !self.eat(",") {
                break;
            }
        }
        self.in_arguments = outer;
        self.expect(">")?;
        Ok(arguments)
    }

    pub(super) fn template_argument(&mut self) -> Result<TemplateArgument, Diagnostic> {
        self.descend()?;
        let start = self.at;
        let mut argument = None;
        if self.at_type() {
            let ty = self.qualified_type_id()?;
            let ends = self.is(",") || self.closes_arguments() || self.peek().kind == Kind::End;
            argument = ends.then_some(TemplateArgument::Type(ty));
        }
        let argument = match argument {
            Some(a) => a,
            None => {
                self.at = start;
                TemplateArgument::Value(self.conditional()?)
            }
        };
        self.depth -= 1;
        Ok(argument)
    }
}

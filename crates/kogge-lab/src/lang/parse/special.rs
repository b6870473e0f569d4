//! Specialisations of templates, and templates that are declared before they are defined.

use std::collections::HashSet;
use std::sync::Arc;

use super::Parser;
use super::specifiers::Specifiers;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    ExprKind, File, Function, Order, SpecialFunction, Struct, TemplateArgument, TemplateParameter,
    TypeExpr,
};
use crate::lang::token::Pos;

/// What a declaration specialises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Special {
    Nothing,
    /// It is behind `template <>`, and of what is still to be read.
    Unnamed,
    /// The template of this name.
    Of(Arc<str>),
}

impl Parser {
    /// `template <…>` before a declaration, or several of them before a member's.
    pub(super) fn heading(&mut self) -> Result<Vec<TemplateParameter>, Diagnostic> {
        let mut template = Vec::new();
        let mut headings = 0;
        while self.eat("template") {
            let parameters = self.template_parameters()?;
            if parameters.is_empty() {
                self.special = Special::Unnamed;
            }
            template.extend(parameters);
            headings += 1;
        }
        self.headed = headings > 0;
        let mut head = (0..64).map(|n| self.ahead(n)).take_while(|t| !t.is("{") && !t.is(";"));
        if headings > 1 && !head.any(|t| t.is("::")) {
            return self.refuse("templates of templates");
        }
        Ok(template)
    }

    /// How many tokens further the `>` is that closes the `<` there.
    pub(super) fn arguments_length(&self, open: usize) -> usize {
        let (mut depth, mut brackets) = (0i32, 0i32);
        for n in 0..256 {
            match &*self.ahead(open + n).text {
                "(" | "[" => brackets += 1,
                ")" | "]" => brackets -= 1,
                "<" if brackets == 0 => depth += 1,
                ">" if brackets == 0 => depth -= 1,
                ">>" if brackets == 0 => depth -= 2,
                ">>>" if brackets == 0 => depth -= 3,
                "{" | "}" | ";" => return n.saturating_sub(1),
                _ => {}
            }
            if depth <= 0 && brackets == 0 {
                return n;
            }
        }
        0
    }

    /// What a struct that is declared here is specialised for, if that stands behind its name.
    pub(super) fn special_arguments(
        &mut self,
        name: &Arc<str>,
    ) -> Result<Option<Vec<TemplateArgument>>, Diagnostic> {
        if !self.is("<") {
            return Ok(None);
        }
        self.special = Special::Of(name.clone());
        self.at += 1;
        let arguments = self.template_arguments()?;
        if self.is("::") {
            return self.refuse("specialisations of members");
        }
        Ok(Some(arguments))
    }

    /// A struct within a function or a struct, where nothing may be specialised.
    pub(super) fn plain_record(&mut self) -> Result<Arc<Struct>, Diagnostic> {
        let outer = std::mem::replace(&mut self.special, Special::Nothing);
        let record = self.record(Vec::new());
        self.special = outer;
        let record = record?;
        if record.arguments.is_some() {
            return Err(record.pos.outside("specialisations within functions and structs"));
        }
        Ok(record)
    }

    /// `struct name;` and `struct name<arguments>;`; false if something else is next.
    pub(super) fn forward_declaration(
        &mut self,
        file: &mut File,
        template: &[TemplateParameter],
    ) -> Result<bool, Diagnostic> {
        let is_enum = self.is("enum");
        let start = (self.at, self.depth, self.special.clone());
        let special = self.special != Special::Nothing || !template.is_empty();
        let named = self.ahead(1).is_name();
        let (plain, may_be_special) = (self.ahead(2).is(";"), special && self.ahead(2).is("<"));
        if !named || !plain && (is_enum || !may_be_special) {
            return Ok(false);
        }
        self.at += 1;
        let (pos, order) = (self.pos(), self.at);
        let name = self.next().text;
        let arguments = self.special_arguments(&name);
        let (Ok(arguments), true) = (arguments, self.eat(";")) else {
            // The type of a function's result, perhaps.
            (self.at, self.depth, self.special) = start;
            self.in_arguments = false;
            return Ok(false);
        };
        self.types.insert(name.clone());
        if special && !is_enum {
            self.templates.insert(name.clone());
            let template = template.to_vec();
            let none = Struct { defined: false, ..Struct::empty(name, pos) };
            self.add_struct(file, Arc::new(Struct { template, arguments, order, ..none }))?;
        }
        Ok(true)
    }

    /// Adds a struct to the file's, a template that was only declared in that one's place.
    pub(super) fn add_struct(
        &mut self,
        file: &mut File,
        mut record: Arc<Struct>,
    ) -> Result<(), Diagnostic> {
        if record.arguments.is_some() {
            return self.add_special_struct(file, record);
        }
        let name = &record.name;
        if self.special == Special::Unnamed {
            self.special = Special::Of(name.clone());
            let error = format!("a specialisation says what it is for: `{name}<…>`");
            return Err(record.pos.error(error));
        }
        if record.template.is_empty() {
            file.structs.push(record);
            return Ok(());
        }
        let known = self.struct_templates.get(name).map(|&index| &mut file.structs[index]);
        match known {
            Some(_) if !record.defined => {}
            Some(known) if !known.defined => {
                let definition = Arc::make_mut(&mut record);
                definition.order = known.order;
                for (parameter, before) in definition.template.iter_mut().zip(&known.template) {
                    parameter.default = parameter.default.take().or_else(|| before.default.clone());
                }
                *known = record;
            }
            _ => {
                self.struct_templates.entry(name.clone()).or_insert(file.structs.len());
                file.structs.push(record);
            }
        }
        Ok(())
    }

    fn add_special_struct(
        &mut self,
        file: &mut File,
        record: Arc<Struct>,
    ) -> Result<(), Diagnostic> {
        self.check_heading(record.pos)?;
        let Some(&index) = self.struct_templates.get(&record.name) else {
            return Err(no_template(&record.name, record.pos));
        };
        if says_nothing(&record, file.structs[index].template.len()) {
            let error = "this specialisation is for all that its template is for";
            return Err(record.pos.error(error));
        }
        file.special_structs.entry(record.name.clone()).or_default().push(record);
        Ok(())
    }

    /// The specialisation of a function, from what stands behind its name on.
    pub(super) fn special_function(
        &mut self,
        file: &mut File,
        specifiers: &Specifiers,
        (result, name, pos): (TypeExpr, Arc<str>, Pos),
        template: Vec<TemplateParameter>,
        start: usize,
    ) -> Result<(), Diagnostic> {
        self.special = Special::Of(name.clone());
        self.templates.insert(name.clone());
        let arguments = if self.eat("<") { self.template_arguments()? } else { Vec::new() };
        if !self.is("(") {
            return Err(pos.outside("specialisations of variables"));
        }
        self.check_heading(pos)?;
        if !template.is_empty() {
            let error = "a function's template is specialised for all its parameters, or not";
            return Err(pos.error(error).with_help(format!("overload `{name}`")));
        }
        let mut function = self.function(specifiers, result, name.clone(), pos, template)?;
        if let Some(parameter) = function.parameters.iter().find(|p| p.default.is_some()) {
            let error = "a specialisation has the default arguments of its template";
            return Err(parameter.pos.error(error));
        }
        if !self.function_templates.contains(&name) {
            return Err(no_template(&name, pos));
        }
        function.order = Some(Order { defined: start, declared: start });
        let special = SpecialFunction { function: Arc::new(function), arguments };
        file.special_functions.entry(name).or_default().push(special);
        Ok(())
    }

    fn check_heading(&self, pos: Pos) -> Result<(), Diagnostic> {
        match self.headed {
            true => Ok(()),
            false => Err(pos.error("a specialisation begins with `template <>`")),
        }
    }

    /// Templates that have specialisations may be defined by those alone.
    pub(super) fn add_declared_templates(&mut self, file: &mut File) {
        let shape = |f: &Function| (f.name.clone(), f.template.len(), f.parameters.len());
        let mut known: HashSet<_> = file.functions.iter().map(|f| shape(f)).collect();
        for f in std::mem::take(&mut self.declared_templates) {
            if file.special_functions.contains_key(&f.name) && known.insert(shape(&f)) {
                file.functions.push(Arc::new(f));
            }
        }
    }

    /// Notes what a declaration that was read past may specialise.
    pub(super) fn note_special(
        &mut self,
        file: &mut File,
        start: usize,
        names: &[Arc<str>],
        error: &Diagnostic,
    ) {
        let special = std::mem::replace(&mut self.special, Special::Nothing);
        let named: Vec<Arc<str>> = match special {
            Special::Of(name) => vec![name],
            Special::Unnamed => names.iter().filter(|n| self.is_template(n)).cloned().collect(),
            Special::Nothing => self.record_in_head(start).into_iter().collect(),
        };
        for name in named {
            self.templates.insert(name.clone());
            file.unspecialised.push((name, error.clone()));
        }
    }

    /// The template whose specialisation begins there with a heading that can't be read.
    fn record_in_head(&self, start: usize) -> Option<Arc<str>> {
        let head = &self.tokens[start..];
        let length = head.iter().take(256).take_while(|t| !t.is("{") && !t.is(";")).count();
        let mut words = head[..length].windows(3).filter(|_| head[0].is("template"));
        let special = words.find(|words| {
            matches!(&*words[0].text, "struct" | "class" | "union")
                && self.is_template(&words[1].text)
                && words[2].is("<")
        });
        special.map(|words| words[1].text.clone())
    }
}

fn no_template(name: &str, pos: Pos) -> Diagnostic {
    pos.error(format!("`{name}` is no template that is declared above: this specialises nothing"))
}

/// Whether each argument of a partial specialisation is a parameter, and each another one.
fn says_nothing(record: &Struct, parameters: usize) -> bool {
    let arguments = record.arguments.as_deref().unwrap_or(&[]);
    let names: Vec<&str> = arguments.iter().filter_map(plain_name).collect();
    let is_parameter = |name: &&str| record.template.iter().any(|p| *p.name == **name);
    names.len() == parameters
        && record.template.len() == parameters
        && names.iter().all(is_parameter)
        && record.template.iter().all(|p| names.contains(&&*p.name))
}

/// The name that an argument consists of.
fn plain_name(argument: &TemplateArgument) -> Option<&str> {
    let path = match argument {
        TemplateArgument::Type(TypeExpr::Named(path)) => path,
        TemplateArgument::Value(value) => match &value.kind {
            ExprKind::Name(path) => path,
            _ => return None,
        },
        TemplateArgument::Type(_) => return None,
    };
    path.simple().map(|name| &**name)
}

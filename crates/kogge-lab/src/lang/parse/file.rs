//! The outline of a file: functions, structs, aliases, variables.

use std::sync::Arc;

use super::Parser;
use super::declarator::with_const;
use super::record::Enumeration;
use super::special::Special;
use super::specifiers::Specifiers;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    File, Function, Order, Parameter, Path, TemplateParameter, TypeExpr, Variable,
};
use crate::lang::token::{Kind, Pos, Token};

impl Parser {
    pub(super) fn file(&mut self, file: &mut File) -> Result<(), Diagnostic> {
        let mut braces: Vec<Pos> = Vec::new();
        while self.peek().kind != Kind::End {
            if self.is("}") {
                if braces.pop().is_none() {
                    return Err(self.pos().error("this brace closes nothing"));
                }
                self.at += 1;
                continue;
            }
            let start = self.at;
            if self.opens_scope(&mut braces) {
                continue;
            }
            if let Err(error) = self.declaration(file) {
                self.at = start;
                self.depth = 0;
                self.in_arguments = false;
                let names = self.skip_declaration();
                if self.at == start {
                    return Err(error);
                }
                self.may_declare(&names, start);
                let error = self.explained(error, file);
                self.note_special(file, start, &names, &error);
                file.skipped.push((names, error));
            }
        }
        let unknown = |v: &Variable| file.variables.iter().all(|known| known.name != v.name);
        let undefined: Vec<_> = self.declared.drain(..).filter(unknown).collect();
        file.variables.extend(undefined);
        match braces.last() {
            None => Ok(()),
            Some(pos) => Err(pos.error("this brace is not closed")),
        }
    }

    /// `namespace a {` and `extern "C" {` change nothing but the depth.
    fn opens_scope(&mut self, braces: &mut Vec<Pos>) -> bool {
        let linkage = self.is("extern") && self.ahead(1).kind == Kind::String;
        let length = match (linkage, self.is("namespace")) {
            (true, _) => 2,
            (_, true) => {
                (1..16).find(|&n| !self.ahead(n).is_name() && !self.ahead(n).is("::")).unwrap_or(1)
            }
            _ => return false,
        };
        if !self.ahead(length).is("{") {
            return false;
        }
        for n in 1..length {
            let name = self.ahead(n).text.clone();
            self.templates.insert(format!("namespace {name}").into());
            self.templates.insert(format!("own {name}").into());
        }
        braces.push(self.pos());
        self.at += length + 1;
        true
    }

    fn declaration(&mut self, file: &mut File) -> Result<(), Diagnostic> {
        self.special = Special::Nothing;
        if self.eat(";") {
            return Ok(());
        }
        if self.is("namespace") {
            // An alias: `namespace cg = cooperative_groups;`
            let name = self.ahead(1).text.clone();
            self.templates.insert(format!("namespace {name}").into());
            if self.ahead(3).is("cooperative_groups") {
                self.templates.insert(format!("groups {name}").into());
            }
            if self.ahead(3).is("cuda") && self.ahead(4).is(";") {
                self.templates.insert(format!("cuda {name}").into());
            }
            self.skip_declaration();
            return Ok(());
        }
        if self.is("using") && !self.ahead(2).is("=") {
            self.skip_declaration();
            return Ok(());
        }
        if self.is("static_assert") {
            file.asserts.extend(self.static_assert()?);
            return Ok(());
        }
        let instantiates = usize::from(self.is("extern"));
        if self.ahead(instantiates).is("template") && !self.ahead(instantiates + 1).is("<") {
            // An explicit instantiation: what is used is instantiated anyway.
            self.skip_declaration();
            return Ok(());
        }
        let template = self.heading()?;
        let result = self.templated(file, template);
        for name in std::mem::take(&mut self.fresh) {
            self.types.remove(&name);
        }
        result
    }

    fn templated(
        &mut self,
        file: &mut File,
        template: Vec<TemplateParameter>,
    ) -> Result<(), Diagnostic> {
        if self.is("using") {
            if !template.is_empty() {
                self.templates.insert(self.ahead(1).text.clone());
            }
            let (name, ty) = self.alias()?;
            file.aliases.push((name, template, ty));
            return Ok(());
        }
        let typedef = self.is("typedef");
        let offset = usize::from(typedef);
        let keyword = self.ahead(offset).text.clone();
        self.at += offset;
        let defines = self.defines_record();
        if matches!(&*keyword, "struct" | "class" | "union") && defines {
            let record = self.record(template)?;
            let named = TypeExpr::Named(Path::of(record.name.clone(), record.pos));
            self.add_struct(file, record)?;
            return self.behind_record(file, typedef, named);
        }
        if &*keyword == "enum" && defines {
            let Enumeration { alias, members } = self.enumeration()?;
            file.enums.push(members);
            let int = TypeExpr::Scalar(crate::value::ScalarType::I32);
            let unnamed = TypeExpr::Enumeration(Box::new(int));
            let ty = alias.as_ref().map_or(unnamed, |a| a.1.clone());
            file.aliases.extend(alias.map(|(name, ty)| (name, Vec::new(), ty)));
            return self.behind_record(file, typedef, ty);
        }
        if matches!(&*keyword, "struct" | "class" | "union" | "enum")
            && self.forward_declaration(file, &template)?
        {
            return Ok(());
        }
        self.at -= offset;
        if typedef {
            let (name, ty) = self.alias()?;
            file.aliases.push((name, template, ty));
            return Ok(());
        }
        self.function_or_variables(file, template)
    }

    /// What stands between a record's closing brace and the `;`.
    fn behind_record(
        &mut self,
        file: &mut File,
        typedef: bool,
        ty: TypeExpr,
    ) -> Result<(), Diagnostic> {
        while !self.is(";") {
            if !typedef {
                return self.refuse("a variable declared together with its type");
            }
            while self.is("__attribute__") {
                self.at += 1;
                self.balanced()?;
            }
            let (ty, name, _) = self.declarator(&ty, false)?;
            self.types.insert(name.clone());
            file.aliases.push((name, Vec::new(), ty));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    fn function_or_variables(
        &mut self,
        file: &mut File,
        template: Vec<TemplateParameter>,
    ) -> Result<(), Diagnostic> {
        let specifiers = self.specifiers()?;
        // `__launch_bounds__` may stand behind the result type.
        let mut specifiers = specifiers;
        while self.is("__launch_bounds__") {
            self.at += 1;
            self.expect("(")?;
            specifiers.launch_bound = Some(self.assignment()?);
            while self.eat(",") {
                self.assignment()?;
            }
            self.expect(")")?;
        }
        let start = self.at;
        let (ty, name, pos) = self.declarator(&specifiers.ty, specifiers.qualified)?;
        let special = self.special != Special::Nothing || self.is("<");
        if special && self.special == Special::Nothing {
            self.special = Special::Of(name.clone());
        }
        self.check_outside(file, &name, pos)?;
        if special {
            return self.special_function(file, &specifiers, (ty, name, pos), template, start);
        }
        let device = !matches!(
            specifiers.storage,
            crate::lang::ast::Storage::Auto | crate::lang::ast::Storage::Static
        );
        if self.is("(") && (!device || specifiers.device) {
            if !template.is_empty() {
                self.templates.insert(name.clone());
            }
            let parameters = self.count_parameters();
            let mut f = self.function(&specifiers, ty, name.clone(), pos, template)?;
            f.order = Some(Order { defined: start, declared: self.declared_first(&f, start) });
            if !f.template.is_empty() {
                self.function_templates.insert(name.clone());
            }
            if f.defined {
                file.functions.push(Arc::new(f));
                return Ok(());
            }
            self.prototypes.entry((name, parameters)).or_insert(start);
            if !f.template.is_empty() {
                self.declared_templates.push(f);
            }
            return Ok(());
        }
        self.at = start;
        loop {
            let variable = self.variable(&specifiers)?;
            if specifiers.is_extern && device && variable.init.is_none() {
                self.declared.push(variable);
            } else {
                file.variables.push(variable);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    /// Refuses `Struct::method` behind the name of the struct, and with it the method's use.
    fn check_outside(
        &mut self,
        file: &mut File,
        name: &Arc<str>,
        pos: Pos,
    ) -> Result<(), Diagnostic> {
        let start = self.at;
        let arguments = self.is("<") && self.is_template(name);
        if arguments {
            self.at += 1;
            self.template_arguments()?;
        }
        let mut path = vec![name.clone()];
        while self.eat("::") {
            let part = self.part()?;
            path.push(part.name);
        }
        let [.., owner, method] = &path[..] else {
            self.at = start;
            return Ok(());
        };
        // What else is a member, the use of its struct is refused with.
        if self.is("(") || matches!(self.special, Special::Of(_)) {
            self.special = Special::Nothing;
        } else if self.special == Special::Unnamed {
            self.special = Special::Of(owner.clone());
            return Err(pos.outside("specialisations of members"));
        }
        let error = pos.outside("methods defined outside their struct");
        let error = error.with_help("define it within the struct");
        file.outside.push(([owner.clone(), method.clone()], error.clone()));
        Err(error)
    }

    /// Any of these names, in a declaration that was read past, may be a function's.
    pub(super) fn may_declare(&mut self, names: &[Arc<str>], at: usize) {
        for name in names {
            self.prototypes.entry((name.clone(), None)).or_insert(at);
        }
    }

    /// Where a function that is defined here may have been declared first.
    fn declared_first(&self, f: &Function, here: usize) -> usize {
        let counts = [Some(f.parameters.len()), None];
        let known = counts.map(|n| self.prototypes.get(&(f.name.clone(), n)).copied());
        known.into_iter().flatten().min().unwrap_or(here)
    }

    /// The number of parameters in the parentheses that are next.
    fn count_parameters(&mut self) -> Option<usize> {
        let start = (self.at, self.depth);
        let parameters = self.parameters();
        (self.at, self.depth) = start;
        self.in_arguments = false;
        parameters.ok().map(|p| p.len())
    }

    /// A function from its parameters on.
    pub(super) fn function(
        &mut self,
        specifiers: &Specifiers,
        result: TypeExpr,
        name: Arc<str>,
        pos: Pos,
        template: Vec<TemplateParameter>,
    ) -> Result<Function, Diagnostic> {
        let parameters = self.parameters()?;
        let mut result = result;
        loop {
            if self.eat("const") || self.eat("noexcept") || self.eat("override") {
                continue;
            }
            if self.is("[") && self.ahead(1).is("[") || self.is("__attribute__") {
                if self.is("__attribute__") {
                    self.at += 1;
                }
                self.balanced()?;
                continue;
            }
            if self.eat("->") {
                result = self.type_id()?;
                continue;
            }
            break;
        }
        let body = self.function_body(&name)?;
        let defined = body.is_some();
        let types = template.iter().filter(|p| p.value.is_none()).map(|p| p.name.clone()).collect();
        Ok(Function {
            name,
            template,
            result,
            parameters,
            initialisers: Vec::new(),
            body: body.unwrap_or_else(|| Arc::from([])),
            defined,
            types,
            kernel: specifiers.kernel,
            device: specifiers.device,
            constant: specifiers.constant,
            launch_bound: specifiers.launch_bound.clone(),
            order: None,
            pos,
        })
    }

    /// The body of a function; none if it is only declared.
    fn function_body(&mut self, name: &str) -> Result<Option<Arc<[Token]>>, Diagnostic> {
        if self.eat(";") {
            return Ok(None);
        }
        if self.eat("=") {
            self.at += 1;
            self.expect(";")?;
            return Ok(None);
        }
        if !self.is("{") {
            let found: &Token = self.peek();
            return Err(found
                .pos
                .error(format!("expected the body of `{name}`, found {}", found.describe())));
        }
        self.balanced().map(Some)
    }

    pub(super) fn parameters(&mut self) -> Result<Vec<Parameter>, Diagnostic> {
        self.expect("(")?;
        let outer = std::mem::replace(&mut self.in_arguments, false);
        let mut parameters = Vec::new();
        if self.is("void") && self.ahead(1).is(")") {
            self.at += 1;
        }
        while !self.is(")") {
            if self.is("...") {
                return self.refuse("variable argument lists");
            }
            let specifiers = self.specifiers()?;
            let ty = self.pointers(specifiers.ty, specifiers.qualified)?;
            let takes_values = self.tokens[self.at.saturating_sub(1)].is("&&");
            let pos = self.pos();
            let (ty, name) = if self.is("(") {
                self.bracketed_parameter(ty)?
            } else {
                let name = self.parameter_name();
                let ty = match self.arrays(ty)? {
                    TypeExpr::Array(element, _) => {
                        TypeExpr::Pointer(Box::new(with_const(*element, specifiers.qualified)))
                    }
                    ty => ty,
                };
                (ty, name)
            };
            let default = if self.eat("=") { Some(self.assignment()?) } else { None };
            let constant = specifiers.constant;
            parameters.push(Parameter { name, ty, constant, takes_values, default, pos });
            if !self.eat(",") {
                break;
            }
        }
        self.in_arguments = outer;
        self.expect(")")?;
        Ok(parameters)
    }

    fn parameter_name(&mut self) -> Option<Arc<str>> {
        let named = self.peek().is_name();
        named.then(|| self.next().text)
    }

    /// `T (&name)[N]` and `T (*name)[N]`.
    fn bracketed_parameter(
        &mut self,
        element: TypeExpr,
    ) -> Result<(TypeExpr, Option<Arc<str>>), Diagnostic> {
        self.expect("(")?;
        let reference = self.is("&");
        if !reference && !self.is("*") {
            return self.refuse("pointers to functions");
        }
        self.at += 1;
        let name = self.parameter_name();
        self.expect(")")?;
        if self.is("(") {
            return self.refuse("pointers to functions");
        }
        let array = Box::new(self.arrays(element)?);
        let ty = if reference { TypeExpr::Reference(array) } else { TypeExpr::Pointer(array) };
        Ok((ty, name))
    }
}

//! Structs, unions, enumerations, type aliases, template parameters.

use std::sync::Arc;

use super::Parser;
use super::specifiers::Specifiers;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Expr, Function, Init, Inner, Path, Storage, Struct, TemplateParameter, TypeExpr,
};
use crate::lang::token::{Kind, Pos, Token};

/// An enumeration as it is declared.
pub(super) struct Enumeration {
    pub alias: Option<(Arc<str>, TypeExpr)>,
    pub members: Vec<(Arc<str>, Option<Expr>)>,
}

/// Whether this is the name that a struct without one is given.
fn is_unnamed(name: &str) -> bool {
    name.starts_with('(')
}

impl Parser {
    /// Whether the definition of a struct is next.
    pub(super) fn at_record(&self) -> bool {
        matches!(&*self.peek().text, "struct" | "class" | "union") && self.defines_record()
    }

    /// Whether `struct …` here is a definition: a brace comes before any `;`,
    /// `=`, `*`, `&` or bracket but those of its alignment.
    pub(super) fn defines_record(&self) -> bool {
        let mut n = 1;
        while n < 256 {
            let token = self.ahead(n);
            match &*token.text {
                "{" => return true,
                "__align__" | "alignas" => {
                    while n < 256 && !self.ahead(n).is(")") {
                        n += 1;
                    }
                }
                // Of a specialisation, or of a base.
                "<" => n += self.arguments_length(n),
                ";" | "=" | "(" | ")" | "*" | "&" => return false,
                _ => {}
            }
            n += 1;
        }
        false
    }

    /// `typedef T name;` or `using name = T;`.
    pub(super) fn alias(&mut self) -> Result<(Arc<str>, TypeExpr), Diagnostic> {
        let (name, ty) = if self.eat("using") {
            let name = self.name("a name")?;
            self.expect("=")?;
            (name, self.qualified_type_id()?)
        } else {
            self.expect("typedef")?;
            let specifiers = self.specifiers()?;
            let (ty, name, _) = self.declarator(&specifiers.ty, specifiers.qualified)?;
            (name, self.aliased(ty, specifiers.qualified))
        };
        self.expect(";")?;
        self.types.insert(name.clone());
        Ok((name, ty))
    }

    /// `<typename T, int N = 4>` behind `template`. Type parameters become
    /// known as types.
    pub(super) fn template_parameters(&mut self) -> Result<Vec<TemplateParameter>, Diagnostic> {
        self.expect("<")?;
        let outer = std::mem::replace(&mut self.in_arguments, true);
        let mut parameters = Vec::new();
        while !self.is(">") {
            let typed = self.is("class") || (self.is("typename") && !self.ahead(2).is("::"));
            if self.is("template") || self.ahead(1).is("...") {
                return self.refuse("template template parameters and parameter packs");
            }
            let (name, value) = if typed {
                self.at += 1;
                let name = if self.peek().is_name() { self.next().text } else { Arc::from("") };
                self.declare_template_type(&name);
                (name, None)
            } else {
                let ty = self.type_id()?;
                let name = if self.peek().is_name() { self.next().text } else { Arc::from("") };
                (name, Some(ty))
            };
            let default = if self.eat("=") { Some(self.template_argument()?) } else { None };
            parameters.push(TemplateParameter { name, value, default });
            if !self.eat(",") {
                break;
            }
        }
        self.in_arguments = outer;
        self.expect(">")?;
        Ok(parameters)
    }

    /// `enum [class] [name] [: type] { members }`: the members, and the name as one of
    /// the type that holds them.
    pub(super) fn enumeration(&mut self) -> Result<Enumeration, Diagnostic> {
        self.expect("enum")?;
        let _ = self.eat("class") || self.eat("struct");
        let name = if self.peek().is_name() { Some(self.next().text) } else { None };
        self.types.extend(name.clone());
        let int = TypeExpr::Scalar(crate::value::ScalarType::I32);
        let ty = if self.eat(":") { self.specifiers()?.ty } else { int };
        let ty = TypeExpr::Enumeration(Box::new(ty));
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.is("}") {
            let name = self.name("an enumerator")?;
            let value = if self.eat("=") { Some(self.conditional()?) } else { None };
            members.push((name, value));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Enumeration { alias: name.map(|name| (name, ty)), members })
    }

    /// `struct [align] [name] [: bases] { members }`.
    pub(super) fn record(
        &mut self,
        template: Vec<TemplateParameter>,
    ) -> Result<Arc<Struct>, Diagnostic> {
        self.descend()?;
        let union = self.next().is("union");
        let mut align = None;
        while self.is("__align__") || self.is("alignas") {
            self.at += 1;
            self.expect("(")?;
            align = Some(self.expression()?);
            self.expect(")")?;
        }
        // A template of a namespace may be specialised outside of it.
        self.skip_namespaces();
        let (pos, order) = (self.pos(), self.at);
        let name = if self.peek().is_name() { self.next().text } else { self.unnamed(pos) };
        let arguments = self.special_arguments(&name)?;
        self.types.insert(name.clone());
        if !template.is_empty() {
            self.templates.insert(name.clone());
        }
        let empty = Struct::empty(name, pos);
        let mut record = Struct { template, arguments, order, union, align, ..empty };
        if self.eat(":") {
            loop {
                let _ = self.eat("public") || self.eat("private") || self.eat("protected");
                record.bases.push(self.specifiers()?.ty);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect("{")?;
        while !self.is("}") {
            self.member(&mut record)?;
        }
        self.expect("}")?;
        self.depth -= 1;
        Ok(Arc::new(record))
    }

    /// Whether `friend` is among the words before a member's parentheses.
    fn at_friend(&self) -> bool {
        let mut words = (0..16).map(|n| self.ahead(n)).take_while(|t| t.kind == Kind::Name);
        words.any(|t| t.is("friend"))
    }

    /// A name for a struct without one: its place, which several of one macro may share.
    fn unnamed(&self, pos: Pos) -> Arc<str> {
        let mut name = format!("(unnamed at {}:{})", pos.line, pos.column);
        while self.is_type(&name) {
            name.push('\'');
        }
        name.into()
    }

    fn member(&mut self, record: &mut Struct) -> Result<(), Diagnostic> {
        if self.eat(";") {
            return Ok(());
        }
        if matches!(&*self.peek().text, "public" | "private" | "protected") && self.ahead(1).is(":")
        {
            self.at += 2;
            return Ok(());
        }
        if self.is("typedef") || self.is("using") {
            let (name, ty) = self.alias()?;
            record.inner.push(Inner::Alias(name, ty));
            return Ok(());
        }
        if self.is("enum") && self.defines_record() {
            let Enumeration { alias, members } = self.enumeration()?;
            record.inner.extend(alias.map(|(name, ty)| Inner::Alias(name, ty)));
            record.inner.push(Inner::Constants(members));
            return self.expect(";");
        }
        if self.is("static_assert") {
            record.asserts.extend(self.static_assert()?);
            return Ok(());
        }
        if self.at_friend() {
            let at = self.at;
            let names = self.skip_declaration();
            self.may_declare(&names, at);
            return Ok(());
        }
        if self.at_record() {
            return self.inner_record(record);
        }
        let is_template = self.eat("template");
        let template = if is_template { self.template_parameters()? } else { Vec::new() };
        if is_template && template.is_empty() {
            return self.refuse("specialisations of members");
        }
        if self.at_record() {
            return self.refuse("templates of structs within structs");
        }
        let start = self.at;
        if self.constructor(record)? {
            return Ok(());
        }
        self.at = start;
        let specifiers = self.specifiers()?;
        loop {
            let (ty, name, pos) = self.declarator(&specifiers.ty, specifiers.qualified)?;
            if self.is("(") {
                if !template.is_empty() {
                    self.templates.insert(name.clone());
                }
                let declared = name.clone();
                let mut f = self.function(&specifiers, ty, name, pos, template)?;
                if f.defined {
                    f.types.push(record.name.clone());
                    f.types.extend(record.inner.iter().filter_map(Inner::type_name).cloned());
                    f.types.extend(
                        record
                            .template
                            .iter()
                            .filter(|p| p.value.is_none())
                            .map(|p| p.name.clone()),
                    );
                    record.methods.push(Arc::new(f));
                } else {
                    record.declared.push(declared);
                }
                return Ok(());
            }
            self.field(record, &specifiers, ty, name, pos)?;
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    /// A struct within a struct, with the members that are declared together with it. One
    /// without either name is a member itself, unnamed.
    fn inner_record(&mut self, record: &mut Struct) -> Result<(), Diagnostic> {
        let inner = self.plain_record()?;
        let ty = TypeExpr::Named(Path::of(inner.name.clone(), inner.pos));
        let (pos, unnamed) = (inner.pos, is_unnamed(&inner.name));
        record.inner.push(Inner::Struct(inner));
        let specifiers = Specifiers::of(ty.clone());
        if unnamed && self.is(";") {
            self.field(record, &specifiers, ty.clone(), Arc::from(""), pos)?;
        }
        while !self.is(";") {
            let (ty, name, pos) = self.declarator(&ty, false)?;
            self.field(record, &specifiers, ty, name, pos)?;
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    fn field(
        &mut self,
        record: &mut Struct,
        specifiers: &Specifiers,
        ty: TypeExpr,
        name: Arc<str>,
        pos: Pos,
    ) -> Result<(), Diagnostic> {
        let init = if self.eat("=") {
            Some(Init::Value(self.initialiser()?))
        } else if self.is("{") {
            Some(Init::Call(self.braced()?))
        } else {
            None
        };
        if self.is(":") {
            return self.refuse("bit fields");
        }
        if specifiers.is_static {
            match init {
                Some(Init::Value(value)) if specifiers.constant => {
                    record.inner.push(Inner::Constants(vec![(name, Some(value))]));
                    return Ok(());
                }
                _ => return self.refuse("`static` members that are no constants"),
            }
        }
        record.fields.push(crate::lang::ast::Variable {
            name,
            ty,
            init,
            storage: Storage::Auto,
            constant: specifiers.constant,
            align: specifiers.align.clone(),
            pos,
        });
        Ok(())
    }

    /// A constructor or destructor; false if the member is something else.
    fn constructor(&mut self, record: &mut Struct) -> Result<bool, Diagnostic> {
        let mut n = 0;
        while matches!(
            &*self.ahead(n).text,
            "__device__"
                | "__host__"
                | "__forceinline__"
                | "inline"
                | "constexpr"
                | "explicit"
                | "__inline__"
        ) {
            n += 1;
        }
        if self.ahead(n).is("~") {
            self.skip_declaration();
            return Ok(true);
        }
        if !(self.ahead(n).text == record.name && self.ahead(n + 1).is("(")) {
            return Ok(false);
        }
        self.at += n;
        let pos = self.pos();
        let name = self.next().text;
        let parameters = self.parameters()?;
        let mut initialisers = Vec::new();
        if self.eat(":") {
            loop {
                let field = self.name("a member")?;
                let arguments = if self.is("{") { self.braced()? } else { self.arguments()? };
                initialisers.push((field, arguments));
                if !self.eat(",") {
                    break;
                }
            }
        }
        if self.eat("=") {
            // `= default` (and `= delete`): what the language does anyway.
            self.at += 1;
            self.expect(";")?;
            return Ok(true);
        }
        if !self.is("{") {
            return self.refuse("methods defined outside their struct");
        }
        let body = self.balanced()?;
        let mut types = vec![record.name.clone()];
        types.extend(record.inner.iter().filter_map(Inner::type_name).cloned());
        types.extend(record.template.iter().map(|p| p.name.clone()));
        record.methods.push(Arc::new(Function {
            name,
            template: Vec::new(),
            result: TypeExpr::Void,
            parameters,
            initialisers,
            body,
            defined: true,
            types,
            kernel: false,
            device: true,
            constant: false,
            launch_bound: None,
            order: None,
            pos,
        }));
        Ok(true)
    }

    /// Reads past a declaration: to its `;` or its body's closing brace.
    /// Returns the names in its head.
    pub(super) fn skip_declaration(&mut self) -> Vec<Arc<str>> {
        let mut names = Vec::new();
        let mut depth = 0usize;
        let mut head = true;
        loop {
            let token: Token = self.next();
            match (token.kind, &*token.text) {
                (Kind::End, _) => {
                    self.at -= 1;
                    return names;
                }
                (Kind::Punct, "(" | "[" | "{") => {
                    depth += 1;
                    head &= !token.is("{");
                }
                (Kind::Punct, ")" | "]") => depth = depth.saturating_sub(1),
                (Kind::Punct, "}") => {
                    if depth == 0 {
                        // The brace of what surrounds the declaration.
                        self.at -= 1;
                        return names;
                    }
                    depth -= 1;
                    if depth == 0 {
                        self.eat(";");
                        return names;
                    }
                }
                (Kind::Punct, ";") if depth == 0 => return names,
                (Kind::Name, _) if head && names.len() < 64 => names.push(token.text),
                _ => {}
            }
        }
    }
}

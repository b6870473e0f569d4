//! Which function a call means: overloads, template arguments, bindings.

use std::sync::Arc;

use super::scope::{Scope, Symbol};
use super::ty::{Atomic, Qualifiers, Ty};
use super::value::Val;
use super::{Lower, Result};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{AtomicExpr, Function, TemplateArgument, TypeExpr};
use crate::value::ScalarType;

/// A function with its template parameters bound.
#[derive(Clone)]
pub(super) struct Chosen {
    pub function: Arc<Function>,
    pub scope: Scope,
    /// What its template parameters are, and how many of them the call names.
    pub arguments: Vec<Symbol>,
    pub explicit: usize,
}

/// Template parameters as they become known.
pub(super) struct Bound {
    pub symbols: Vec<Option<Symbol>>,
    /// How many the call names: from those, nothing is deduced.
    explicit: usize,
    /// A parameter of which two arguments say different things.
    pub conflict: Option<usize>,
}

impl Bound {
    fn bind(&mut self, i: usize, symbol: Symbol) {
        match (&self.symbols[i], &symbol) {
            (Some(Symbol::Type(a, _)), Symbol::Type(b, _)) if i >= self.explicit => {
                self.conflict = self.conflict.or((a != b).then_some(i));
            }
            (Some(Symbol::Constant(a, _)), Symbol::Constant(b, _)) if i >= self.explicit => {
                self.conflict = self.conflict.or((a != b).then_some(i));
            }
            (Some(_), _) => {}
            (None, _) => self.symbols[i] = Some(symbol),
        }
    }
}

/// How an argument becomes a parameter, the better the higher.
type Rank = u8;
const USER: Rank = 0;
const CONVERSION: Rank = 1;
const PROMOTION: Rank = 2;
/// A pointer to what is `const` or `volatile` only now.
const QUALIFIED: Rank = 3;
const EXACT: Rank = 4;

/// A function that a call could mean.
struct Candidate {
    chosen: Chosen,
    /// The types of its parameters, and how the arguments become them.
    types: Vec<Ty>,
    ranks: Vec<Rank>,
}

impl Candidate {
    /// Whether this one is better for the call than another: for no argument worse, and for one
    /// better or a more special function.
    fn beats(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.ranks, &other.ranks);
        if mine.iter().zip(theirs).any(|(a, b)| a < b) {
            return false;
        }
        mine.iter().zip(theirs).any(|(a, b)| a > b)
            || special(&self.chosen.function) > special(&other.chosen.function)
    }
}

/// How special a function is: no template before a template, and of templates the one whose
/// parameters say more.
pub(super) fn special(f: &Function) -> (bool, usize) {
    fn words(ty: &TypeExpr) -> usize {
        match ty {
            TypeExpr::Pointer(inner) | TypeExpr::Array(inner, _) => 1 + words(inner),
            TypeExpr::Reference(inner) | TypeExpr::Volatile(inner) | TypeExpr::Const(inner) => {
                words(inner)
            }
            TypeExpr::Named(path) if path.simple().is_some() => 0,
            TypeExpr::Named(path) => {
                let parts = path.parts.iter().flat_map(|part| part.arguments.iter().flatten());
                1 + parts.map(argument_words).sum::<usize>()
            }
            _ => 1,
        }
    }
    fn argument_words(argument: &TemplateArgument) -> usize {
        match argument {
            TemplateArgument::Type(ty) => words(ty),
            TemplateArgument::Value(_) => 0,
        }
    }
    (f.template.is_empty(), f.parameters.iter().map(|p| words(&p.ty)).sum())
}

/// The template parameter of this name, if it is a type.
fn type_index(f: &Function, name: &str) -> Option<usize> {
    f.template.iter().position(|p| *p.name == *name && p.value.is_none())
}

impl Lower<'_> {
    /// The best of several functions for these arguments; none if none fits.
    pub(super) fn choose(
        &mut self,
        candidates: &[(Option<usize>, Arc<Function>)],
        explicit: Option<&[TemplateArgument]>,
        arguments: &[Val],
    ) -> Result<Option<Chosen>> {
        let mut fitting: Vec<Candidate> = Vec::new();
        let mut failure = None;
        for (owner, f) in candidates {
            match self.fit(*owner, f, explicit, arguments) {
                Ok(found) => fitting.extend(found),
                Err(e) => failure = Some(e),
            }
        }
        let beaten = |i: usize| {
            let others = fitting.iter().enumerate().filter(|(j, _)| *j != i);
            let unbeaten = others.filter(|(_, other)| !fitting[i].beats(other)).count();
            unbeaten > 0
        };
        match (fitting.len(), failure) {
            (0, Some(e)) => return Err(e),
            (0, None) => return Ok(None),
            _ => {}
        }
        // Methods of the same types differ in their `const`, and little else.
        let methods = candidates.iter().all(|(owner, _)| owner.is_some());
        let alike = methods && fitting.windows(2).all(|w| w[0].types == w[1].types);
        match (0..fitting.len()).find(|&i| alike || !beaten(i)) {
            Some(best) => Ok(Some(fitting.swap_remove(best).chosen)),
            None => Err(self.ambiguous(&fitting, arguments)),
        }
    }

    fn ambiguous(&self, fitting: &[Candidate], arguments: &[Val]) -> Diagnostic {
        let beaten = |c: &Candidate| fitting.iter().any(|other| other.beats(c));
        let tied: Vec<&Candidate> = fitting.iter().filter(|c| !beaten(c)).collect();
        let types: Vec<String> = arguments.iter().map(|v| self.describe(&v.ty)).collect();
        let name = fitting.first().map_or("", |c| &c.chosen.function.name);
        let lines: Vec<String> =
            tied.iter().map(|c| c.chosen.function.pos.line.to_string()).collect();
        if tied.windows(2).all(|w| w[0].types == w[1].types) {
            return self
                .pos
                .error(format!(
                    "the functions `{name}` of lines {} have parameters of the same types",
                    lines.join(" and ")
                ))
                .with_help(
                    "here `long` is `long long`, `char` is `signed char`, and namespaces are not \
                     told apart",
                );
        }
        self.pos
            .error(format!(
                "`{name}` of ({}) is ambiguous: the functions of lines {} take it equally well",
                types.join(", "),
                lines.join(" and ")
            ))
            .with_help("cast the arguments to the types of the one that is meant")
    }

    /// How well a function fits, with its template parameters bound.
    fn fit(
        &mut self,
        owner: Option<usize>,
        f: &Arc<Function>,
        explicit: Option<&[TemplateArgument]>,
        arguments: &[Val],
    ) -> Result<Option<Candidate>> {
        let required = f.parameters.iter().filter(|p| p.default.is_none()).count();
        if arguments.len() > f.parameters.len() || arguments.len() < required {
            return Ok(None);
        }
        if owner.is_none() {
            self.check_specialised(&f.name)?;
        }
        let outer_scope = owner.map(|id| self.structs[id].scope.clone()).unwrap_or_default();
        let bound = self.bindings(f, explicit, arguments, outer_scope)?;
        let Some((scope, symbols)) = bound else { return Ok(None) };
        let outer = std::mem::take(&mut self.scopes);
        self.scopes.push(scope.clone());
        let (mut types, mut ranks) = (Vec::new(), Vec::new());
        for (parameter, argument) in f.parameters.iter().zip(arguments) {
            let Ok((ty, _)) = self.resolve(&parameter.ty) else { break };
            let Some(rank) = self.match_rank(argument, &ty) else { break };
            types.push(ty);
            ranks.push(rank);
        }
        self.scopes = outer;
        let fits = ranks.len() == arguments.len();
        let explicit = explicit.map_or(0, <[_]>::len);
        let chosen = Chosen { function: f.clone(), scope, arguments: symbols, explicit };
        Ok(fits.then_some(Candidate { chosen, types, ranks }))
    }

    /// How an argument becomes a parameter of this type; none if it does not.
    fn match_rank(&self, argument: &Val, to: &Ty) -> Option<Rank> {
        use ScalarType as S;
        let from = &argument.ty;
        match (from, to) {
            _ if from == to => Some(EXACT),
            (Ty::Atomic(of), _) => self.match_rank(&Val::nothing(of.ty.clone()), to).map(|_| USER),
            (Ty::Scalar(S::F32), Ty::Scalar(S::F64)) => Some(PROMOTION),
            (Ty::Scalar(S::F32), Ty::Scalar(_)) => Some(CONVERSION),
            (Ty::Scalar(a), Ty::Scalar(b)) if super::common(*a, *a) == *b => Some(PROMOTION),
            (Ty::Scalar(_), Ty::Scalar(_)) => Some(CONVERSION),
            (Ty::Array(element, _), Ty::Pointer(to)) if **element == to.ty => Some(EXACT),
            (Ty::Array(..), Ty::Pointer(to)) => (to.ty == Ty::Void).then_some(CONVERSION),
            (Ty::Pointer(a), Ty::Pointer(b))
                if a.ty == b.ty && a.qualifiers.within(b.qualifiers) =>
            {
                Some(QUALIFIED)
            }
            (Ty::Pointer(_), _) | (_, Ty::Pointer(_)) => {
                self.converts(argument, to).then_some(CONVERSION)
            }
            (Ty::Struct(a), Ty::Struct(b)) if self.base_part(*a, *b).is_some() => Some(CONVERSION),
            (_, Ty::Struct(_)) => Some(USER),
            _ => None,
        }
    }

    /// Template parameters from explicit arguments, then from the call's.
    fn bindings(
        &mut self,
        f: &Arc<Function>,
        explicit: Option<&[TemplateArgument]>,
        arguments: &[Val],
        scope: Scope,
    ) -> Result<Option<(Scope, Vec<Symbol>)>> {
        if f.template.is_empty() {
            return Ok(explicit.is_none().then_some((scope, Vec::new())));
        }
        let Some(mut bound) = self.explicit(f, explicit.unwrap_or(&[]))? else { return Ok(None) };
        for (parameter, argument) in f.parameters.iter().zip(arguments) {
            self.deduce(f, &parameter.ty, &argument.ty, &mut bound);
        }
        if bound.conflict.is_some() {
            return Ok(None);
        }
        self.with_defaults(f, bound.symbols, scope)
    }

    /// Template parameters as far as a call names their arguments; none if it names too many.
    pub(super) fn explicit(
        &mut self,
        f: &Function,
        arguments: &[TemplateArgument],
    ) -> Result<Option<Bound>> {
        if arguments.len() > f.template.len() {
            return Ok(None);
        }
        let symbols = vec![None; f.template.len()];
        let mut bound = Bound { symbols, explicit: arguments.len(), conflict: None };
        for (i, argument) in arguments.iter().enumerate() {
            bound.symbols[i] = Some(self.template_symbol(&f.template[i], argument)?);
        }
        Ok(Some(bound))
    }

    /// All template parameters, those that nothing tells from their defaults; none if one has none.
    pub(super) fn with_defaults(
        &mut self,
        f: &Function,
        told: Vec<Option<Symbol>>,
        mut scope: Scope,
    ) -> Result<Option<(Scope, Vec<Symbol>)>> {
        let mut symbols = Vec::new();
        for (parameter, told) in f.template.iter().zip(told) {
            let symbol = match (told, &parameter.default) {
                (Some(symbol), _) => symbol,
                (None, Some(default)) => {
                    self.scopes.push(scope.clone());
                    let symbol = self.template_symbol(parameter, default);
                    self.scopes.pop();
                    symbol?
                }
                (None, None) => return Ok(None),
            };
            symbols.push(symbol.clone());
            scope.insert(parameter.name.clone(), symbol);
        }
        Ok(Some((scope, symbols)))
    }

    /// Matches a parameter's type with an argument's.
    pub(super) fn deduce(&self, f: &Function, ty: &TypeExpr, from: &Ty, bound: &mut Bound) {
        match (ty, from) {
            (TypeExpr::Reference(inner), from) => match (&**inner, from) {
                (TypeExpr::Array(element, size), Ty::Array(from, n)) => {
                    self.deduce(f, element, from, bound);
                    if let Some(size) = size {
                        let symbol = Symbol::Constant(*n, crate::value::ScalarType::I32);
                        let argument = TemplateArgument::Value((**size).clone());
                        self.deduce_argument(f, &argument, &symbol, bound);
                    }
                }
                (inner, from) => self.deduce(f, inner, from, bound),
            },
            (TypeExpr::Atomic(ty), Ty::Atomic(from))
                if (ty.reference, ty.std) == (from.reference, from.std) =>
            {
                self.deduce_atomic(f, ty, from, bound);
            }
            (TypeExpr::Volatile(inner) | TypeExpr::Const(inner), from) => {
                self.deduce(f, inner, from, bound);
            }
            (TypeExpr::Pointer(inner), Ty::Array(element, _)) => {
                self.deduce(f, inner, element, bound);
            }
            (TypeExpr::Named(_), Ty::Array(element, _)) => {
                // Passed by value, an array is a pointer.
                let pointer = Ty::pointer((**element).clone(), Qualifiers::default());
                self.deduce(f, ty, &pointer, bound);
            }
            (TypeExpr::Pointer(inner), Ty::Pointer(to)) => {
                let (mut inner, mut left) = (&**inner, to.qualifiers);
                if let TypeExpr::Const(of) = inner {
                    (inner, left.constant) = (of, false);
                }
                match inner {
                    // `T` is `volatile int` then, or `const int`.
                    TypeExpr::Named(path) if left != Qualifiers::default() => {
                        if let Some(i) = path.simple().and_then(|n| type_index(f, n)) {
                            bound.bind(i, Symbol::Type(to.ty.clone(), left));
                        }
                    }
                    inner => self.deduce(f, inner, &to.ty, bound),
                }
            }
            (TypeExpr::Named(path), from) => {
                if let Some(name) = path.simple() {
                    if let Some(i) = type_index(f, name) {
                        bound.bind(i, Symbol::Type(from.clone(), Qualifiers::default()));
                    }
                    return;
                }
                let (Ty::Struct(id), Some(part)) = (from, path.parts.last()) else {
                    return;
                };
                let info = &self.structs[*id];
                if info.decl.name != part.name {
                    return;
                }
                for (argument, symbol) in part.arguments.iter().flatten().zip(&info.arguments) {
                    self.deduce_argument(f, argument, symbol, bound);
                }
            }
            _ => {}
        }
    }

    /// The type and the scope of an atomic.
    fn deduce_atomic(&self, f: &Function, ty: &AtomicExpr, from: &Atomic, bound: &mut Bound) {
        let mut arguments = ty.arguments.iter().flatten();
        if let Some(TemplateArgument::Type(of)) = arguments.next() {
            self.deduce(f, of, &from.ty, bound);
        }
        if let Some(scope) = arguments.next() {
            let symbol = Symbol::Constant(from.scope.value(), ScalarType::I32);
            self.deduce_argument(f, scope, &symbol, bound);
        }
    }

    fn deduce_argument(
        &self,
        f: &Function,
        argument: &TemplateArgument,
        symbol: &Symbol,
        bound: &mut Bound,
    ) {
        let path = match (argument, symbol) {
            (TemplateArgument::Type(pattern), Symbol::Type(ty, qualifiers)) => {
                return self.deduce_within(f, pattern, (ty, *qualifiers), bound);
            }
            (TemplateArgument::Value(e), Symbol::Constant(..)) => match &e.kind {
                crate::lang::ast::ExprKind::Name(path) => path,
                _ => return,
            },
            _ => return,
        };
        let Some(name) = path.simple() else { return };
        if let Some(i) = f.template.iter().position(|p| p.name == *name) {
            bound.bind(i, symbol.clone());
        }
    }

    /// Matches what stands within a type, where nothing is converted.
    fn deduce_within(
        &self,
        f: &Function,
        pattern: &TypeExpr,
        (ty, qualifiers): (&Ty, Qualifiers),
        bound: &mut Bound,
    ) {
        match (pattern, ty) {
            (TypeExpr::Const(inner), _) => {
                let rest = Qualifiers { constant: false, ..qualifiers };
                self.deduce_within(f, inner, (ty, rest), bound);
            }
            (TypeExpr::Volatile(inner), _) => {
                let rest = Qualifiers { volatile: false, ..qualifiers };
                self.deduce_within(f, inner, (ty, rest), bound);
            }
            (TypeExpr::Pointer(inner), Ty::Pointer(to)) => {
                self.deduce_within(f, inner, (&to.ty, to.qualifiers), bound);
            }
            (TypeExpr::Named(path), _) => match path.simple().and_then(|n| type_index(f, n)) {
                Some(i) => bound.bind(i, Symbol::Type(ty.clone(), qualifiers)),
                None if path.simple().is_none() => self.deduce(f, pattern, ty, bound),
                None => {}
            },
            _ => {}
        }
    }
}

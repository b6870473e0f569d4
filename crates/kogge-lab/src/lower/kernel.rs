//! A kernel as a whole: its parameters, its device variables, its code.

use std::sync::Arc;

use super::declare::is_constant;
use super::emit::FIXED;
use super::overload::Chosen;
use super::scope::{Scope, Symbol};
use super::ty::{Qualifiers, Ty};
use super::value::{Place, PlaceKind};
use super::{Frame, Lower, Result, names};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    AtomicExpr, ExprKind, File, Function, Init, Path, Storage, TemplateArgument, TypeExpr,
};
use crate::machine::ins::{Compiled, DefaultArgument, Global, Ins, Op, Param, ParamType};
use crate::machine::waiting::waiting;
use crate::value::ScalarType;

/// Compiles the kernel of a name, with the types of its parameters where
/// several have it. Device variables have been laid out by [`globals`].
pub(crate) fn lower_kernel(
    file: &File,
    (path, types): &(Path, String),
    operator: &str,
    globals: &[Global],
) -> Result<Compiled> {
    let mut lower = Lower::new(file, operator, globals);
    let function = lower.named_kernel(path, types)?;
    let arguments = path.parts.last().and_then(|p| p.arguments.as_deref());
    file.asserts.iter().try_for_each(|a| lower.static_assert(a))?;
    lower.pos = function.pos;
    if let (Some(_), true) = (arguments, function.template.is_empty()) {
        return Err(function.pos.error("this kernel is no template"));
    }
    let given = arguments.unwrap_or(&[]);
    lower.check_specialised(&function.name)?;
    let (scope, symbols) = lower.bind(&function.template, given, Scope::default())?;
    let chosen = Chosen { function, scope, arguments: symbols, explicit: given.len() };
    match lower.specialised(&chosen)? {
        Some(special) => lower.special_kernel(&special, &chosen.function),
        None => lower.kernel(&chosen.function, chosen.scope, &chosen.function),
    }
}

fn no_kernel(lower: &Lower<'_>, file: &File, path: &Path) -> Diagnostic {
    let name = path.last();
    let kernels: Vec<&str> = file.functions.iter().filter(|f| f.kernel).map(|f| &*f.name).collect();
    let reason = lower.unknown("the kernel", path);
    if reason.help.is_some() || file.skipped.iter().any(|(n, _)| n.iter().any(|n| **n == *name)) {
        return reason;
    }
    Diagnostic::general(format!("the source has no kernel `{name}`"))
        .with_help(format!("it has {}", kernels.join(", ")))
}

/// Lays out the device variables of a file: those whose type and initialiser
/// the language has.
pub(crate) fn globals(file: &File) -> Vec<Global> {
    let mut lower = Lower::new(file, "", &[]);
    let device = file.variables.iter().filter(|v| v.storage == Storage::Device);
    let mut out = Vec::new();
    for v in device {
        if let Ok(global) = lower.global(v) {
            out.push(global);
        }
        lower.depth = 0;
        lower.scopes.clear();
    }
    out
}

/// The parameters of a kernel as its list says, types unresolved where they
/// depend on a template.
pub(crate) fn parameters(file: &File, f: &Function) -> Vec<crate::program::Parameter> {
    let mut lower = Lower::new(file, "", &[]);
    let mut out = Vec::new();
    for (i, p) in f.parameters.iter().enumerate() {
        lower.depth = 0;
        let resolved = lower.resolve(&p.ty).ok().map(|r| r.0);
        let (pointer, scalar) = match &resolved {
            Some(Ty::Pointer(to)) => (true, to.ty.element()),
            Some(ty) => (false, ty.scalar()),
            None => (matches!(p.ty, TypeExpr::Pointer(_)), None),
        };
        out.push(crate::program::Parameter {
            name: parameter_name(p.name.as_ref(), i),
            type_name: describe_type(&p.ty),
            pointer,
            scalar,
            default: p.default.is_some(),
        });
    }
    out
}

/// What a launch calls a kernel: its name, with the types of its parameters if
/// others have the name as well.
pub(crate) fn full_name(f: &Function, overloaded: bool) -> String {
    if !overloaded {
        return f.name.to_string();
    }
    let types: Vec<String> = f.parameters.iter().map(|p| describe_type(&p.ty)).collect();
    format!("{}({})", f.name, types.join(", "))
}

fn parameter_name(name: Option<&Arc<str>>, index: usize) -> String {
    name.map_or_else(|| format!("arg{index}"), |n| n.to_string())
}

impl Lower<'_> {
    /// The kernels of a name.
    fn kernels_named(&self, name: &str) -> Vec<Arc<Function>> {
        self.named.get(name).into_iter().flatten().filter(|f| f.kernel).cloned().collect()
    }

    /// The one kernel that a launch names.
    pub(super) fn named_kernel(&self, path: &Path, types: &str) -> Result<Arc<Function>> {
        let all = self.kernels_named(path.last());
        let names: Vec<String> = all.iter().map(|f| full_name(f, all.len() > 1)).collect();
        let template = path.parts.last().is_some_and(|p| p.arguments.is_some());
        let meant = |f: &&Arc<Function>| {
            let same = types.is_empty() || {
                let full: String = full_name(f, true).split_whitespace().collect();
                full[f.name.len()..] == *types
            };
            same && (!template || all.len() == 1 || !f.template.is_empty())
        };
        let found: Vec<&Arc<Function>> = all.iter().filter(meant).collect();
        let message = match &found[..] {
            [one] => return Ok((*one).clone()),
            [] if all.is_empty() => return Err(no_kernel(self, self.file, path)),
            [] => format!("no kernel `{}` has parameters of types `{types}`", path.last()),
            [first, second, ..] => format!(
                "the launch of `{}` may mean the kernel of line {} or that of line {}",
                path.last(),
                first.pos.line,
                second.pos.line
            ),
        };
        Err(Diagnostic::general(message).with_help(format!("name one of {}", names.join(", "))))
    }

    fn global(&mut self, v: &crate::lang::ast::Variable) -> Result<Global> {
        self.pos = v.pos;
        let (mut ty, _) = self.resolve(&v.ty)?;
        if let (Ty::Array(element, 0), Some(Init::Value(e))) = (&ty, &v.init)
            && let ExprKind::List(members) = &e.kind
        {
            ty = Ty::Array(element.clone(), members.len() as u64);
        }
        self.check_default(&ty)?;
        let bytes = self.size_of(&ty);
        if bytes > 1 << 28 || bytes == 0 {
            return self.refuse("a device variable of this size");
        }
        let mut init = vec![0u8; bytes as usize];
        if let Some(value) = &v.init {
            self.global_init(&ty, value, &mut init)?;
        }
        let (scalar, uniform) = self.uniform(&ty);
        Ok(Global { name: v.name.to_string(), ty: scalar, bytes, init, uniform })
    }

    fn global_init(&mut self, ty: &Ty, init: &Init, bytes: &mut [u8]) -> Result<()> {
        if let Some(atomic) = ty.atomic_variable() {
            return match init.members() {
                [] => Ok(()),
                [one] => self.global_init(&atomic.ty, &Init::Value(one.clone()), bytes),
                _ => self.refuse("this initialiser"),
            };
        }
        let e = match init {
            Init::Value(e) => e,
            Init::Call(_) => return self.refuse("constructors of device variables"),
        };
        match (ty, &e.kind) {
            (Ty::Array(element, _), ExprKind::List(members)) => {
                let size = self.size_of(element) as usize;
                for (chunk, member) in bytes.chunks_mut(size.max(1)).zip(members) {
                    self.global_init(&element.clone(), &Init::Value(member.clone()), chunk)?;
                }
                Ok(())
            }
            (Ty::Struct(id), ExprKind::List(members)) => {
                let fields = self.structs[*id].fields.clone();
                for (f, member) in fields.iter().zip(members) {
                    let end = (f.offset + self.size_of(&f.ty)) as usize;
                    let part = &mut bytes[f.offset as usize..end];
                    self.global_init(&f.ty, &Init::Value(member.clone()), part)?;
                }
                Ok(())
            }
            (Ty::Scalar(s), ExprKind::List(members)) => match &members[..] {
                [] => Ok(()),
                [one] => self.global_init(&Ty::Scalar(*s), &Init::Value(one.clone()), bytes),
                _ => self.refuse("this initialiser"),
            },
            (Ty::Scalar(_) | Ty::Pointer(_), _) => {
                let v = self.rvalue(e)?;
                let v = self.cast(v, ty)?;
                let Some(c) = v.constant else {
                    return Err(e.pos.error("a device variable's initialiser must be constant"));
                };
                let n = bytes.len().min(8);
                bytes[..n].copy_from_slice(&c.to_le_bytes()[..n]);
                Ok(())
            }
            _ => self.refuse("this initialiser"),
        }
    }

    /// The scalar that a type is made of, and whether of nothing else.
    fn uniform(&self, ty: &Ty) -> (ScalarType, bool) {
        match ty {
            Ty::Array(element, _) => self.uniform(element),
            _ => {
                let leaves = self.leaves(ty);
                let first = leaves.first().map_or(ScalarType::U8, |l| l.1);
                let same = leaves.iter().all(|l| l.1 == first);
                let dense = leaves.len() as u64 * first.size() as u64 == self.size_of(ty);
                if same && dense && !leaves.is_empty() {
                    (first, true)
                } else {
                    (ScalarType::U8, false)
                }
            }
        }
    }

    /// A specialisation of a kernel: its parameters are called as those of the template, which a
    /// launch knows.
    fn special_kernel(self, f: &Arc<Function>, template: &Function) -> Result<Compiled> {
        if !f.kernel {
            return Err(f.pos.error("a specialisation of a kernel must be `__global__` as well"));
        }
        if let Some(p) = template.parameters.iter().find(|p| p.default.is_some()) {
            return Err(p.pos.outside("default arguments of kernels that have specialisations"));
        }
        self.kernel(f, Scope::default(), template)
    }

    /// A kernel; `listed` is what a launch knows of it.
    fn kernel(mut self, f: &Arc<Function>, scope: Scope, listed: &Function) -> Result<Compiled> {
        let body = self.body(f)?;
        let used = names::scan_names(&body);
        self.scopes.push(scope);
        let defaults = self.default_arguments(f)?;
        if !matches!(f.result, TypeExpr::Void) {
            return Err(f.pos.error("a kernel returns nothing: its result must be `void`"));
        }
        let mut params = Vec::new();
        let mut in_memory = Vec::new();
        for (i, (p, default)) in f.parameters.iter().zip(defaults).enumerate() {
            self.pos = p.pos;
            let (ty, Qualifiers { volatile, .. }) = self.resolve(&p.ty)?;
            if let TypeExpr::Reference(_) = p.ty {
                return Err(p.pos.error("a kernel's parameters cannot be references"));
            }
            let register = self.temp(self.leaf_count(&ty).max(1))?;
            params.push(Param {
                name: parameter_name(listed.parameters[i].name.as_ref(), i),
                register,
                ty: self.param_type(&ty)?,
                default,
            });
            let place = Place {
                ty: ty.clone(),
                volatile: false,
                constant: is_constant(p.constant, &p.ty),
                variable: Some(self.taints.new_variable()),
                kind: PlaceKind::Register { base: register, flag: None },
            };
            let Some(name) = p.name.clone() else { continue };
            if used.addressed.contains(&name) || self.lives_in_memory(&ty) || volatile {
                in_memory.push((name.clone(), place, volatile));
            } else {
                self.define(name, Symbol::Variable(place, None));
            }
        }
        self.floor = self.top;
        self.frames.push(Frame {
            function: Some(f.clone()),
            addressed: used.addressed.clone(),
            ..Frame::outermost()
        });
        for (name, from, volatile) in in_memory {
            let value = self.load(&from)?;
            let place = self.new_variable(&name, from.ty, volatile, true)?;
            self.store(&place, &value)?;
            let place = Place { constant: from.constant, ..place };
            self.define(name, Symbol::Variable(place, None));
        }
        let launch_bound = match &f.launch_bound {
            Some(e) => Some(self.constant(e)?),
            None => None,
        };
        self.block(&body)?;
        self.pos = f.pos;
        self.emit(Ins::new(Op::Exit))?;
        Ok(self.finish(listed, params, launch_bound))
    }

    /// What the parameters are without arguments; their names are those that the kernel sees, and
    /// none of them may be another parameter.
    fn default_arguments(&mut self, f: &Function) -> Result<Vec<DefaultArgument>> {
        let mut out = Vec::new();
        for p in &f.parameters {
            self.pos = p.pos;
            let Some(default) = &p.default else {
                if out.iter().any(|earlier| *earlier != DefaultArgument::None) {
                    return Err(p.pos.error(
                        "a parameter behind one with a default argument must have one as well",
                    ));
                }
                out.push(DefaultArgument::None);
                continue;
            };
            let (ty, _) = self.resolve(&p.ty)?;
            let value = self.constant_as(default, &ty)?;
            out.push(value.map_or(DefaultArgument::Computed, DefaultArgument::Constant));
        }
        Ok(out)
    }

    fn param_type(&self, ty: &Ty) -> Result<ParamType> {
        Ok(match ty {
            Ty::Scalar(s) => ParamType::Scalar(*s),
            Ty::Pointer(to) => {
                let size = self.size_of(&to.ty).min(1 << 20) as u32;
                ParamType::Pointer(to.ty.element(), size)
            }
            Ty::Struct(_) => {
                let leaves = self.leaves(ty);
                ParamType::Struct(leaves.into_iter().map(|l| l.1).collect())
            }
            _ => return self.refuse("a kernel parameter of this type"),
        })
    }

    fn finish(mut self, f: &Function, params: Vec<Param>, launch_bound: Option<u64>) -> Compiled {
        let rejected = std::mem::take(&mut self.taints).rejected();
        for at in rejected {
            self.code[at].op = Op::Nop;
        }
        let own = self.registers as u16;
        let place = |r: u16| if r > FIXED { own + (u16::MAX - r) } else { r };
        for ins in &mut self.code {
            ins.d = place(ins.d);
            ins.a = place(ins.a);
            ins.b = place(ins.b);
            if matches!(ins.op, Op::Select | Op::Math) {
                ins.k = ins.k & !0xffff | u32::from(place(ins.k as u16));
            }
        }
        let name = full_name(f, self.kernels_named(&f.name).len() > 1);
        let constants = self.constants.iter().map(|(&v, &r)| (place(r), v)).collect();
        let specials = self.specials.iter().map(|(&s, &r)| (place(r), s)).collect();
        Compiled {
            name,
            waiting: waiting(&self.code),
            code: self.code,
            places: self.places,
            registers: usize::from(own) + usize::from(u16::MAX - self.fixed) + 1,
            constants,
            specials,
            params,
            locals: self.locals,
            local_bytes: self.local_bytes,
            shared: self.shared,
            shared_bytes: self.shared_bytes,
            dynamic: self.dynamic,
            names: self.names,
            launch_bound,
            grid_sync: self.grid_sync,
            pos: f.pos,
        }
    }
}

/// An atomic without its scope.
fn describe_atomic(atomic: &AtomicExpr) -> String {
    let of = match atomic.arguments.as_deref() {
        Some([TemplateArgument::Type(ty), ..]) => format!("<{}>", describe_type(ty)),
        _ => String::new(),
    };
    format!("cuda::{}{of}", if atomic.reference { "atomic_ref" } else { "atomic" })
}

/// A type as C writes it, for lists of parameters.
fn describe_type(ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Void => "void".into(),
        TypeExpr::Auto => "auto".into(),
        TypeExpr::Scalar(s) => s.c_name().into(),
        TypeExpr::Named(path) => path.last().into(),
        TypeExpr::Pointer(inner) => format!("{} *", describe_type(inner)),
        TypeExpr::Reference(inner) => format!("{} &", describe_type(inner)),
        TypeExpr::Enumeration(inner) => describe_type(inner),
        TypeExpr::Array(inner, _) => format!("{}[]", describe_type(inner)),
        TypeExpr::Volatile(inner) => format!("volatile {}", describe_type(inner)),
        TypeExpr::Const(inner) => format!("const {}", describe_type(inner)),
        TypeExpr::Decltype(_) => "decltype(…)".into(),
        TypeExpr::Group(_) => "cooperative group".into(),
        TypeExpr::Atomic(atomic) => describe_atomic(atomic),
    }
}

//! From the syntax tree of one kernel to the machine's instructions.
//!
//! Names and types are resolved and templates instantiated on the way. Device
//! functions are compiled into their callers: recursion is refused, and in
//! return a reference is another name for a variable, a template costs
//! nothing, and the machine needs no call stack.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::lang::ast::{File, Function, Path, Stmt};
use crate::lang::{Pos, parse_body};
use crate::machine::ins::{Dynamic, Global, Ins, Object, Site, Special};
use crate::value::ScalarType;

mod argument;
mod assign;
mod atomic;
mod builtin;
mod call;
mod cast;
mod conditional;
mod construct;
mod consts;
mod cuda_atomic;
mod declare;
mod deduce;
mod emit;
mod expr;
mod file_scope;
mod flow;
mod group;
mod inline;
mod kernel;
mod layout;
mod names;
mod operator;
mod overload;
mod pattern;
mod place;
mod resolve;
mod scope;
mod special_function;
mod specialise;
mod stmt;
mod storage;
mod taint;
mod template;
mod ty;
mod value;
mod vector;

pub(crate) use deduce::complete_name;
pub(crate) use kernel::{full_name, globals, lower_kernel, parameters};
use names::{Names, scan_names};

use scope::{Scope, Symbol};
use special_function::SpecialFunction;
use specialise::Family;
use taint::Taints;
use ty::{StructInfo, Ty};
use value::Place;

/// Deepest recursion of the compiler, over all inlined functions.
const MAX_DEPTH: u32 = 240;
/// Deepest nesting of inlined calls.
const MAX_CALLS: usize = 48;
/// Most instructions of one kernel.
const MAX_CODE: usize = 1 << 18;

/// Most nodes of trees visited, inlined ones each time.
const MAX_NODES: u32 = 1 << 22;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The function whose body is being compiled.
struct Frame {
    function: Option<Arc<Function>>,
    /// Where its result goes.
    result: Option<(u16, Ty)>,
    /// The result's type where it is still to be found (`auto`).
    deduce: bool,
    /// Register that tells whether it returned a value, where it may end without one.
    returned: Option<u16>,
    /// Jumps to its end.
    returns: Vec<usize>,
    /// The object of a method.
    this: Option<Place>,
    result_taint: taint::Taint,
    /// Variables whose address is taken.
    addressed: HashSet<Arc<str>>,
    /// Where the kernel called it, or called what called it.
    caller: Option<NonZeroU32>,
}

/// Jumps that `break` and `continue` of a loop (or switch) make.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
    is_switch: bool,
}

struct Lower<'a> {
    file: &'a File,
    operator: &'a str,
    /// Whether the file has the operator's function.
    has_operator: bool,
    code: Vec<Ins>,
    places: Vec<Site>,
    pos: Pos,
    /// The call of the operator that is being compiled.
    operator_call: Option<Pos>,
    /// First free register, and the first that no variable holds.
    top: u32,
    floor: u32,
    registers: u32,
    constants: HashMap<u64, u16>,
    specials: HashMap<Special, u16>,
    fixed: u16,
    /// Code below this index is a jump's target: it must stay as it is.
    barrier: usize,
    scopes: Vec<Scope>,
    frames: Vec<Frame>,
    loops: Vec<Loop>,
    structs: Vec<StructInfo>,
    struct_ids: HashMap<String, usize>,
    /// The specialisations of templates of structs, and of functions, as they are needed.
    families: HashMap<Arc<str>, Family>,
    special_functions: HashMap<Arc<str>, Arc<[SpecialFunction]>>,
    /// Where the structs that are specialisations are declared first, and their lines.
    declared_special: HashMap<usize, (usize, u32)>,
    /// The parameters of partial specialisations, as what is not known.
    unknowns: HashMap<usize, Scope>,
    bodies: HashMap<usize, Arc<[Stmt]>>,
    taints: Taints,
    locals: Vec<Object>,
    local_bytes: u32,
    shared: Vec<Object>,
    shared_bytes: u32,
    /// Shared objects by declaration, name and type.
    shared_names: HashMap<(Pos, Arc<str>, String), usize>,
    dynamic: Vec<Dynamic>,
    names: Vec<String>,
    globals: &'a [Global],
    depth: u32,
    /// Nodes of trees that may still be visited.
    fuel: u32,
    /// Nesting of operator calls.
    work: u32,
    grid_sync: Option<Pos>,
    /// The file's functions by name.
    named: HashMap<Arc<str>, Vec<Arc<Function>>>,
}

impl<'a> Lower<'a> {
    fn new(file: &'a File, operator: &'a str, globals: &'a [Global]) -> Self {
        let mut named: HashMap<Arc<str>, Vec<Arc<Function>>> = HashMap::new();
        for f in &file.functions {
            named.entry(f.name.clone()).or_default().push(f.clone());
        }
        Self {
            file,
            operator,
            has_operator: named.contains_key(operator),
            code: Vec::new(),
            places: Vec::new(),
            pos: Pos::default(),
            operator_call: None,
            top: 0,
            floor: 0,
            registers: 0,
            constants: HashMap::new(),
            specials: HashMap::new(),
            fixed: u16::MAX,
            barrier: 0,
            scopes: Vec::new(),
            frames: Vec::new(),
            loops: Vec::new(),
            structs: Vec::new(),
            struct_ids: HashMap::new(),
            families: HashMap::new(),
            special_functions: HashMap::new(),
            declared_special: HashMap::new(),
            unknowns: HashMap::new(),
            bodies: HashMap::new(),
            taints: Taints::default(),
            locals: Vec::new(),
            local_bytes: 0,
            shared: Vec::new(),
            shared_bytes: 0,
            shared_names: HashMap::new(),
            dynamic: Vec::new(),
            names: Vec::new(),
            globals,
            depth: 0,
            fuel: MAX_NODES,
            work: 0,
            grid_sync: None,
            named,
        }
    }

    /// Goes one level deeper in the tree.
    fn descend(&mut self) -> Result<()> {
        self.depth += 1;
        self.fuel = self.fuel.saturating_sub(1);
        if self.depth > MAX_DEPTH {
            return Err(self.pos.error("this is nested too deeply"));
        }
        if self.fuel == 0 {
            return Err(self.pos.error("this kernel is too large once its calls are inlined"));
        }
        Ok(())
    }

    fn body(&mut self, function: &Arc<Function>) -> Result<Arc<[Stmt]>> {
        let key = Arc::as_ptr(function) as usize;
        if let Some(body) = self.bodies.get(&key) {
            return Ok(body.clone());
        }
        let body: Arc<[Stmt]> = parse_body(function, self.file)?.into();
        self.bodies.insert(key, body.clone());
        Ok(body)
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::outermost());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// What a name means here: the innermost scope first, then the file.
    fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    /// The refusal of a declaration that was read past, if it is of this name.
    fn unknown(&self, what: &str, path: &Path) -> Diagnostic {
        let name = path.last();
        self.file.explained(path.pos.error(format!("{what} `{name}` is not known")), name)
    }

    fn refuse<T>(&self, what: impl std::fmt::Display) -> Result<T> {
        Err(self.pos.outside(what))
    }
}

impl Frame {
    fn outermost() -> Self {
        Self {
            function: None,
            result: None,
            deduce: false,
            returned: None,
            returns: Vec::new(),
            this: None,
            result_taint: taint::Taint::default(),
            addressed: HashSet::new(),
            caller: None,
        }
    }
}

/// The type that arithmetic on two types is done in.
fn common(a: ScalarType, b: ScalarType) -> ScalarType {
    use ScalarType as S;
    let rank = |t: ScalarType| match t {
        S::F64 => 6,
        S::F32 => 5,
        S::U64 => 4,
        S::I64 => 3,
        S::U32 => 2,
        _ => 1,
    };
    match rank(a).max(rank(b)) {
        6 => S::F64,
        5 => S::F32,
        4 => S::U64,
        3 => S::I64,
        2 => S::U32,
        _ => S::I32,
    }
}

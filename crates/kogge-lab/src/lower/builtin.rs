//! The functions that CUDA declares.

use super::taint::Taint;
use super::ty::Ty;
use super::value::{Place, PlaceKind, Val};
use super::{Lower, Result, common};
use crate::lang::ast::{Expr, ExprKind, Path};
use crate::machine::alu::{canonical, is_float, is_signed, of_f32, of_f64};
use crate::machine::collective::{FLAGGED, LEAF};
use crate::machine::ins::{Ins, Op, barrier, code, shuffle, vote};
use crate::machine::math::Function;
use crate::value::ScalarType;

/// What a shuffle moves: a value, and where it is that of a variable without an initialiser, the
/// register that tells whether that was written, and the index of its name.
pub(super) struct Shuffled {
    pub value: Val,
    pub flag: Option<(u16, u32)>,
}

/// Calls that say something to a compiler or a person, nothing to the machine.
const SILENT: [&str; 7] = [
    "__nanosleep",
    "__builtin_assume",
    "__brkpt",
    "__prof_trigger",
    "__pipeline_commit",
    "__builtin_unreachable",
    "cudaGridDependencySynchronize",
];

impl Lower<'_> {
    /// A built-in function's call, or none if there is none of this name.
    pub(super) fn builtin(&mut self, path: &Path, arguments: &[Expr]) -> Result<Option<Val>> {
        let name = path.last();
        if name == "printf" {
            return self.printf(arguments).map(Some);
        }
        if SILENT.contains(&name) {
            return Ok(Some(Val::nothing(Ty::Void)));
        }
        if let Some(v) = self.synchronisation(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.atomic(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.thread_fence(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.warp_function(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.cached_access(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.bits(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.group_function(name, arguments)? {
            return Ok(Some(v));
        }
        if let Some(vector) = name.strip_prefix("make_")
            && let Some(ty) = self.vector_type(vector)
        {
            return self.make_vector(&ty, arguments).map(Some);
        }
        self.mathematics(name, arguments)
    }

    /// Prints nothing, but evaluates what would be printed, as the device does.
    fn printf(&mut self, arguments: &[Expr]) -> Result<Val> {
        for a in arguments.iter().filter(|a| !matches!(a.kind, ExprKind::Text)) {
            self.rvalue(a)?;
        }
        Ok(Val::constant(Ty::INT, 0))
    }

    pub(super) fn values(
        &mut self,
        arguments: &[Expr],
        count: usize,
        name: &str,
    ) -> Result<Vec<Val>> {
        if arguments.len() != count {
            return Err(self.pos.error(format!(
                "`{name}` takes {count} arguments, here it is given {}",
                arguments.len()
            )));
        }
        let pos = self.pos;
        let mut out = Vec::new();
        for a in arguments {
            let v = self.rvalue(a)?;
            let v = self.settle(v)?;
            // A later argument may change a variable that this one is.
            out.push(v);
        }
        self.pos = pos;
        Ok(out)
    }

    fn void(&mut self, ins: Ins) -> Result<Option<Val>> {
        self.emit(ins)?;
        self.barrier = self.code.len();
        Ok(Some(Val::nothing(Ty::Void)))
    }

    fn synchronisation(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        let bare = ["__syncthreads", "__threadfence", "__threadfence_system"];
        if (bare.contains(&name) || matches!(name, "__threadfence_block" | "__trap"))
            && !arguments.is_empty()
        {
            return Err(self.pos.error(format!("`{name}` takes no arguments")));
        }
        match name {
            "__syncthreads" => {
                let d = self.temp(1)?;
                self.void(Ins { x: barrier::PLAIN, d, ..Ins::new(Op::SyncThreads) })
            }
            "__syncthreads_count" | "__syncthreads_and" | "__syncthreads_or" => {
                let v = self.values(arguments, 1, name)?.remove(0);
                let v = self.truth(&v)?;
                let a = self.register(&v)?;
                let d = self.temp(1)?;
                let x = match name {
                    "__syncthreads_count" => barrier::COUNT,
                    "__syncthreads_and" => barrier::AND,
                    _ => barrier::OR,
                };
                self.void(Ins { x, d, a, ..Ins::new(Op::SyncThreads) })?;
                Ok(Some(Val::register(Ty::INT, d, Taint::default())))
            }
            "__syncwarp" => {
                let a = match arguments {
                    [] => self.constant_register(0xffff_ffff)?,
                    _ => {
                        let mask = self.values(arguments, 1, name)?.remove(0);
                        let mask = self.cast(mask, &Ty::UNSIGNED)?;
                        self.register(&mask)?
                    }
                };
                self.void(Ins { a, ..Ins::new(Op::SyncWarp) })
            }
            "__threadfence" | "__threadfence_system" => self.void(Ins::new(Op::Fence)),
            "__threadfence_block" => self.void(Ins { x: 1, ..Ins::new(Op::Fence) }),
            "assert" => {
                let v = self.values(arguments, 1, name)?.remove(0);
                let v = self.truth(&v)?;
                let a = self.register(&v)?;
                self.void(Ins { a, ..Ins::new(Op::Assert) })
            }
            "__trap" => self.void(Ins::new(Op::Trap)),
            "clock" | "clock64" | "globaltimer" => {
                let d = self.temp(1)?;
                self.emit(Ins { d, ..Ins::new(Op::Clock) })?;
                let ty = Ty::Scalar(ScalarType::I64);
                Ok(Some(Val::register(ty, d, Taint::default())))
            }
            _ => Ok(None),
        }
    }

    fn warp_function(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        let mode = match name {
            "__shfl_sync" => Some(shuffle::INDEX),
            "__shfl_up_sync" => Some(shuffle::UP),
            "__shfl_down_sync" => Some(shuffle::DOWN),
            "__shfl_xor_sync" => Some(shuffle::XOR),
            _ => None,
        };
        if let Some(mode) = mode {
            let width = match arguments.len() {
                3 => Val::constant(Ty::INT, 32),
                4 => self.rvalue(&arguments[3])?,
                _ => return Err(self.pos.error(format!("`{name}` takes 3 or 4 arguments"))),
            };
            let mask = self.rvalue(&arguments[0])?;
            let Shuffled { value, flag } = self.shuffled(&arguments[1])?;
            let lane = self.rvalue(&arguments[2])?;
            let Ty::Scalar(s) = value.ty else {
                return Err(self.warp_operand(name, &value).with_help(
                    "shuffle member by member, or by the method of a cooperative group's tile",
                ));
            };
            let value = self.cast(value, &Ty::Scalar(common(s, s)))?;
            let shuffled = Shuffled { value, flag };
            return self.shuffle(mode, &mask, &shuffled, &lane, &width).map(Some);
        }
        let (mode, operands) = match name {
            "__ballot_sync" => (vote::BALLOT, 2),
            "__any_sync" => (vote::ANY, 2),
            "__all_sync" => (vote::ALL, 2),
            "__activemask" => (vote::ACTIVE, 0),
            "__match_any_sync" => (vote::MATCH_ANY, 2),
            "__reduce_add_sync" => (vote::ADD, 2),
            "__reduce_min_sync" => (vote::MIN_U, 2),
            "__reduce_max_sync" => (vote::MAX_U, 2),
            "__reduce_and_sync" => (vote::AND, 2),
            "__reduce_or_sync" => (vote::OR, 2),
            "__reduce_xor_sync" => (vote::XOR, 2),
            "__shfl" | "__shfl_up" | "__shfl_down" | "__shfl_xor" | "__ballot" | "__any"
            | "__all" => {
                return Err(self
                    .pos
                    .error(format!("`{name}` was removed from CUDA"))
                    .with_help(format!("use `{name}_sync` with a mask")));
            }
            _ => return Ok(None),
        };
        let values = self.values(arguments, operands, name)?;
        let full = Val::constant(Ty::UNSIGNED, 0xffff_ffff);
        let mask = values.first().unwrap_or(&full).clone();
        let mut value = values.get(1).unwrap_or(&full).clone();
        let Ty::Scalar(s) = value.ty else {
            return Err(self.warp_operand(name, &value));
        };
        match mode {
            vote::ADD | vote::MIN_U | vote::MAX_U if common(s, s).size() > 4 || is_float(s) => {
                return Err(self
                    .warp_operand(name, &value)
                    .with_help("it takes an `int` or an `unsigned int`"));
            }
            vote::AND | vote::OR | vote::XOR => value = self.cast(value, &Ty::UNSIGNED)?,
            _ => {}
        }
        self.vote(mode, &mask, value).map(Some)
    }

    /// The refusal of a value that a function of the warp isn't declared for.
    fn warp_operand(&self, name: &str, value: &Val) -> crate::Diagnostic {
        let ty = self.describe(&value.ty);
        self.pos.error(format!("CUDA has no `{name}` of a value of type `{ty}`"))
    }

    /// The operand of a shuffle. That of a variable isn't read by its own lane alone, which need not
    /// have written it: `if (lane == 0) n = atomicAdd(…); n = __shfl_sync(mask, n, 0);`.
    pub(super) fn shuffled(&mut self, e: &Expr) -> Result<Shuffled> {
        let place = match e.kind {
            ExprKind::Name(_) => self.try_place(e)?,
            _ => None,
        };
        match place {
            Some(place @ Place { kind: PlaceKind::Register { base, flag: Some(flag) }, .. }) => {
                let kind = PlaceKind::Register { base, flag: None };
                let value = self.load(&Place { kind, ..place })?;
                Ok(Shuffled { value, flag: Some(flag) })
            }
            _ => Ok(Shuffled { value: self.rvalue(e)?, flag: None }),
        }
    }

    pub(super) fn shuffle(
        &mut self,
        mode: u8,
        mask: &Val,
        Shuffled { value, flag }: &Shuffled,
        lane: &Val,
        width: &Val,
    ) -> Result<Val> {
        let b = self.temp(if flag.is_some() { 5 } else { 3 })?;
        for (i, v) in [mask, lane, width].into_iter().enumerate() {
            let v = self.cast(v.clone(), &Ty::UNSIGNED)?;
            let from = self.register(&v)?;
            self.emit(Ins { d: b + i as u16, a: from, ..Ins::new(Op::Mov) })?;
        }
        if let Some((written, name)) = *flag {
            let name = self.constant_register(u64::from(name))?;
            for (d, a) in [(b + 3, written), (b + 4, name)] {
                self.emit(Ins { d, a, ..Ins::new(Op::Mov) })?;
            }
        }
        let flagged = if flag.is_some() { FLAGGED } else { 0 };
        // A struct is shuffled leaf by leaf, as cooperative groups do.
        let n = self.leaf_count(&value.ty);
        let from = self.register(value)?;
        let d = self.temp(n)?;
        for i in 0..n as u16 {
            self.emit(Ins {
                op: Op::Shuffle,
                x: mode,
                d: d + i,
                a: from + i,
                b,
                k: if i > 0 { LEAF } else { flagged },
            })?;
        }
        self.barrier = self.code.len();
        Ok(Val::register(value.ty.clone(), d, value.taint.clone()))
    }

    pub(super) fn vote(&mut self, mode: u8, mask: &Val, value: Val) -> Result<Val> {
        let mask = self.cast(mask.clone(), &Ty::UNSIGNED)?;
        let scalar = value.ty.scalar().unwrap_or(ScalarType::U32);
        let (mode, value, ty) = match mode {
            vote::BALLOT => (mode, self.truth(&value)?, Ty::UNSIGNED),
            vote::ANY | vote::ALL => (mode, self.truth(&value)?, Ty::INT),
            vote::ACTIVE | vote::MATCH_ANY => (mode, value, Ty::UNSIGNED),
            _ => {
                let ty = Ty::Scalar(common(scalar, scalar));
                let mode = match (mode, is_signed(scalar)) {
                    (vote::MIN_U, true) => vote::MIN_S,
                    (vote::MAX_U, true) => vote::MAX_S,
                    (mode, _) => mode,
                };
                (mode, self.cast(value, &ty)?, ty)
            }
        };
        let (a, b) = (self.register(&mask)?, self.register(&value)?);
        let d = self.temp(1)?;
        self.emit(Ins {
            op: Op::Vote,
            x: mode,
            d,
            a,
            b,
            k: u32::from(code(ty.scalar().unwrap_or(ScalarType::U32))),
        })?;
        self.barrier = self.code.len();
        Ok(Val::register(ty, d, Taint::default()))
    }

    /// `__ldg` and the other loads and stores with a cache hint. `cg` and `cv`
    /// read what other blocks wrote: they are strong, like volatile.
    fn cached_access(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        let (store, volatile) = match name {
            "__ldg" | "__ldca" | "__ldcs" | "__ldlu" => (false, false),
            "__ldcg" | "__ldcv" => (false, true),
            "__stwb" | "__stcs" => (true, false),
            "__stcg" | "__stwt" => (true, true),
            _ => return Ok(None),
        };
        let values = self.values(arguments, if store { 2 } else { 1 }, name)?;
        let mut place = self.dereference(&values[0])?;
        place.volatile |= volatile;
        if store {
            self.check_assignable(&place)?;
            let v = self.cast(values[1].clone(), &place.ty)?;
            self.store(&place, &v)?;
            return Ok(Some(Val::nothing(Ty::Void)));
        }
        self.load(&place).map(Some)
    }

    /// Functions that look at a number's bits, constants, and exact arithmetic.
    fn bits(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        use ScalarType as S;
        let (from, to) = match name {
            "__float_as_int" => (S::F32, S::I32),
            "__float_as_uint" => (S::F32, S::U32),
            "__int_as_float" | "__uint_as_float" => (S::U32, S::F32),
            "__double_as_longlong" => (S::F64, S::I64),
            "__longlong_as_double" => (S::I64, S::F64),
            "__builtin_inff" => {
                let inf = of_f32(f32::INFINITY);
                return Ok(Some(Val::constant(Ty::Scalar(S::F32), inf)));
            }
            "__builtin_nanf" => {
                let nan = of_f32(f32::NAN);
                return Ok(Some(Val::constant(Ty::Scalar(S::F32), nan)));
            }
            "__builtin_expect" => {
                let v = self.values(arguments, 2, name)?.remove(0);
                return Ok(Some(v));
            }
            "__mul24" | "__umul24" | "__fadd_rn" | "__fmul_rn" | "__fsub_rn" | "__fdividef"
            | "fdividef" | "__fdiv_rn" | "__dadd_rn" | "__dsub_rn" | "__dmul_rn" | "__ddiv_rn" => {
                return self.exact(name, arguments).map(Some);
            }
            _ => return Ok(None),
        };
        let v = self.values(arguments, 1, name)?.remove(0);
        let v = self.cast(v, &Ty::Scalar(from))?;
        if let Some(c) = v.constant {
            return Ok(Some(Val::constant(Ty::Scalar(to), canonical(to, c))));
        }
        let signed = if to == S::I32 { S::I32 } else { to };
        let a = self.register(&v)?;
        let d = self.temp(1)?;
        // A register's bits are extended by its type: from integer to integer.
        let as_integer = |t: S| if t.size() == 4 { S::U32 } else { S::U64 };
        self.emit(Ins {
            d,
            a,
            x: code(as_integer(from)) << 4
                | code(if is_float(signed) { as_integer(signed) } else { signed }),
            ..Ins::new(Op::Convert)
        })?;
        Ok(Some(Val { ty: Ty::Scalar(to), register: Some(d), ..v }))
    }

    fn exact(&mut self, name: &str, arguments: &[Expr]) -> Result<Val> {
        use crate::lang::ast::Binary;
        let values = self.values(arguments, 2, name)?;
        let eight = Val::constant(Ty::INT, 8);
        let (op, ty) = match name {
            "__mul24" => (Binary::Mul, ScalarType::I32),
            "__umul24" => (Binary::Mul, ScalarType::U32),
            "__fadd_rn" => (Binary::Add, ScalarType::F32),
            "__fsub_rn" => (Binary::Sub, ScalarType::F32),
            "__fmul_rn" => (Binary::Mul, ScalarType::F32),
            "__dadd_rn" => (Binary::Add, ScalarType::F64),
            "__dsub_rn" => (Binary::Sub, ScalarType::F64),
            "__ddiv_rn" => (Binary::Div, ScalarType::F64),
            "__dmul_rn" => (Binary::Mul, ScalarType::F64),
            _ => (Binary::Div, ScalarType::F32),
        };
        let mut operands = Vec::new();
        for v in values {
            let mut v = self.cast(v, &Ty::Scalar(ty))?;
            if !is_float(ty) {
                // Of an operand's bits, the lower 24.
                v = self.binary(Binary::Shl, &v, &eight)?;
                v = self.binary(Binary::Shr, &v, &eight)?;
            }
            operands.push(v);
        }
        self.binary(op, &operands[0], &operands[1])
    }

    fn make_vector(&mut self, ty: &Ty, arguments: &[Expr]) -> Result<Val> {
        let lanes = self.leaf_count(ty);
        if arguments.len() != lanes {
            return Err(self.pos.error(format!(
                "`make_{}` takes {lanes} arguments, here it is given {}",
                self.describe(ty),
                arguments.len()
            )));
        }
        let place = self.fresh_object(ty.clone())?;
        self.initialise(&place, arguments)?;
        self.load(&place)
    }

    fn mathematics(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        let single = name.strip_suffix('f').filter(|n| has_single(n)).and_then(Function::from_name);
        let (found, single) = match (Function::from_name(name), single) {
            // `__exp` is there for `__expf`.
            (Some(f), _) if !(name.starts_with("__") && has_single(name)) => (f, false),
            (None, Some(f)) => (f, true),
            _ => match name {
                "umin" => ((Function::Min, 2), false),
                "umax" => ((Function::Max, 2), false),
                _ => return Ok(None),
            },
        };
        let (f, arity) = found;
        let values = self.values(arguments, arity, name)?;
        let mut ty = None;
        for v in &values {
            let Ty::Scalar(s) = v.ty else {
                let given = self.describe(&v.ty);
                return Err(self.pos.error(format!("`{name}` of a value of type `{given}`")));
            };
            ty = Some(ty.map_or(common(s, s), |t| common(t, s)));
        }
        let mut ty = ty.unwrap_or(ScalarType::I32);
        if matches!(name, "min" | "max" | "abs") {
            self.check_overloads(name, &values)?;
        }
        let floats = f.floats_only() || name.starts_with('f') && name != "f";
        if let Some(declared) = operand_type(name) {
            ty = declared;
        } else if single {
            ty = ScalarType::F32;
        } else if floats && !is_float(ty) {
            ty = ScalarType::F64;
        }
        self.math_call(f, ty, &values).map(Some)
    }

    /// Refuses operands between whose types CUDA's overloads don't decide.
    fn check_overloads(&self, name: &str, values: &[Val]) -> Result<()> {
        let kind = |v: &Val| {
            let s = v.ty.scalar().unwrap_or(ScalarType::I32);
            let s = common(s, s);
            (is_float(s), if is_float(s) { 0 } else { s.size() }, is_signed(s))
        };
        let decided = match values {
            [a, b] => (kind(a).0, kind(a).1) == (kind(b).0, kind(b).1),
            [a] => kind(a).0 || kind(a).2,
            _ => true,
        };
        if decided {
            return Ok(());
        }
        let types: Vec<String> = values.iter().map(|v| self.describe(&v.ty)).collect();
        Err(self
            .pos
            .error(format!(
                "`{name}` of ({}) is ambiguous: CUDA has no such overload",
                types.join(", ")
            ))
            .with_help("cast the operands to one type"))
    }

    fn math_call(&mut self, f: Function, ty: ScalarType, values: &[Val]) -> Result<Val> {
        let mut operands = Vec::new();
        for v in values {
            operands.push(self.cast(v.clone(), &Ty::Scalar(ty))?);
        }
        let result = Ty::Scalar(if f.gives_int() { ScalarType::I32 } else { ty });
        let constants: Option<Vec<u64>> = operands.iter().map(|v| v.constant).collect();
        if let Some(c) = constants {
            let at = |i: usize| c.get(i).copied().unwrap_or(0);
            let value = crate::machine::math::apply(f, ty, at(0), at(1), at(2));
            return Ok(Val::constant(result, value));
        }
        let mut registers = [0u16; 3];
        let mut taint = Taint::default();
        for (r, v) in registers.iter_mut().zip(&operands) {
            *r = self.register(v)?;
            taint = taint.join(&v.taint);
        }
        let d = self.temp(1)?;
        self.emit(Ins {
            op: Op::Math,
            x: f as u8,
            d,
            a: registers[0],
            b: registers[1],
            k: u32::from(registers[2]) | u32::from(code(ty)) << 16,
        })?;
        let v = Val::register(result, d, taint);
        if let (Function::Min | Function::Max, [a, b]) = (f, &operands[..]) {
            let taints = (a.taint.clone(), b.taint.clone());
            self.note_work(&v, a, b, (&taints.0, &taints.1))?;
        }
        Ok(v)
    }

    /// `std::numeric_limits<T>::max()` and its like.
    pub(super) fn numeric_limit(&self, ty: ScalarType, name: &str) -> Option<Val> {
        use ScalarType as S;
        let signed = is_signed(ty);
        let bits = 8 * ty.size() as u32;
        let value = match (ty, name) {
            (S::F32, "infinity") => of_f32(f32::INFINITY),
            (S::F32, "max") => of_f32(f32::MAX),
            (S::F32, "lowest") => of_f32(f32::MIN),
            (S::F32, "min") => of_f32(f32::MIN_POSITIVE),
            (S::F64, "infinity") => of_f64(f64::INFINITY),
            (S::F64, "max") => of_f64(f64::MAX),
            (S::F64, "lowest") => of_f64(f64::MIN),
            (S::F64, "min") => of_f64(f64::MIN_POSITIVE),
            (S::F32 | S::F64, _) => return None,
            (_, "max") if signed => (1u64 << (bits - 1)) - 1,
            (_, "max") => canonical(ty, u64::MAX),
            (_, "min" | "lowest") if signed => canonical(ty, 1u64 << (bits - 1)),
            (_, "min" | "lowest") => 0,
            _ => return None,
        };
        Some(Val::constant(Ty::Scalar(ty), value))
    }

    pub(super) fn is_numeric_limits(path: &Path) -> bool {
        path.parts.first().is_some_and(|p| &*p.name == "numeric_limits")
    }

    pub(super) fn call_numeric_limits(&mut self, path: &Path) -> Result<Val> {
        let argument = path.parts[0].arguments.as_ref().and_then(|a| a.first());
        if let Some(crate::lang::ast::TemplateArgument::Type(ty)) = argument
            && let (Ty::Scalar(s), _) = self.resolve(ty)?
            && let Some(v) = self.numeric_limit(s, path.last())
        {
            return Ok(v);
        }
        Err(self.unknown("the limit", path))
    }
}

/// Whether a function of the table has a version of this name and an `f`.
fn has_single(name: &str) -> bool {
    let fast = ["__exp", "__log", "__log2", "__log10", "__pow", "__sin", "__cos", "__tan"];
    let plain = ["fmin", "fmax", "fabs"];
    let floats = Function::from_name(name).is_some_and(|(f, _)| f.floats_only());
    let classes = ["isnan", "isinf", "isfinite"];
    fast.contains(&name)
        || plain.contains(&name)
        || floats && !name.starts_with("__") && !classes.contains(&name)
}

/// The type of the operands of functions that are declared for one type alone.
fn operand_type(name: &str) -> Option<ScalarType> {
    Some(match name {
        "__popc" | "__brev" | "__umulhi" | "umin" | "umax" => ScalarType::U32,
        "__clz" | "__ffs" | "__mulhi" => ScalarType::I32,
        "__popcll" | "__brevll" => ScalarType::U64,
        "__clzll" | "__ffsll" | "labs" | "llabs" => ScalarType::I64,
        "__fsqrt_rn" | "__fmaf_rn" | "__saturatef" => ScalarType::F32,
        "__dsqrt_rn" | "__fma_rn" => ScalarType::F64,
        _ => return None,
    })
}

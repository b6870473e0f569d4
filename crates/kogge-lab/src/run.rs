//! Running a script: once, or under many schedules.

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::Diagnostic;
use crate::machine::address::pack;
use crate::machine::alu::{canonical, of_f32, of_f64};
use crate::machine::ins::{Compiled, DefaultArgument, Param, ParamType};
use crate::machine::{Session, number_bytes};
use crate::options::{Options, Schedule};
use crate::program::Program;
use crate::random::Random;
use crate::report::{Counts, Finding, FindingKind, Report};
use crate::script::{Arg, Launch, Script, Step};
use crate::value::{Number, ScalarType, Value, Values};

/// Runs a script under one schedule.
///
/// The same program, script and options give the same report, on any machine.
/// A run ends within its budgets; one that a deadlock or a budget stops leaves
/// out the later steps.
///
/// # Errors
///
/// A kernel that uses what the language lacks, a launch that names no kernel
/// or leaves a parameter without a value, a value of the wrong type.
pub fn run(program: &Program, script: &Script, options: &Options) -> Result<Report, Diagnostic> {
    let kernels = compile_all(program, script, options)?;
    check_names(program, script, &kernels)?;
    let mut host = Host { session: Session::new(options), script, kernels: &kernels };
    host.prepare(program)?;
    for step in &script.steps {
        if host.session.stopped() {
            break;
        }
        host.step(step)?;
    }
    let arrays = host.contents(program);
    let outcome = host.session.finish();
    let mut counts = Counts::default();
    for l in &outcome.launches {
        counts.add(&l.counts);
    }
    Ok(Report {
        arrays,
        findings: outcome.findings,
        findings_left_out: outcome.left_out,
        counts,
        launches: outcome.launches,
        activity: outcome.activity,
        schedule: options.schedule,
        schedules: 1,
        trace: outcome.trace,
    })
}

/// Runs a script under `schedules` schedules: that of the options, then
/// forward, reverse, and random ones with seeds drawn from `seed`. The report
/// is that of the first, with the findings of all and a `schedule-dependent`
/// one where the contents of an array differ.
///
/// A finding carries the schedule that shows it; running that one alone, with
/// [`Options::under`], shows it again.
///
/// # Errors
///
/// As [`run`].
pub fn explore(
    program: &Program,
    script: &Script,
    options: &Options,
    schedules: u32,
    seed: u64,
) -> Result<Report, Diagnostic> {
    explore_each(program, script, options, schedules, seed, |_| {})
}

/// [`explore`], with a look at the report of each schedule: its own contents and findings.
///
/// # Errors
///
/// As [`run`].
pub fn explore_each(
    program: &Program,
    script: &Script,
    options: &Options,
    schedules: u32,
    seed: u64,
    mut each: impl FnMut(&Report),
) -> Result<Report, Diagnostic> {
    let mut random = Random::new(seed);
    let mut report = run(program, script, options)?;
    each(&report);
    let fixed = [Schedule::FORWARD, Schedule::REVERSE];
    let mut others = fixed.into_iter().filter(|s| s.order != options.schedule.order);
    // What spends the budget under one schedule will under the next.
    let spends = |findings: &[Finding]| findings.iter().any(|f| f.kind == FindingKind::Budget);
    for _ in 1..schedules {
        if spends(&report.findings) {
            break;
        }
        let schedule = others.next().unwrap_or_else(|| Schedule::random(random.next()));
        let options = Options { trace: false, ..options.under(schedule) };
        let other = run(program, script, &options)?;
        each(&other);
        report.schedules += 1;
        if let Some(finding) = difference(program, &report, &other) {
            merge(&mut report, vec![finding]);
        }
        merge(&mut report, other.findings);
    }
    Ok(report)
}

/// Adds findings that the report has not, by kind and lines.
fn merge(report: &mut Report, findings: Vec<Finding>) {
    for f in findings {
        let lines = |f: &Finding| f.accesses.iter().map(|a| (a.line, a.kind)).collect::<Vec<_>>();
        let same = |g: &Finding| {
            g.kind == f.kind
                && (g.line, g.column, g.launch) == (f.line, f.column, f.launch)
                && (g.location.as_ref().map(|l| &l.array) == f.location.as_ref().map(|l| &l.array))
                && (lines(g) == lines(&f) || f.kind == FindingKind::Deadlock)
        };
        if !report.findings.iter().any(same) {
            report.findings.push(f);
        }
    }
}

/// The first element in which two runs differ that both came to their end.
fn difference(program: &Program, a: &Report, b: &Report) -> Option<Finding> {
    let ended = |r: &Report| {
        !r.findings.iter().any(|f| {
            matches!(f.kind, FindingKind::Deadlock | FindingKind::Livelock | FindingKind::Budget)
        })
    };
    if !(ended(a) && ended(b)) {
        return None;
    }
    let (name, left, right) = a.arrays.iter().find_map(|(name, left)| {
        let right = b.arrays.get(name)?;
        (left.to_bytes() != right.to_bytes()).then_some((name, left, right))
    })?;
    let index = (0..left.len()).find(|&i| {
        let bits = |v: &Values| v.get(i).map(|n| (n.to_bits(), n.to_f64().to_bits()));
        bits(left) != bits(right)
    })?;
    let show = |v: &Values| v.get(index).map_or_else(String::new, |n| n.to_string());
    let kernel = a.launches.first().map(|l| l.kernel.as_str()).unwrap_or_default();
    let line = program.kernels().iter().find(|k| k.full_name == kernel).map_or(0, |k| k.line);
    Some(Finding {
        kind: FindingKind::ScheduleDependent,
        line,
        column: u32::from(line > 0),
        message: format!(
            "{name}[{index}] is {} under the {} schedule and {} under the {} one",
            show(left),
            a.schedule,
            show(right),
            b.schedule
        ),
        launch: 0,
        accesses: Vec::new(),
        location: Some(crate::report::Location {
            array: name.clone(),
            index: index as i64,
            space: crate::report::Space::Global,
        }),
        count: 1,
        schedule: b.schedule,
    })
}

/// Compiles each kernel that the script launches, once.
fn compile_all(
    program: &Program,
    script: &Script,
    options: &Options,
) -> Result<HashMap<String, Compiled>, Diagnostic> {
    let mut kernels = HashMap::new();
    let mut order = Vec::new();
    for step in &script.steps {
        let Step::Launch(launch) = step else { continue };
        let name = kernel_name(program, launch)?;
        if !kernels.contains_key(name) {
            kernels.insert(name.to_owned(), program.compile(name, &options.operator)?);
            order.push(name);
        }
    }
    program.check_dynamic(order.iter().map(|&name| &kernels[name]))?;
    Ok(kernels)
}

fn kernel_name<'a>(program: &'a Program, launch: &'a Launch) -> Result<&'a str, Diagnostic> {
    match (&launch.kernel, program.kernels()) {
        (Some(name), _) => Ok(name),
        (None, [one]) => Ok(&one.full_name),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|k| k.full_name.as_str()).collect();
            Err(Diagnostic::general("the source has several kernels")
                .with_help(format!("name one of {}", names.join(", "))))
        }
    }
}

/// Refuses values that nothing takes: most likely a name is misspelt.
fn check_names(
    program: &Program,
    script: &Script,
    kernels: &HashMap<String, Compiled>,
) -> Result<(), Diagnostic> {
    let known = |name: &str| {
        let used = |step: &Step| match step {
            Step::Launch(l) => {
                l.args.iter().any(|(_, a)| matches!(a, Arg::Array { name: n, .. } if n == name))
            }
            Step::Fill { name: n, .. } => n == name,
            Step::Copy { from, to } => from == name || to == name,
        };
        program.globals().iter().any(|g| g.name == name)
            || kernels.values().any(|k| k.params.iter().any(|p| p.name == name))
            || script.steps.iter().any(used)
    };
    match script.values.iter().find(|(name, _)| !known(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let mut names: Vec<&str> = kernels
                .values()
                .flat_map(|k| k.params.iter().map(|p| p.name.as_str()))
                .chain(program.globals().iter().map(|g| g.name.as_str()))
                .collect();
            names.sort_unstable();
            names.dedup();
            Err(Diagnostic::general(format!("nothing is called `{name}`"))
                .with_help(format!("parameters and device variables are {}", names.join(", "))))
        }
    }
}

/// The script's host, with the device it talks to.
struct Host<'a> {
    session: Session<'a>,
    script: &'a Script,
    kernels: &'a HashMap<String, Compiled>,
}

impl Host<'_> {
    /// Device variables and arrays, with their first contents.
    fn prepare(&mut self, program: &Program) -> Result<(), Diagnostic> {
        let memory = || Diagnostic::general("the arrays exceed the memory budget");
        for g in program.globals() {
            if !self.session.add_global(g) {
                return Err(memory());
            }
        }
        for (name, value) in &self.script.values {
            match (value, self.session.find(name)) {
                (Value::Array(init), None) => {
                    if !self.session.add_array(name, init) {
                        return Err(memory());
                    }
                }
                (Value::Array(init), Some(index)) => {
                    let (ty, _) = self.session.type_of(index);
                    check_type(name, ty, init.ty())?;
                    self.session.write(index, &init.values().to_bytes());
                }
                (Value::Number(number), Some(index)) => self.fill(index, *number),
                (Value::Number(_), None) => {}
            }
        }
        Ok(())
    }

    fn fill(&mut self, index: usize, number: Number) {
        let (ty, _) = self.session.type_of(index);
        let one = number_bytes(ty, bits(number, ty));
        let n = self.session.element_count(index) as usize;
        self.session.write(index, &one.repeat(n));
    }

    fn array(&self, name: &str) -> Result<usize, Diagnostic> {
        self.session
            .find(name)
            .ok_or_else(|| Diagnostic::general(format!("there is no array `{name}`")))
    }

    fn step(&mut self, step: &Step) -> Result<(), Diagnostic> {
        match step {
            Step::Fill { name, value } => {
                let index = self.array(name)?;
                self.fill(index, *value);
            }
            Step::Copy { from, to } => {
                let (from_index, to_index) = (self.array(from)?, self.array(to)?);
                let (a, b) = (self.session.type_of(from_index), self.session.type_of(to_index));
                check_type(to, b.0, a.0)?;
                self.session.copy(from_index, to_index);
            }
            Step::Launch(launch) => self.launch(launch)?,
        }
        Ok(())
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Diagnostic> {
        let only = self.kernels.values().next();
        let kernel = match &launch.kernel {
            Some(name) => self.kernels.get(name),
            None => only.filter(|_| self.kernels.len() == 1),
        };
        let kernel = kernel.or_else(|| {
            self.kernels.values().find(|k| launch.kernel.is_none() && !k.name.is_empty())
        });
        let Some(kernel) = kernel else {
            return Err(Diagnostic::general("a launch names no kernel"));
        };
        let unknown =
            launch.args.iter().find(|(name, _)| !kernel.params.iter().any(|p| p.name == *name));
        if let Some((name, _)) = unknown {
            return Err(Diagnostic::general(format!(
                "kernel `{}` has no parameter `{name}`",
                kernel.name
            )));
        }
        let mut registers = Vec::new();
        for p in &kernel.params {
            self.parameter(kernel, p, launch, &mut registers)?;
            // Elements of an array that a pointer to structs takes are structs.
            if let (ParamType::Pointer(None, size), Some(&(_, address))) = (&p.ty, registers.last())
            {
                self.session.count_elements(address, *size);
            }
        }
        self.session.launch(kernel, launch, &registers);
        Ok(())
    }

    /// The registers of a parameter.
    fn parameter(
        &self,
        kernel: &Compiled,
        p: &Param,
        launch: &Launch,
        registers: &mut Vec<(u16, u64)>,
    ) -> Result<(), Diagnostic> {
        let own = launch.args.iter().rev().find(|(name, _)| *name == p.name);
        if let Some((_, arg)) = own.filter(|(_, arg)| *arg != Arg::Default) {
            let value = self.argument(p, arg)?;
            registers.push((p.register, value));
            return Ok(());
        }
        let value = self.script.values.iter().rev().find(|(name, _)| *name == p.name);
        let Some((_, value)) = value.filter(|_| own.is_none()) else {
            return without_value(kernel, p, registers);
        };
        match (value, &p.ty) {
            (Value::Number(n), ParamType::Scalar(ty)) => {
                check_number(&p.name, *n, *ty)?;
                registers.push((p.register, bits(*n, *ty)));
            }
            (Value::Number(n), ParamType::Pointer(..)) if is_null(*n) => {
                registers.push((p.register, 0));
            }
            (Value::Array(_), ParamType::Pointer(..)) => {
                let arg = Arg::Array { name: p.name.clone(), offset: 0 };
                registers.push((p.register, self.argument(p, &arg)?));
            }
            (Value::Array(init), ParamType::Struct(leaves)) if init.len() == leaves.len() => {
                let values = init.values();
                for (i, (ty, n)) in leaves.iter().zip(values.iter()).enumerate() {
                    registers.push((p.register + i as u16, bits(n, *ty)));
                }
            }
            (Value::Array(init), ParamType::Scalar(ty)) if init.len() == 1 => {
                if let Some(n) = init.values().get(0) {
                    registers.push((p.register, bits(n, *ty)));
                }
            }
            (_, ty) => return Err(wrong_kind(&p.name, ty)),
        }
        Ok(())
    }

    fn argument(&self, p: &Param, arg: &Arg) -> Result<u64, Diagnostic> {
        match (arg, &p.ty) {
            (Arg::Number(n), ParamType::Scalar(ty)) => {
                check_number(&p.name, *n, *ty)?;
                Ok(bits(*n, *ty))
            }
            (Arg::Null, ParamType::Pointer(..)) => Ok(0),
            (Arg::Number(n), ParamType::Pointer(..)) if is_null(*n) => Ok(0),
            (Arg::Array { name, offset }, ParamType::Pointer(element, _)) => {
                let index = self.array(name)?;
                let (ty, _) = self.session.type_of(index);
                if let Some(element) = element {
                    check_type(name, *element, ty)?;
                }
                let bytes = offset.saturating_mul(ty.size() as u64).min(1 << 38);
                Ok(pack(index as u32 + 1, bytes as i64))
            }
            (_, ty) => Err(wrong_kind(&p.name, ty)),
        }
    }

    fn contents(&self, program: &Program) -> BTreeMap<String, Values> {
        let globals = program.globals().iter().map(|g| g.name.as_str());
        let arrays = self.script.values.iter().map(|(name, _)| name.as_str());
        let mut out = BTreeMap::new();
        for name in globals.chain(arrays) {
            let Some(index) = self.session.find(name) else { continue };
            if self.session.type_of(index).1 {
                out.insert(name.to_owned(), self.session.values(index));
            }
        }
        out
    }
}

/// The registers of a parameter that the host gives no value.
fn without_value(
    kernel: &Compiled,
    p: &Param,
    registers: &mut Vec<(u16, u64)>,
) -> Result<(), Diagnostic> {
    let error = |what| {
        let message = format!("parameter `{}` of kernel `{}` has {what}", p.name, kernel.name);
        Err(Diagnostic::general(message))
    };
    match (&p.ty, p.default) {
        // A functor without members, say.
        (ParamType::Struct(leaves), _) if leaves.is_empty() => Ok(()),
        (_, DefaultArgument::Constant(bits)) => {
            registers.push((p.register, bits));
            Ok(())
        }
        (_, DefaultArgument::Computed) => {
            error("a default argument that is no constant: give it a value")
        }
        (_, DefaultArgument::None) => error("no value"),
    }
}

fn wrong_kind(name: &str, ty: &ParamType) -> Diagnostic {
    let wanted = match ty {
        ParamType::Scalar(ty) => format!("a number ({})", ty.c_name()),
        ParamType::Pointer(Some(ty), _) => format!("an array of {}", ty.c_name()),
        ParamType::Pointer(None, _) => "an array".to_owned(),
        ParamType::Struct(leaves) => format!("an array of its {} members", leaves.len()),
    };
    Diagnostic::general(format!("parameter `{name}` takes {wanted}"))
}

/// Whether a number is also a null pointer: 0 is, 0.0 and `false` are not.
fn is_null(n: Number) -> bool {
    matches!(n, Number::Int(0) | Number::UInt(0))
}

/// A number for an integer must be one, and have as many bits, signed or not.
fn check_number(name: &str, n: Number, ty: ScalarType) -> Result<(), Diagnostic> {
    if matches!(ty, ScalarType::F32 | ScalarType::F64 | ScalarType::Bool) {
        return Ok(());
    }
    let bits = 8 * ty.size() as i32;
    let fits = match n {
        Number::Bool(_) => true,
        Number::Int(x) => bits == 64 || (-(1 << (bits - 1))..1 << bits).contains(&x),
        Number::UInt(x) => bits == 64 || x < 1 << bits,
        Number::Single(_) | Number::Double(_) => {
            let (x, end) = (n.to_f64(), 2f64.powi(bits));
            x.trunc() == x && (-end / 2.0..end).contains(&x)
        }
    };
    if fits {
        return Ok(());
    }
    let ty = ty.c_name();
    Err(Diagnostic::general(format!("parameter `{name}` is of type {ty}, which {n} is not")))
}

/// Arrays must have the type that the kernel expects; integers of one size
/// pass for each other.
fn check_type(name: &str, wanted: ScalarType, given: ScalarType) -> Result<(), Diagnostic> {
    let float = |t: ScalarType| matches!(t, ScalarType::F32 | ScalarType::F64);
    let same = wanted == given || wanted.size() == given.size() && !float(wanted) && !float(given);
    if same {
        return Ok(());
    }
    Err(Diagnostic::general(format!(
        "`{name}` is an array of {}, the kernel takes one of {}",
        given.c_name(),
        wanted.c_name()
    )))
}

/// A number as a register holds it, converted to a type.
fn bits(n: Number, ty: ScalarType) -> u64 {
    match ty {
        ScalarType::F32 => of_f32(n.to_f32()),
        ScalarType::F64 => of_f64(n.to_f64()),
        ScalarType::Bool => u64::from(n.to_f64() != 0.0),
        _ => canonical(ty, n.to_bits()),
    }
}

//! What to run: a lesson at a length, or a CUDA file with a launch by hand.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use kogge_lab::catalogue::{
    HostProgram, Lesson, Mutant, NotationError, OPERATORS, Operator, lesson, lessons, opening_key,
};
use kogge_lab::{
    Arg, Diagnostic, Launch, Options, Order, Program, Report, ScalarType, Schedule, Script, Step,
    Value, Values, explore_each, value,
};

use super::check::Claim;
use super::{npy, trial};
use crate::error::reason;

/// The most elements that a lesson is run on.
const LONGEST: usize = 1 << 24;
/// The most bytes of a source.
const LARGEST: u64 = 1 << 24;

/// What to run, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct SubjectArgs {
    /// A lesson (see `kogge lab list`) or a CUDA C file
    #[arg(value_name = "LESSON|FILE.cu")]
    subject: String,
    /// The kernel to launch, where the file has several
    #[arg(long, value_name = "NAME", help_heading = "Launch")]
    kernel: Option<String>,
    /// Blocks, as 4 or 4,2,1
    #[arg(long, value_name = "G", help_heading = "Launch")]
    grid: Option<String>,
    /// Threads of a block, as 256 or 16,16 [default: as many as the longest array, up to 1024]
    #[arg(long, value_name = "B", help_heading = "Launch")]
    block: Option<String>,
    /// Dynamic shared memory of a block
    #[arg(long, value_name = "BYTES", help_heading = "Launch")]
    shared: Option<u32>,
    /// What the host does, where that is more than one launch: 'tiles<<<4, 64>>>(x, y, t, N);
    /// add<<<4, 64>>>(y, t, N);' with arguments by position, `cooperative` before a launch, and all
    /// else that a lesson's header may have [default: what stands below `// host:` in the file's
    /// opening comment]
    #[arg(long, value_name = "TEXT", help_heading = "Launch", conflicts_with_all = ["kernel", "grid", "block", "shared"])]
    host: Option<String>,
    /// Define a macro before the first line
    #[arg(short = 'D', long, value_name = "K=V", help_heading = "Launch")]
    define: Vec<String>,
    /// Set a kernel argument or a device variable: a number, nullptr, TYPE[N], TYPE:iota(N),
    /// TYPE:ones(N), TYPE:random(N,SEED), TYPE:1,2,3 or TYPE:@FILE.npy
    #[arg(short, long, value_name = "NAME=VALUE", help_heading = "Launch")]
    arg: Vec<String>,
    /// Blocks that are resident at once
    #[arg(long, value_name = "R", help_heading = "Schedule")]
    resident: Option<u32>,
    /// The order in which blocks start and threads run: forward, reverse or random
    #[arg(long, value_name = "ORDER", default_value = "forward", help_heading = "Schedule")]
    order: String,
    /// How many schedules to try; the result of each is checked
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Schedule", value_parser = clap::value_parser!(u32).range(1..))]
    schedules: u32,
    /// What random schedules are drawn from
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "Schedule")]
    seed: u64,
    /// Require a fence after reading a flag too, as the memory model of PTX does
    #[arg(long, help_heading = "Schedule")]
    strict_fences: bool,
    /// The length of the array that a lesson scans [default: that of x, or 16]; refused where it is
    /// launched by hand
    #[arg(short, long, value_name = "N", help_heading = "Lesson")]
    n: Option<usize>,
    /// The type of a lesson's elements [default: that of x, or float]
    #[arg(long, value_name = "TYPE", help_heading = "Lesson")]
    element: Option<String>,
    /// A lesson's operator: sum, product, min, max, and, or, xor, or affine, under which an
    /// unsigned or unsigned long long is a map a x + b, a in its upper and b in its lower half
    /// [default: sum]
    #[arg(long, value_name = "OP", help_heading = "Lesson")]
    operator: Option<String>,
    /// Run a lesson with one of its faults
    #[arg(long, value_name = "NAME", help_heading = "Lesson")]
    mutant: Option<String>,
}

/// Something ready to run.
pub struct Subject {
    /// What drawings and tables call it.
    pub title: String,
    /// Its source.
    pub source: String,
    pub program: Program,
    pub script: Script,
    pub options: Options,
    /// What its result should be.
    pub claim: Claim,
    /// What shows the fault of a mutant, or a lesson's own hazard.
    pub elsewhere: Option<String>,
    schedules: u32,
    seed: u64,
}

/// A lesson as it is to be run.
struct Chosen {
    /// The lesson, with the fault if one was asked for.
    lesson: Lesson,
    mutant: Option<Mutant>,
}

impl Subject {
    /// Runs it, under as many schedules as were asked for.
    pub fn run(&self) -> Result<Report, Diagnostic> {
        self.run_each(|_| {})
    }

    /// The same, with a look at the report of each schedule.
    pub fn run_each(&self, each: impl FnMut(&Report)) -> Result<Report, Diagnostic> {
        let Self { program, script, options, schedules, seed, .. } = self;
        explore_each(program, script, options, *schedules, *seed, each)
    }

    /// The contents that an array starts with.
    pub fn initial(&self, name: &str) -> Option<Values> {
        self.script.values.iter().rev().find(|(known, _)| known == name).and_then(|(_, value)| {
            match value {
                Value::Array(array) => Some(array.values()),
                Value::Number(_) => None,
            }
        })
    }
}

impl SubjectArgs {
    /// Reads what the arguments name.
    ///
    /// # Errors
    ///
    /// An unknown lesson, a file that can't be read or parsed, an argument that means nothing.
    pub fn prepare(&self) -> Result<Subject, Diagnostic> {
        let mut subject = match self.chosen()? {
            Some(chosen) if !self.by_hand() => self.prepare_lesson(&chosen)?,
            chosen => self.prepare_by_hand(chosen.as_ref())?,
        };
        let order = Order::from_name(&self.order).ok_or_else(|| {
            Diagnostic::general(format!(
                "--order: `{}` is none of forward, reverse, random",
                self.order
            ))
        })?;
        let options = &mut subject.options;
        if let Some(resident) = self.resident {
            if resident == 0 {
                return Err(Diagnostic::general("--resident: at least one block must fit"));
            }
            options.resident_blocks = resident;
        }
        *options = options.under(Schedule { order, seed: self.seed });
        options.acquire_needs_fence = self.strict_fences;
        Ok(subject)
    }

    /// The lesson that is named: one of the catalogue, or a file that has a lesson's header.
    fn chosen(&self) -> Result<Option<Chosen>, Diagnostic> {
        let path = Path::new(&self.subject);
        let found = match lesson(&self.subject) {
            Some(lesson) => Some(lesson.clone()),
            None if path.exists() => self.lesson_in(path)?,
            None => None,
        };
        let Some(lesson) = found else { return Ok(None) };
        let Some(name) = &self.mutant else { return Ok(Some(Chosen { lesson, mutant: None })) };
        let mutant = mutant(&lesson, name)?;
        Ok(Some(Chosen { lesson: mutated(&lesson, mutant)?, mutant: Some(mutant.clone()) }))
    }

    /// The lesson in a file. A header that can't be read is passed over where nothing needs it.
    fn lesson_in(&self, path: &Path) -> Result<Option<Lesson>, Diagnostic> {
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
        match lesson_of(&stem, &read(path)?) {
            Err(_) if self.by_hand() && self.lesson_options().is_empty() => Ok(None),
            found => found.map_err(|error| {
                Diagnostic::general(format!("{}:{error}", path.display()).replace(":line ", ":"))
            }),
        }
    }

    /// Whether the command line says what is launched.
    fn by_hand(&self) -> bool {
        self.one_by_hand() || self.host.is_some()
    }

    fn one_by_hand(&self) -> bool {
        self.kernel.is_some() || self.grid.is_some() || self.block.is_some()
    }

    /// The options given that only a lesson can heed.
    fn lesson_options(&self) -> Vec<&'static str> {
        let given = [
            ("--mutant", self.mutant.is_some()),
            ("--operator", self.operator.is_some()),
            ("--element", self.element.is_some()),
            ("--n", self.n.is_some()),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }

    fn prepare_lesson(&self, chosen: &Chosen) -> Result<Subject, Diagnostic> {
        let lesson = &chosen.lesson;
        let defines = self.defines()?;
        let mut given = self.values()?;
        let input = given.iter().position(|(name, _)| name == "x").map(|at| given.remove(at).1);
        let (operator, input) = self.input(input, &defines)?;
        let setup = lesson.setup(input, &operator, &defines)?;
        let claim = Claim::of_lesson(lesson, &operator, &setup.script, &given, &defines);
        let mut script = setup.script;
        for (name, value) in given {
            replace(&mut script, &name, value)?;
        }
        if let Some(shared) = self.shared {
            launches(&mut script).for_each(|launch| launch.shared_bytes = shared);
        }
        Ok(Subject {
            title: lesson.header.title.clone(),
            source: lesson.text.clone(),
            program: setup.program,
            script,
            options: setup.options,
            claim,
            elsewhere: trial::elsewhere(lesson, chosen.mutant.as_ref()),
            schedules: self.schedules,
            seed: self.seed,
        })
    }

    fn operator(&self, element: ScalarType) -> Result<Operator, Diagnostic> {
        let name = self.operator.as_deref().unwrap_or("sum");
        Operator::named(name, element).ok_or_else(|| {
            let message = format!("--operator: there is no `{name}` on {}", element.c_name());
            Diagnostic::general(message).with_help(match name {
                "affine" => "it takes --element unsigned or 'unsigned long long'".to_owned(),
                name if OPERATORS.contains(&name) => "it takes integers: --element int".to_owned(),
                _ => format!("operators are {}", OPERATORS.join(", ")),
            })
        })
    }

    /// The type of a lesson's elements: as the options say, or as `x` is, or float.
    fn element(
        &self,
        x: Option<ScalarType>,
        defines: &[(String, String)],
    ) -> Result<ScalarType, Diagnostic> {
        let by_macro = defines.iter().rev().find(|(name, _)| name == "ELEMENT");
        let by_macro = by_macro.and_then(|(_, ty)| ScalarType::from_name(ty));
        let Some(name) = &self.element else {
            return Ok(by_macro.or(x).unwrap_or(ScalarType::F32));
        };
        let element = ScalarType::from_name(name).ok_or_else(|| {
            Diagnostic::general(format!("--element: `{name}` is no scalar type of C"))
        })?;
        match by_macro.or(x).filter(|&other| other != element) {
            None => Ok(element),
            Some(other) => Err(Diagnostic::general(format!(
                "--element: {} is not the type given for x or ELEMENT, {}",
                element.c_name(),
                other.c_name()
            ))),
        }
    }

    /// The operator of a lesson, and the elements that it scans: those given for `x`, or its own.
    fn input(
        &self,
        given: Option<Value>,
        defines: &[(String, String)],
    ) -> Result<(Operator, Values), Diagnostic> {
        let x = match given {
            Some(Value::Array(array)) => Some(array.values()),
            Some(Value::Number(_)) => {
                return Err(Diagnostic::general("--arg x: a lesson scans an array"));
            }
            None => None,
        };
        let operator = self.operator(self.element(x.as_ref().map(Values::ty), defines)?)?;
        let elements = match (x, self.n) {
            (Some(x), Some(n)) if x.len() != n => {
                let message = format!("--n: x has {} elements, not {n}", x.len());
                return Err(Diagnostic::general(message));
            }
            (Some(x), _) => x,
            (None, n @ (None | Some(1..=LONGEST))) => operator.elements(n.unwrap_or(16)),
            (None, Some(_)) => {
                return Err(Diagnostic::general(format!("--n: expected 1 to {LONGEST}")));
            }
        };
        Ok((operator, elements))
    }

    /// A lesson or any other file, launched as the command line or the opening comment says.
    fn prepare_by_hand(&self, chosen: Option<&Chosen>) -> Result<Subject, Diagnostic> {
        let values = self.values()?;
        let (source, defines) = match chosen {
            Some(chosen) => (chosen.lesson.text.clone(), self.macros_by_hand(&values)?),
            None => (self.source_of_no_lesson()?, self.defines()?),
        };
        let program = Program::parse(&source, &self.subject, &defines)?;
        let script = match self.host(&source)? {
            Some(host) => host.script(&source, &program, values, &defines)?,
            None => self.one_launch(&program, values)?,
        };
        let file = || Path::new(&self.subject).file_name().unwrap_or_default().to_string_lossy();
        let mutant = chosen.and_then(|chosen| chosen.mutant.as_ref());
        Ok(Subject {
            title: mutant.map_or_else(
                || file().into_owned(),
                |mutant| format!("{}, {}", file(), mutant.name.replace('-', " ")),
            ),
            source,
            program,
            script,
            options: Options::default(),
            claim: Claim::of_launch(chosen.is_some()),
            elsewhere: mutant.and_then(|mutant| trial::elsewhere(&chosen?.lesson, Some(mutant))),
            schedules: self.schedules,
            seed: self.seed,
        })
    }

    /// The macros that give a lesson launched by hand its operator, and those of the command line.
    fn macros_by_hand(
        &self,
        values: &[(String, Value)],
    ) -> Result<Vec<(String, String)>, Diagnostic> {
        if self.n.is_some() {
            let message =
                "--n: a lesson that is launched by hand scans the arrays that --arg gives";
            return Err(Diagnostic::general(message)
                .with_help("leave --n out, or the launch: the lesson has its own"));
        }
        let x = values.iter().rev().find_map(|(name, value)| match value {
            Value::Array(array) if name == "x" => Some(array.ty()),
            _ => None,
        });
        let defines = self.defines()?;
        let operator = self.operator(self.element(x, &defines)?)?;
        Ok(operator.defines().into_iter().chain(defines).collect())
    }

    /// The text of a file that is no lesson, which has nothing of what lessons can be asked for.
    fn source_of_no_lesson(&self) -> Result<String, Diagnostic> {
        let source = read_subject(&self.subject)?;
        let options = self.lesson_options();
        if options.is_empty() {
            return Ok(source);
        }
        let message = format!("{}: {} is no lesson", options.join(", "), self.subject);
        Err(Diagnostic::general(message).with_help(
            "arrays and their lengths are given by --arg, macros by --define; a file whose opening \
             comment has `scan:`, `sizes:` and `host:` is a lesson",
        ))
    }

    /// The host program that the command line gives, or the file's opening comment.
    fn host(&self, source: &str) -> Result<Option<HostProgram>, Diagnostic> {
        let (text, line) = match &self.host {
            Some(text) => (text.clone(), 1),
            None if self.one_by_hand() => return Ok(None),
            None => match opening_key(source, "host") {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let of = if self.host.is_some() { "--host" } else { &self.subject };
        HostProgram::parse(&text, line)
            .map(Some)
            .map_err(|error| Diagnostic::general(format!("{of}: {error}")))
    }

    /// The one launch that the options describe, cooperative if the kernel has a barrier of the
    /// grid.
    fn one_launch(
        &self,
        program: &Program,
        values: Vec<(String, Value)>,
    ) -> Result<Script, Diagnostic> {
        let longest = values.iter().filter_map(|(_, value)| length(value)).max().unwrap_or(1);
        let threads = u32::try_from(longest).unwrap_or(u32::MAX).clamp(1, 1024);
        let kernel = self.kernel(program)?;
        let only = program.kernels().first().map_or("", |kernel| &kernel.name);
        let cooperative = program.has_grid_barrier(kernel.as_deref().unwrap_or(only))?;
        let launch = Launch {
            kernel,
            grid: self.grid.as_deref().map_or(Ok([1; 3]), |text| extent("--grid", text))?,
            block: self
                .block
                .as_deref()
                .map_or(Ok([threads, 1, 1]), |text| extent("--block", text))?,
            shared_bytes: self.shared.unwrap_or(0),
            cooperative,
            args: Vec::new(),
        };
        Ok(Script { values, steps: vec![Step::Launch(launch)] })
    }

    fn kernel(&self, program: &Program) -> Result<Option<String>, Diagnostic> {
        if self.kernel.is_some() || program.kernels().len() == 1 {
            return Ok(self.kernel.clone());
        }
        let names: Vec<_> =
            program.kernels().iter().map(|kernel| kernel.full_name.as_str()).collect();
        let message = format!("{} has {} kernels", self.subject, names.len());
        Err(Diagnostic::general(message).with_help(format!(
            "name one with --kernel, or launch several with --host: {}",
            names.join(", ")
        )))
    }

    fn values(&self) -> Result<Vec<(String, Value)>, Diagnostic> {
        let parse = |text: &String| {
            let (name, text) = split("--arg", text)?;
            let value = value::parse(text, &mut npy::load);
            let value =
                value.map_err(|error| Diagnostic::general(format!("--arg {name}: {error}")))?;
            Ok((name.to_owned(), value))
        };
        let values: Vec<_> = self.arg.iter().map(parse).collect::<Result<_, Diagnostic>>()?;
        let mut names = HashSet::new();
        match values.iter().find(|(name, _)| !names.insert(name)) {
            Some((name, _)) => Err(Diagnostic::general(format!("--arg {name} is given twice"))),
            None => Ok(values),
        }
    }

    /// `K=V`, and `K` alone for 1, as compilers have it.
    fn defines(&self) -> Result<Vec<(String, String)>, Diagnostic> {
        let parse = |text: &String| match text.split_once('=') {
            Some(("", _)) => {
                Err(Diagnostic::general(format!("--define {text}: a macro needs a name")))
            }
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Ok((text.clone(), "1".to_owned())),
        };
        self.define.iter().map(parse).collect()
    }
}

/// A file as a lesson, if its opening comment says which scan it is, and how it is launched.
fn lesson_of(name: &str, text: &str) -> Result<Option<Lesson>, NotationError> {
    let has = |key| opening_key(text, key).is_some();
    if has("scan") && has("host") { Lesson::parse(name, text, "").map(Some) } else { Ok(None) }
}

/// The lesson's mutant of this name.
pub fn mutant<'a>(lesson: &'a Lesson, name: &str) -> Result<&'a Mutant, Diagnostic> {
    lesson.mutants.iter().find(|mutant| mutant.name == name).ok_or_else(|| {
        let names: Vec<_> = lesson.mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Diagnostic::general(format!("{} has no mutant `{name}`", lesson.name))
            .with_help(format!("it has {has}"))
    })
}

/// The lesson with one of its faults.
pub fn mutated(lesson: &Lesson, mutant: &Mutant) -> Result<Lesson, Diagnostic> {
    let broken = mutant.apply(&lesson.text).and_then(|text| Lesson::parse(&lesson.name, &text, ""));
    let mut broken = broken.map_err(|error| Diagnostic::at(error.line, 1, error.message))?;
    broken.header.title = format!("{}, {}", broken.header.title, mutant.name.replace('-', " "));
    Ok(broken)
}

/// Puts a value in the place of a script's value or of a launch's argument.
fn replace(script: &mut Script, name: &str, value: Value) -> Result<(), Diagnostic> {
    if let Some((_, old)) = script.values.iter_mut().find(|(known, _)| known == name) {
        *old = value;
        return Ok(());
    }
    let mut found = false;
    if let Value::Number(number) = value {
        for launch in launches(script) {
            for (_, arg) in launch.args.iter_mut().filter(|(known, _)| known == name) {
                *arg = Arg::Number(number);
                found = true;
            }
        }
    }
    if !found {
        script.values.push((name.to_owned(), value));
    }
    Ok(())
}

fn launches(script: &mut Script) -> impl Iterator<Item = &mut Launch> {
    script.steps.iter_mut().filter_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        _ => None,
    })
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Array(array) => Some(array.len()),
        Value::Number(_) => None,
    }
}

/// `4`, `4,2` or `4x2x1`.
fn extent(option: &str, text: &str) -> Result<[u32; 3], Diagnostic> {
    let bad = || Diagnostic::general(format!("{option}: `{text}` is no extent such as 4 or 4,2,1"));
    let mut extent = [1; 3];
    let mut parts = text.split([',', 'x']);
    for side in &mut extent {
        let Some(part) = parts.next() else { break };
        *side = part.trim().parse().ok().filter(|&count| count > 0).ok_or_else(bad)?;
    }
    if parts.next().is_some() { Err(bad()) } else { Ok(extent) }
}

fn split<'a>(option: &str, text: &'a str) -> Result<(&'a str, &'a str), Diagnostic> {
    text.split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Diagnostic::general(format!("{option} {text}: expected NAME=VALUE")))
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(
        |error| Diagnostic::general(format!("cannot read {}: {}", path.display(), reason(&error))),
    )?;
    if bytes.len() as u64 > LARGEST {
        let message =
            format!("{} is no CUDA file: it has more than {LARGEST} bytes", path.display());
        return Err(Diagnostic::general(message));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the file that the command line names; a name that is no file may have been meant as a
/// lesson.
fn read_subject(name: &str) -> Result<String, Diagnostic> {
    let path = Path::new(name);
    if path.exists() || name.contains(['.', '/']) {
        return read(path);
    }
    let error = Diagnostic::general(format!("`{name}` is neither a lesson nor a file"));
    let names = lessons().iter().map(|lesson| lesson.name.as_str());
    Err(match crate::error::nearest(&name.replace('-', "_"), names) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help("`kogge lab list` lists the lessons"),
    })
}

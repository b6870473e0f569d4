//! What to run: a lesson at a length, or a CUDA file with a launch by hand.

use std::path::Path;

use kogge_lab::catalogue::{
    HostProgram, Lesson, NotationError, OPERATORS, Operator, lesson, lessons, opening_key,
};
use kogge_lab::{
    Arg, Diagnostic, Launch, Number, Options, Order, Program, Report, ScalarType, Schedule, Script,
    Step, Value, Values, explore, run, value,
};

use super::npy;

/// The most elements that a lesson is run on.
const LONGEST: usize = 1 << 24;

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
    /// Set a kernel argument or a device variable: a number, TYPE[N], TYPE:iota(N), TYPE:ones(N),
    /// TYPE:random(N,SEED), TYPE:1,2,3 or TYPE:@FILE.npy
    #[arg(short, long, value_name = "NAME=VALUE", help_heading = "Launch")]
    arg: Vec<String>,
    /// Blocks that are resident at once
    #[arg(long, value_name = "R", help_heading = "Schedule")]
    resident: Option<u32>,
    /// The order in which blocks start and threads run: forward, reverse or random
    #[arg(long, value_name = "ORDER", default_value = "forward", help_heading = "Schedule")]
    order: String,
    /// How many schedules to try
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Schedule")]
    schedules: u32,
    /// What random schedules are drawn from
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "Schedule")]
    seed: u64,
    /// Require a fence after reading a flag too, as the memory model of PTX does
    #[arg(long, help_heading = "Schedule")]
    strict_fences: bool,
    /// The length of the array that a lesson scans [default: that of x, or 16]
    #[arg(short, long, value_name = "N", help_heading = "Lesson")]
    n: Option<usize>,
    /// The type of a lesson's elements [default: that of x, or float]
    #[arg(long, value_name = "TYPE", help_heading = "Lesson")]
    element: Option<String>,
    /// A lesson's operator: sum, product, min, max, and, or, xor, affine
    #[arg(long, value_name = "OP", default_value = "sum", help_heading = "Lesson")]
    operator: String,
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
    schedules: u32,
    seed: u64,
}

impl Subject {
    /// Runs it, under as many schedules as were asked for.
    pub fn run(&self) -> Result<Report, Diagnostic> {
        if self.schedules > 1 {
            explore(&self.program, &self.script, &self.options, self.schedules, self.seed)
        } else {
            run(&self.program, &self.script, &self.options)
        }
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
        let mut subject = match self.lesson()? {
            Some(lesson) => self.prepare_lesson(&lesson)?,
            None => self.prepare_file()?,
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
        options.block_order = order;
        options.schedule = Schedule { order, seed: self.seed };
        options.acquire_needs_fence = self.strict_fences;
        Ok(subject)
    }

    /// The lesson that is named: one of the catalogue, or a file that has a lesson's header, unless it
    /// is launched by hand.
    fn lesson(&self) -> Result<Option<Lesson>, Diagnostic> {
        let path = Path::new(&self.subject);
        let by_hand = self.by_hand() || self.host.is_some();
        let found = lesson(&self.subject).cloned();
        let lesson = match found {
            Some(lesson) if !by_hand => Some(lesson),
            Some(_) => return Ok(None),
            None if path.exists() && !by_hand => {
                let name = path
                    .file_stem()
                    .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
                lesson_of(&name, &read(path)?).map_err(|error| {
                    Diagnostic::general(
                        format!("{}:{error}", path.display()).replace(":line ", ":"),
                    )
                })?
            }
            None => None,
        };
        match (lesson, &self.mutant) {
            (Some(lesson), Some(mutant)) => mutated(&lesson, mutant).map(Some),
            (lesson, _) => Ok(lesson),
        }
    }

    fn by_hand(&self) -> bool {
        self.kernel.is_some() || self.grid.is_some() || self.block.is_some()
    }

    fn prepare_lesson(&self, lesson: &Lesson) -> Result<Subject, Diagnostic> {
        let mut given = self.values()?;
        let input = given.iter().position(|(name, _)| name == "x").map(|at| given.remove(at).1);
        let input = self.input(input)?;
        let operator = Operator::named(&self.operator, input.ty()).ok_or_else(|| {
            let message =
                format!("--operator: there is no `{}` on {}", self.operator, input.ty().c_name());
            Diagnostic::general(message)
                .with_help(format!("operators are {}", OPERATORS.join(", ")))
        })?;
        let setup = lesson.setup(input, &operator, &self.defines()?)?;
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
            schedules: self.schedules,
            seed: self.seed,
        })
    }

    /// The elements that a lesson scans: those given for `x`, or 0, 1, 2, …
    fn input(&self, given: Option<Value>) -> Result<Values, Diagnostic> {
        match given {
            Some(Value::Array(array)) => Ok(array.values()),
            Some(Value::Number(_)) => Err(Diagnostic::general("--arg x: a lesson scans an array")),
            None => {
                let name = self.element.as_deref().unwrap_or("float");
                let element = ScalarType::from_name(name).ok_or_else(|| {
                    Diagnostic::general(format!("--element: `{name}` is no scalar type of C"))
                })?;
                let n = self.n.unwrap_or(16);
                if n == 0 || n > LONGEST {
                    return Err(Diagnostic::general(format!("--n: expected 1 to {LONGEST}")));
                }
                Ok(Values::from_numbers(element, n, |i| Number::UInt(i as u64)))
            }
        }
    }

    fn prepare_file(&self) -> Result<Subject, Diagnostic> {
        let source = match lesson(&self.subject) {
            Some(lesson) => lesson.text.clone(),
            None => read_subject(&self.subject)?,
        };
        let program = Program::parse(&source, &self.subject, &self.defines()?)?;
        let script = match self.host(&source)? {
            Some(host) => host.script(&source, &program, self.values()?, &self.defines()?)?,
            None => self.one_launch(&program)?,
        };
        let title = Path::new(&self.subject)
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok(Subject {
            title,
            source,
            program,
            script,
            options: Options::default(),
            schedules: self.schedules,
            seed: self.seed,
        })
    }

    /// The host program that the command line gives, or the file's opening comment.
    fn host(&self, source: &str) -> Result<Option<HostProgram>, Diagnostic> {
        let (text, line) = match &self.host {
            Some(text) => (text.clone(), 1),
            None if self.by_hand() => return Ok(None),
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

    /// The one launch that the options describe, cooperative if the kernel has a barrier of the grid.
    fn one_launch(&self, program: &Program) -> Result<Script, Diagnostic> {
        let values = self.values()?;
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
        let names: Vec<_> = program.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
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
        self.arg.iter().map(parse).collect()
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

/// The lesson of the catalogue with one of its faults.
pub fn mutated(lesson: &Lesson, name: &str) -> Result<Lesson, Diagnostic> {
    let mutant = lesson.mutants.iter().find(|mutant| mutant.name == name).ok_or_else(|| {
        let names: Vec<_> = lesson.mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        Diagnostic::general(format!("{} has no mutant `{name}`", lesson.name))
            .with_help(format!("it has {}", names.join(", ")))
    })?;
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
    let bytes = std::fs::read(path)
        .map_err(|error| Diagnostic::general(format!("cannot read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the file that the command line names; a name that is no file may have been meant as a lesson.
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

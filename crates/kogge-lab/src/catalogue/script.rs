//! From a lesson and a length to what the simulated GPU runs.

use std::collections::HashMap;

use crate::{ArrayInit, Diagnostic, Number, Options, Program, ScalarType, Script, Value, Values};

use super::expression::Names;
use super::header::integer_macros;
use super::host::{Plan, Scratch};
use super::{Formula, HostProgram, Lesson, NotationError, Operator};

/// A lesson made ready: the program, the script and the options that suit it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The lesson's text, parsed with the operator's macros.
    pub program: Program,
    /// The arrays `x` (the input), `y` (the output) and scratch, and the launches.
    pub script: Script,
    /// The defaults, with as many resident blocks as a cooperative launch needs.
    pub options: Options,
    /// The host's plan that the script follows.
    pub plan: Plan,
}

/// What the names in a lesson's formulas stand for: N, and the integer macros.
struct Sizes<'a> {
    n: i64,
    constants: &'a HashMap<String, i64>,
}

impl Names for Sizes<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        if name == "N" { Some(self.n) } else { self.constants.get(name).copied() }
    }

    fn size_of(&self, _: &str) -> Option<i64> {
        None
    }
}

impl Lesson {
    /// The integer macros of the lesson, those of `defines` in their place.
    pub fn constants(&self, defines: &[(String, String)]) -> HashMap<String, i64> {
        let mut constants = integer_macros(&self.text);
        constants.extend(macros(defines));
        constants
    }

    /// Makes the lesson ready to scan `input` under an operator of the same element type. `defines`
    /// are further macros, such as `BLOCK`.
    ///
    /// # Errors
    ///
    /// An empty input, a text that the simulated GPU refuses, or a host program that has no meaning
    /// at this length.
    pub fn setup(
        &self,
        input: Values,
        operator: &Operator,
        defines: &[(String, String)],
    ) -> Result<Setup, Diagnostic> {
        if input.is_empty() {
            return Err(Diagnostic::general("a lesson scans at least one element"));
        }
        let macros: Vec<_> =
            operator.defines().into_iter().chain(defines.iter().cloned()).collect();
        let program = Program::parse(&self.text, &format!("{}.cu", self.name), &macros)?;
        let (n, element) = (input.len(), operator.element);
        let plan = self.plan(n as u64, element, defines)?;
        let mut script = Script::new()
            .value("x", Value::Array(ArrayInit::Data(input)))
            .value("y", Value::Array(ArrayInit::Uninitialised(element, n)));
        for scratch in plan.scratch.iter().filter(|scratch| plan.uses(&scratch.name)) {
            script = script.value(&scratch.name, scratch.init(element)?);
        }
        script.steps = plan.steps(&program, &script.values)?;
        let together = plan
            .launches
            .iter()
            .filter(|launch| launch.cooperative)
            .map(|launch| launch.grid)
            .max();
        let defaults = Options::default();
        let options = Options {
            resident_blocks: defaults.resident_blocks.max(together.unwrap_or(0)),
            trace_inputs: vec!["x".to_owned()],
            ..defaults
        };
        Ok(Setup { program, script, options, plan })
    }

    /// What the lesson's host does for `n` elements.
    ///
    /// # Errors
    ///
    /// A host program that has no meaning at this length.
    pub fn plan(
        &self,
        n: u64,
        element: ScalarType,
        defines: &[(String, String)],
    ) -> Result<Plan, Diagnostic> {
        self.header.host.plan(n, element.size() as u64, &self.constants(defines)).map_err(refused)
    }

    /// The values that the header gives for the work and for the steps at length `n`, empty where
    /// it claims none.
    pub fn claims(&self, n: u64, defines: &[(String, String)]) -> (Vec<i64>, Vec<i64>) {
        let constants = self.constants(defines);
        let sizes = Sizes { n: i64::try_from(n).unwrap_or(i64::MAX), constants: &constants };
        let holds = self.header.holds.as_ref().is_none_or(|holds| holds.value(&sizes) == Some(1));
        let values = |formula: &Formula| if holds { formula.values(&sizes) } else { Vec::new() };
        (values(&self.header.work), values(&self.header.steps))
    }
}

fn refused(error: NotationError) -> Diagnostic {
    Diagnostic::at(error.line, 1, error.message)
}

impl Scratch {
    fn init(&self, element: ScalarType) -> Result<ArrayInit, Diagnostic> {
        let unknown =
            || Diagnostic::general(format!("`{}` is no type of a scratch array", self.element));
        let ty = if self.element == "T" {
            element
        } else {
            ScalarType::from_name(&self.element).ok_or_else(unknown)?
        };
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        Ok(if self.zeroed {
            ArrayInit::Zeros(ty, length)
        } else {
            ArrayInit::Uninitialised(ty, length)
        })
    }
}

impl HostProgram {
    /// The script of this host for a source that is no lesson. `values` are its arrays and numbers
    /// by name, N the length of the longest array, `T` the type of that array's elements; names
    /// that neither has are the integer macros of the source or of `defines`.
    ///
    /// # Errors
    ///
    /// A host program that has no meaning on these values, or that launches what is no kernel.
    pub fn script(
        &self,
        source: &str,
        program: &Program,
        values: Vec<(String, Value)>,
        defines: &[(String, String)],
    ) -> Result<Script, Diagnostic> {
        let array = |value: &Value| match value {
            Value::Array(array) => Some((array.len(), array.ty())),
            Value::Number(_) => None,
        };
        let arrays = values.iter().filter_map(|(_, value)| array(value));
        let (n, element) = arrays.max_by_key(|a| a.0).unwrap_or((0, ScalarType::F32));
        let numbers: Vec<(&str, i64)> = values
            .iter()
            .filter_map(|(name, value)| match value {
                Value::Number(Number::Int(number)) => Some((name.as_str(), *number)),
                Value::Number(Number::UInt(number)) => {
                    Some((name.as_str(), i64::try_from(*number).ok()?))
                }
                _ => None,
            })
            .collect();
        let mut constants = integer_macros(source);
        constants.extend(macros(defines));
        // Numbers too may be whole arguments, and need not be integers then.
        let names = values.iter().map(|(name, _)| name.as_str());
        let plan = self
            .plan_on(names, &numbers, n as u64, element.size() as u64, &constants)
            .map_err(refused)?;
        let mut script = Script::new();
        for scratch in plan.scratch.iter().filter(|scratch| plan.uses(&scratch.name)) {
            script = script.value(&scratch.name, scratch.init(element)?);
        }
        script.steps = plan.steps(program, script.values.iter().chain(&values))?;
        // A number that only the host's arithmetic uses is no value of the device.
        let known = |(name, value): &(String, Value)| {
            array(value).is_some() || program.variables().iter().any(|v| v.name == *name)
        };
        script.values.extend(values.into_iter().filter(known));
        Ok(script)
    }
}

fn macros(defines: &[(String, String)]) -> impl Iterator<Item = (String, i64)> {
    defines.iter().filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?)))
}

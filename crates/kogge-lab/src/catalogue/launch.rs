//! From a launch of the host to one of the device: which kernel it means, and which parameter takes
//! which argument.

use std::collections::HashMap;

use crate::program::arguments;
use crate::{
    Arg, Diagnostic, Kernel, Launch as GpuLaunch, Number, Parameter, Program, ScalarType, Step,
    Value,
};

use super::host::{Argument, Launch, Plan};

/// What the names of a host stand for.
struct Given<'a>(HashMap<&'a str, Named>);

#[derive(Clone, Copy)]
enum Named {
    Array(ScalarType),
    Number(Number),
}

impl<'a> Given<'a> {
    /// Of values by name, of which the last of a name counts.
    fn of(values: impl IntoIterator<Item = &'a (String, Value)>) -> Self {
        let named = |(name, value): &'a (String, Value)| match value {
            Value::Array(array) => (name.as_str(), Named::Array(array.ty())),
            Value::Number(number) => (name.as_str(), Named::Number(*number)),
        };
        Self(values.into_iter().map(named).collect())
    }

    /// The argument of a launch that one of the host is.
    fn argument(&self, of: &Argument) -> Arg {
        match of {
            Argument::Null => Arg::Null,
            Argument::Number(number) => Arg::Number(Number::Int(*number)),
            Argument::Array(name) => match self.0.get(name.as_str()) {
                Some(Named::Number(number)) => Arg::Number(*number),
                _ => Arg::Array { name: name.clone(), offset: 0 },
            },
        }
    }

    /// The type of an array's elements.
    fn element(&self, argument: &Argument) -> Option<ScalarType> {
        let Argument::Array(name) = argument else { return None };
        match self.0.get(name.as_str()) {
            Some(Named::Array(ty)) => Some(*ty),
            _ => None,
        }
    }

    /// Whether a parameter may take an argument, as far as is known without the kernel's template
    /// arguments.
    fn fits(&self, parameter: &Parameter, argument: &Argument) -> bool {
        match (self.argument(argument), parameter.pointer, parameter.scalar) {
            (Arg::Array { .. }, true, Some(element)) => self.element(argument) == Some(element),
            (Arg::Array { .. } | Arg::Null, pointer, scalar) => pointer || scalar.is_none(),
            (Arg::Number(number), true, _) => matches!(number, Number::Int(0) | Number::UInt(0)),
            _ => true,
        }
    }
}

impl Plan {
    /// The launches, with what the names of their arguments stand for.
    pub(super) fn steps<'a>(
        &self,
        program: &Program,
        values: impl IntoIterator<Item = &'a (String, Value)>,
    ) -> Result<Vec<Step>, Diagnostic> {
        let given = Given::of(values);
        let launches = self.launches.iter().map(|launch| launch.on(program, &given));
        launches.map(|launch| launch.map(Step::Launch)).collect()
    }
}

impl Launch {
    /// The launch with its arguments under the names of the kernel's parameters.
    fn on(&self, program: &Program, given: &Given) -> Result<GpuLaunch, Diagnostic> {
        let kernel = self.kernel_of(program, given)?;
        let types = &kernel.full_name[kernel.name.len()..];
        let mut name = format!("{}{types}", self.kernel);
        if !kernel.template.is_empty() {
            let arrays: Vec<_> = self.arguments.iter().map(|a| given.element(a)).collect();
            name = program.complete_name(&name, &arrays)?;
        }
        let mut launch = GpuLaunch::new(name, self.grid, self.block);
        launch.shared_bytes = self.shared;
        launch.cooperative = self.cooperative;
        for (i, parameter) in kernel.parameters.iter().enumerate() {
            let value = self.arguments.get(i).map_or(Arg::Default, |a| given.argument(a));
            launch = launch.arg(&parameter.name, value);
        }
        Ok(launch)
    }

    /// The kernel of the name that takes as many arguments; of several, the one whose parameters
    /// have the arguments' types.
    fn kernel_of<'a>(&self, program: &'a Program, given: &Given) -> Result<&'a Kernel, Diagnostic> {
        let bare = self.kernel.split('<').next().unwrap_or_default();
        let named = program.kernels().iter().filter(|kernel| kernel.name == bare);
        let named: Vec<&Kernel> = named.collect();
        if named.is_empty() {
            let message = format!("the host launches `{}`, which is no kernel", self.kernel);
            return Err(Diagnostic::general(message));
        }
        let template = bare.len() < self.kernel.len() && named.len() > 1;
        let takes = |kernel: &&&Kernel| {
            kernel.takes(self.arguments.len()) && !(template && kernel.template.is_empty())
        };
        let counted: Vec<&Kernel> = named.iter().filter(takes).copied().collect();
        let fits = |kernel: &&&Kernel| {
            let mut pairs = kernel.parameters.iter().zip(&self.arguments);
            pairs.all(|(parameter, argument)| given.fits(parameter, argument))
        };
        let fitting: Vec<&Kernel> = counted.iter().filter(fits).copied().collect();
        match (&counted[..], &fitting[..]) {
            ([one], _) | (_, [one]) => Ok(one),
            _ => Err(self.undecided(&named, &counted, &fitting)),
        }
    }

    /// Why none of the kernels of a name is the one that the host launches.
    fn undecided(&self, named: &[&Kernel], counted: &[&Kernel], fitting: &[&Kernel]) -> Diagnostic {
        let (name, given) = (&self.kernel, self.arguments.len());
        let message = match (named, counted, fitting) {
            ([one], ..) => {
                let takes = one.argument_counts();
                return Diagnostic::general(format!(
                    "`{name}` takes {takes}, the host gives {given}"
                ));
            }
            (_, [], _) => format!("no kernel `{name}` takes {}", arguments(given)),
            (_, _, [first, second, ..]) => format!(
                "the launch of `{name}` may mean the kernel of line {} or that of line {}",
                first.line, second.line
            ),
            _ => format!("no kernel `{name}` takes arguments of these types"),
        };
        let names: Vec<&str> = named.iter().map(|kernel| kernel.full_name.as_str()).collect();
        Diagnostic::general(message).with_help(format!("the source has {}", names.join(", ")))
    }
}

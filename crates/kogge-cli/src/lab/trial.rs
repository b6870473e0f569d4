//! Trials as command lines: what shows the fault of a mutant, or the hazard of a lesson.

use kogge_lab::Order;
use kogge_lab::catalogue::{Finds, Lesson, Mutant, Trial};

/// The options of `kogge lab run` that make a run this trial.
pub fn arguments(trial: &Trial) -> Vec<String> {
    let Trial { finds, n, resident, order, operator, ptx } = trial;
    let mut arguments = vec!["--n".to_owned(), n.to_string()];
    let mut option =
        |name: &str, value: &str| arguments.extend([name.to_owned(), value.to_owned()]);
    if let Some(resident) = resident {
        option("--resident", &resident.to_string());
    }
    if *order != Order::Forward {
        option("--order", order.name());
    }
    if operator != "sum" {
        option("--operator", operator);
        option("--element", trial.element().c_name());
    }
    if matches!(finds, Finds::Hazard(_)) {
        option("--schedules", &Trial::SCHEDULES.to_string());
    }
    if *ptx {
        arguments.push("--strict-fences".to_owned());
    }
    arguments
}

/// What a trial finds, and its options as one types them: `race with --n 1024 --strict-fences`.
pub fn describe(trial: &Trial) -> String {
    let quoted = |argument: String| {
        if argument.contains(' ') { format!("'{argument}'") } else { argument }
    };
    let arguments: Vec<_> = arguments(trial).into_iter().map(quoted).collect();
    format!("{} with {}", trial.finds.name(), arguments.join(" "))
}

/// Where a fault shows that a run of the lesson, or of its mutant, has not shown.
pub fn elsewhere(lesson: &Lesson, mutant: Option<&Mutant>) -> Option<String> {
    match (mutant, &lesson.header.hazard) {
        (Some(mutant), _) => Some(format!("{} shows as {}", mutant.name, describe(&mutant.trial))),
        (None, Some(hazard)) => Some(format!("the hazard shows as {}", describe(hazard))),
        (None, None) => None,
    }
}

//! A run that must show a hazard: `race with N = 64`,
//! `deadlock with N = 2048, resident = 2, order = reverse`.

use crate::{FindingKind, Options, Order, ScalarType};

use super::expression::NotationError;

/// What a trial must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// A finding of this kind.
    Hazard(FindingKind),
    /// An output that is not the scan, whether or not the simulated GPU saw a hazard.
    WrongResult,
}

impl Finds {
    /// Its name, as a trial writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hazard(kind) => kind.name(),
            Self::WrongResult => WRONG_RESULT,
        }
    }
}

const WRONG_RESULT: &str = "wrong-result";

/// A run, and what it must find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What is to be found.
    pub finds: Finds,
    /// The length.
    pub n: u64,
    /// How many blocks are resident at once; none for as many as the lesson needs.
    pub resident: Option<u32>,
    /// The order in which blocks start.
    pub order: Order,
    /// The operator, by its name in [`Operator::named`](super::Operator::named).
    pub operator: String,
    /// Whether the reader's fence is needed too, as in the memory model of PTX.
    pub ptx: bool,
}

const KINDS: [FindingKind; 8] = [
    FindingKind::Race,
    FindingKind::OutOfBounds,
    FindingKind::Uninitialised,
    FindingKind::DivergentBarrier,
    FindingKind::InactiveLane,
    FindingKind::Deadlock,
    FindingKind::Livelock,
    FindingKind::Limit,
];

impl Trial {
    /// How many schedules a hazard must be found in.
    pub const SCHEDULES: u32 = 4;

    /// Reads a trial; `line` is where it stands in its file.
    ///
    /// # Errors
    ///
    /// An unknown kind of finding, an unknown setting, or no `N`.
    pub fn parse(text: &str, line: u32) -> Result<Self, NotationError> {
        let error = |message: String| NotationError::new(line, message);
        let (finds, settings) =
            text.split_once(" with ").ok_or_else(|| error("expected `… with N = …`".into()))?;
        let mut trial = Self {
            finds: finds_of(finds.trim())
                .ok_or_else(|| error(format!("`{finds}` is no kind of finding")))?,
            n: 0,
            resident: None,
            order: Order::Forward,
            operator: "sum".to_owned(),
            ptx: false,
        };
        for setting in settings.split(',') {
            let known = setting
                .split_once('=')
                .and_then(|(key, value)| trial.set(key.trim(), value.trim()));
            known.ok_or_else(|| error(format!("`{}` is no setting", setting.trim())))?;
        }
        if trial.n == 0 { Err(error("the trial lacks `N = …`".into())) } else { Ok(trial) }
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "N" => self.n = value.parse().ok()?,
            "resident" => self.resident = Some(value.parse().ok()?),
            "order" => self.order = Order::from_name(value)?,
            "operator" => self.operator = value.to_owned(),
            "model" if value == "ptx" => self.ptx = true,
            _ => return None,
        }
        Some(())
    }

    /// The type of the elements, one that the operator takes.
    pub fn element(&self) -> ScalarType {
        if self.operator == "affine" { ScalarType::U64 } else { ScalarType::I32 }
    }

    /// The options with this trial's settings in place.
    #[must_use]
    pub fn apply(&self, options: Options) -> Options {
        Options {
            resident_blocks: self.resident.unwrap_or(options.resident_blocks),
            block_order: self.order,
            acquire_needs_fence: self.ptx,
            ..options
        }
    }
}

fn finds_of(name: &str) -> Option<Finds> {
    if name == WRONG_RESULT {
        return Some(Finds::WrongResult);
    }
    KINDS.into_iter().find(|kind| kind.name() == name).map(Finds::Hazard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_read() {
        let trial =
            Trial::parse("deadlock with N = 2048, resident = 2, order = reverse", 1).unwrap();
        assert_eq!(trial.finds, Finds::Hazard(FindingKind::Deadlock));
        assert_eq!((trial.n, trial.resident, trial.order), (2048, Some(2), Order::Reverse));
        assert_eq!(
            Trial::parse("wrong-result with N = 4, operator = affine", 1).unwrap().operator,
            "affine"
        );
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for text in [
            "race",
            "mess with N = 3",
            "race with M = 3",
            "race with N = x",
            "race with resident = 3",
            "race with N",
        ] {
            assert!(Trial::parse(text, 1).is_err(), "{text}");
        }
    }
}

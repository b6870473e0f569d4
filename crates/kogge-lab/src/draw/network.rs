//! From a trace to a network: which combination stands in which row and column.
//!
//! A row holds combinations that need nothing from each other. A combination comes below its
//! operands, and below all that its block did in earlier barrier intervals. Its column is that of
//! the last element its result covers, so a network looks the same whether its values lie in global
//! memory, in shared memory, in registers, or move between them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::{Event, Finding, Interval, Labelled, Moment, Place, Report, Trace};

/// A network of operator applications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// The number of elements, and of columns.
    pub columns: usize,
    /// The name of the input, of which element i is called `x0`, `x1`, ….
    pub input: String,
    /// The rows, from the top.
    pub rows: Vec<Row>,
    /// What the output holds at the end, where it is known which array that is.
    pub outputs: Vec<Output>,
    /// The name of the output.
    pub output_name: String,
    /// Findings of the run, as sentences.
    pub hazards: Vec<String>,
    /// What is written above the drawing.
    pub caption: Caption,
}

/// What is written above a drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// What is drawn.
    pub title: String,
    /// Operator applications.
    pub work: u64,
    /// Barrier intervals with an application.
    pub steps: u64,
}

/// Combinations side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The launch of its first combination.
    pub launch: u32,
    /// The number of its step, from 1, over all launches.
    pub step: usize,
    /// The combinations, by column.
    pub combinations: Vec<Combination>,
}

/// One application of the operator, or several that do the same in the same step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The column of the result.
    pub column: usize,
    /// The column of the left operand; none where the left operand stands for no element.
    pub left: Option<usize>,
    /// The elements that the result covers; none where they are no run of neighbours.
    pub covers: Option<(u32, u32)>,
    /// How many threads did it.
    pub times: usize,
    /// Whether a finding concerns it, or its result covers no run.
    pub hazard: bool,
    /// The line in the source.
    pub line: u32,
}

/// An element of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Never written.
    Nothing,
    /// A value that covers no element: the identity.
    Identity,
    /// The combination of elements first to last.
    Covers(u32, u32),
    /// A value that covers no run of elements.
    Unknown,
}

impl Combination {
    /// `x3` or `x0..x3`, or `?` for a result that covers no run.
    pub fn label(&self, input: &str) -> String {
        self.covers.map_or("?".to_owned(), |(first, last)| label(input, first, last))
    }
}

impl Output {
    /// `x0..x3`, `e` for the identity, `?`, or nothing.
    pub fn label(&self, input: &str) -> String {
        match *self {
            Self::Nothing => String::new(),
            Self::Identity => "e".to_owned(),
            Self::Covers(first, last) => label(input, first, last),
            Self::Unknown => "?".to_owned(),
        }
    }
}

fn label(input: &str, first: u32, last: u32) -> String {
    if first == last { format!("{input}{first}") } else { format!("{input}{first}..{input}{last}") }
}

impl Network {
    /// The network of a traced run; none where it has no trace or the trace has no input.
    pub fn of(report: &Report, title: &str) -> Option<Self> {
        let trace = report.trace.as_ref()?;
        let (input, columns) = trace
            .arrays
            .iter()
            .find(|array| array.input)
            .map(|array| (array.name.clone(), array.len as usize))?;
        let mut builder = Builder { findings: &report.findings, ..Builder::new(trace, columns) };
        trace.events.iter().for_each(|event| builder.take(event));
        let (output_name, outputs) = outputs(trace, columns);
        Some(Self {
            columns,
            input,
            rows: builder.finish(),
            outputs,
            output_name,
            hazards: report.findings.iter().map(sentence).collect(),
            caption: Caption {
                title: title.to_owned(),
                work: report.work(),
                steps: report.steps(),
            },
        })
    }

    /// Whether anything in it is red.
    pub fn has_hazards(&self) -> bool {
        !self.hazards.is_empty()
            || self
                .rows
                .iter()
                .any(|row| row.combinations.iter().any(|combination| combination.hazard))
    }
}

fn sentence(finding: &Finding) -> String {
    let message = &finding.message;
    if finding.line == 0 {
        format!("{}: {message}", finding.kind)
    } else {
        format!("{}, line {}: {message}", finding.kind, finding.line)
    }
}

/// The combinations of a row, by column and column of the left operand.
type Boxes = BTreeMap<(usize, Option<usize>), Combination>;

struct Builder<'a> {
    trace: &'a Trace,
    columns: usize,
    findings: &'a [Finding],
    rows: Vec<(Moment, Boxes)>,
    /// The number of rows down to where a value first stood.
    known: HashMap<Interval, usize>,
    /// For each block of the launch, its level, the rows before that level and the rows so far.
    blocks: HashMap<u32, (u32, usize, usize)>,
    launch: u32,
    launch_floor: usize,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace, columns: usize) -> Self {
        Self {
            trace,
            columns,
            findings: &[],
            rows: Vec::new(),
            known: HashMap::new(),
            blocks: HashMap::new(),
            launch: 0,
            launch_floor: 0,
        }
    }

    fn take(&mut self, event: &Event) {
        let Event::Combine { at, left, right, result, stored } = event else { return };
        let Some(column) = self.column_of(result, right, stored) else { return };
        let above = self.floor(at).max(self.rows_above(left)).max(self.rows_above(right));
        if self.rows.len() <= above {
            self.rows.push((*at, Boxes::new()));
        }
        let both = left.interval.is_some() && right.interval.is_some();
        let hazard = (both && result.is_none()) || self.concerned(at, left, right, stored);
        // An operand without a run is the identity if the result has one, and a lost run if not.
        let lost = || result.is_none().then(|| self.index_of(left.place)).flatten();
        let left_column = left.interval.map(|interval| interval.last as usize).or_else(lost);
        let left_column = left_column.filter(|&left| left != column && left < self.columns);
        let combination = Combination {
            column,
            left: left_column,
            covers: result.map(|interval| (interval.first, interval.last)),
            times: 0,
            hazard: false,
            line: at.line,
        };
        let here = self.rows[above].1.entry((column, left_column)).or_insert(combination);
        here.times += 1;
        here.hazard |= hazard;
        if let Some(result) = result {
            self.known.entry(*result).or_insert(above + 1);
        }
        if let Some((_, _, deepest)) = self.blocks.get_mut(&at.block) {
            *deepest = (*deepest).max(above + 1);
        }
    }

    /// The rows above which nothing of this block's present level can stand.
    fn floor(&mut self, at: &Moment) -> usize {
        if at.launch != self.launch {
            self.launch = at.launch;
            self.launch_floor = self.rows.len();
            self.blocks.clear();
        }
        let floor = self.launch_floor;
        let (level, before, deepest) =
            self.blocks.entry(at.block).or_insert((at.level, floor, floor));
        if at.level > *level {
            (*level, *before) = (at.level, *deepest);
        }
        *before
    }

    fn rows_above(&self, operand: &Labelled) -> usize {
        operand.interval.and_then(|interval| self.known.get(&interval)).copied().unwrap_or(0)
    }

    fn column_of(
        &self,
        result: &Option<Interval>,
        right: &Labelled,
        stored: &[Place],
    ) -> Option<usize> {
        let covered = result.or(right.interval).map(|interval| interval.last as usize);
        let places = stored.iter().chain([&right.place]);
        covered
            .or_else(|| places.filter_map(|&place| self.index_of(place)).next())
            .filter(|&c| c < self.columns)
    }

    fn index_of(&self, place: Place) -> Option<usize> {
        match place {
            Place::Element { index, .. } => Some(index as usize),
            Place::Register { .. } => None,
        }
    }

    /// Whether a finding names this thread, and a place that this combination read or wrote.
    fn concerned(&self, at: &Moment, left: &Labelled, right: &Labelled, stored: &[Place]) -> bool {
        let touched = || stored.iter().chain([&left.place, &right.place]);
        self.findings.iter().filter(|finding| finding.launch == at.launch).any(|finding| {
            let by_thread = finding.accesses.iter().any(|access| {
                access.line.abs_diff(at.line) <= 1
                    && access.block[0] == at.block
                    && access.thread[0] == at.thread
            });
            let by_place = finding.location.as_ref().is_none_or(|location| {
                touched().any(|place| match *place {
                    Place::Element { array, index, .. } => {
                        let name =
                            self.trace.arrays.get(array as usize).map(|array| array.name.as_str());
                        name == Some(location.array.as_str()) && i64::from(index) == location.index
                    }
                    Place::Register { .. } => false,
                })
            });
            by_thread && by_place
        })
    }

    fn finish(self) -> Vec<Row> {
        let mut seen = Vec::new();
        let mut rows = Vec::new();
        for (at, combinations) in self.rows {
            let step = (at.launch, at.level);
            if seen.last() != Some(&step) {
                seen.push(step);
            }
            rows.push(Row {
                launch: at.launch,
                step: seen.len(),
                combinations: combinations.into_values().collect(),
            });
        }
        rows
    }
}

/// The output's name and what each of its elements covers: the global array, other than the input
/// if there is one, to which the most labelled values were stored.
fn outputs(trace: &Trace, columns: usize) -> (String, Vec<Output>) {
    let mut contents: BTreeMap<u32, Vec<Output>> = BTreeMap::new();
    let mut store = |place: &Place, output: Output| {
        let Place::Element { array, index, .. } = *place else { return };
        let Some(info) = trace.arrays.get(array as usize) else { return };
        if info.shared || (info.len as usize) < columns {
            return;
        }
        let elements = contents.entry(array).or_insert_with(|| vec![Output::Nothing; columns]);
        if let Some(element) = elements.get_mut(index as usize) {
            *element = output;
        }
    };
    let covers = |interval: &Option<Interval>| {
        interval.map_or(Output::Unknown, |interval| Output::Covers(interval.first, interval.last))
    };
    for event in &trace.events {
        match event {
            Event::Combine { result, stored, .. } => {
                stored.iter().for_each(|place| store(place, covers(result)))
            }
            Event::Move { from, to, .. } => store(to, covers(&from.interval)),
            Event::Set { to, .. } => store(to, Output::Identity),
            Event::Barrier { .. } => {}
        }
    }
    // A scan's value at i covers a run from element 0, or nothing where it is exclusive and i is 0.
    let proper = |&(at, output): &(usize, &Output)| match output {
        Output::Covers(first, _) => *first == 0,
        Output::Identity => at == 0,
        _ => false,
    };
    let prefixes = |elements: &[Output]| elements.iter().enumerate().filter(proper).count();
    let is_input = |array: u32| trace.arrays[array as usize].input;
    let best = contents
        .into_iter()
        .max_by_key(|(array, elements)| (!is_input(*array), prefixes(elements), Reverse(*array)));
    best.map_or_else(Default::default, |(array, elements)| {
        (trace.arrays[array as usize].name.clone(), elements)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TracedArray;

    fn labelled(first: u32, last: u32) -> Labelled {
        Labelled {
            place: Place::Element { array: 0, block: 0, index: last },
            interval: Some(Interval { input: 0, first, last }),
        }
    }

    fn combine(level: u32, thread: u32, left: (u32, u32), right: (u32, u32)) -> Event {
        let touch = left.1 + 1 == right.0;
        Event::Combine {
            at: Moment { launch: 0, level, block: 0, thread, line: 7 },
            left: labelled(left.0, left.1),
            right: labelled(right.0, right.1),
            result: touch.then_some(Interval { input: 0, first: left.0, last: right.1 }),
            stored: vec![Place::Element { array: 1, block: 0, index: right.1 }],
        }
    }

    fn rows(events: Vec<Event>) -> Vec<Vec<(usize, String)>> {
        let array =
            |name: &str, input| TracedArray { name: name.into(), shared: false, len: 4, input };
        let trace =
            Trace { arrays: vec![array("x", true), array("y", false)], events, ..Trace::default() };
        let mut builder = Builder::new(&trace, 4);
        trace.events.iter().for_each(|event| builder.take(event));
        let boxes = |row: Row| row.combinations.iter().map(|c| (c.column, c.label("x"))).collect();
        builder.finish().into_iter().map(boxes).collect()
    }

    #[test]
    fn a_chain_within_one_interval_takes_a_row_for_each_link() {
        let events = vec![combine(0, 0, (0, 0), (1, 1)), combine(0, 0, (0, 1), (2, 2))];
        assert_eq!(rows(events), [[(1, "x0..x1".to_owned())], [(2, "x0..x2".to_owned())]]);
    }

    #[test]
    fn a_barrier_moves_what_is_independent_to_the_next_row() {
        let events = vec![combine(0, 0, (0, 0), (1, 1)), combine(1, 1, (2, 2), (3, 3))];
        assert_eq!(rows(events).len(), 2);
        let together = vec![combine(0, 0, (0, 0), (1, 1)), combine(0, 1, (2, 2), (3, 3))];
        assert_eq!(rows(together).len(), 1);
    }

    #[test]
    fn runs_that_do_not_touch_are_a_hazard() {
        let rows = rows(vec![combine(0, 0, (0, 0), (2, 2))]);
        assert_eq!(rows, [[(2, "?".to_owned())]]);
    }

    #[test]
    fn the_output_is_the_array_with_the_most_prefixes() {
        let array =
            |name: &str, input| TracedArray { name: name.into(), shared: false, len: 2, input };
        let events = vec![
            Event::Move {
                at: Moment { launch: 0, level: 0, block: 0, thread: 0, line: 1 },
                from: labelled(0, 0),
                to: Place::Element { array: 1, block: 0, index: 0 },
            },
            combine(0, 0, (0, 0), (1, 1)),
        ];
        let trace =
            Trace { arrays: vec![array("x", true), array("y", false)], events, ..Trace::default() };
        assert_eq!(
            outputs(&trace, 2),
            ("y".to_owned(), vec![Output::Covers(0, 0), Output::Covers(0, 1)])
        );
    }
}

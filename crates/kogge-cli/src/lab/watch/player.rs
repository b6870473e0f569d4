//! Where a viewer stands in a trace, and what the arrays hold there.

use std::collections::BTreeMap;

use kogge_lab::{Event, Interval, Labelled, Moment, Place, Report, Trace};

/// What an element holds, as far as the trace knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A run of input elements.
    Covers(Interval),
    /// A value that stands for no input.
    Constant,
    /// Something that is no run.
    Unknown,
}

/// The contents of an array, of one block's where it is shared.
pub type Contents = BTreeMap<(u32, u32), BTreeMap<u32, Cell>>;

/// A trace and a place in it: so many of its events have happened.
pub struct Player<'a> {
    pub trace: &'a Trace,
    pub source: Vec<&'a str>,
    pub title: String,
    pub hazards: Vec<String>,
    at: usize,
}

impl<'a> Player<'a> {
    /// A player at the start; none where there is nothing to play.
    pub fn new(report: &'a Report, source: &'a str, title: &str) -> Option<Self> {
        let trace = report.trace.as_ref().filter(|trace| !trace.events.is_empty())?;
        Some(Self {
            trace,
            source: source.lines().collect(),
            title: title.to_owned(),
            hazards: report
                .findings
                .iter()
                .map(|f| format!("{}, line {}: {}", f.kind, f.line, f.message))
                .collect(),
            at: 0,
        })
    }

    /// How many events have happened, of how many.
    pub fn position(&self) -> (usize, usize) {
        (self.at, self.trace.events.len())
    }

    /// The event that happened last.
    pub fn event(&self) -> Option<&'a Event> {
        self.trace.events.get(self.at.checked_sub(1)?)
    }

    pub fn forward(&mut self) {
        self.at = (self.at + 1).min(self.trace.events.len());
    }

    pub fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    pub fn first(&mut self) {
        self.at = 0;
    }

    pub fn last(&mut self) {
        self.at = self.trace.events.len();
    }

    /// To the end of the barrier interval at hand, or of the next one.
    pub fn next_step(&mut self) {
        self.forward();
        while self.at < self.trace.events.len()
            && self.step_of(self.at) == self.step_of(self.at - 1)
        {
            self.at += 1;
        }
    }

    /// To the end of the barrier interval before.
    pub fn previous_step(&mut self) {
        self.back();
        while self.at > 0 && self.step_of(self.at) == self.step_of(self.at - 1) {
            self.at -= 1;
        }
    }

    fn step_of(&self, index: usize) -> Option<(u32, u32)> {
        match self.trace.events.get(index)? {
            Event::Combine { at, .. } | Event::Move { at, .. } | Event::Set { at, .. } => {
                Some((at.launch, at.level))
            }
            Event::Barrier { launch, level, .. } => Some((*launch, *level)),
        }
    }

    /// The launch, the level and the line of the last event.
    pub fn moment(&self) -> (u32, u32, u32) {
        match self.event() {
            Some(Event::Combine { at, .. } | Event::Move { at, .. } | Event::Set { at, .. }) => {
                (at.launch, at.level, at.line)
            }
            Some(Event::Barrier { launch, level, line, .. }) => (*launch, *level, *line),
            None => (0, 0, 1),
        }
    }

    /// What all arrays hold now.
    pub fn contents(&self) -> Contents {
        let mut contents = Contents::new();
        for (array, info) in self.trace.arrays.iter().enumerate().filter(|(_, info)| info.input) {
            let array = array as u32;
            let cell = |i| (i, Cell::Covers(Interval { input: array, first: i, last: i }));
            contents.insert((array, 0), (0..info.len).map(cell).collect());
        }
        for event in &self.trace.events[..self.at] {
            for (place, cell) in stores(event) {
                if let Place::Element { array, block, index } = place {
                    contents.entry((array, block)).or_default().insert(index, cell);
                }
            }
        }
        contents
    }

    /// The places that the last event wrote.
    pub fn written(&self) -> Vec<Place> {
        self.event()
            .map(|event| stores(event).into_iter().map(|(place, _)| place).collect())
            .unwrap_or_default()
    }

    /// What the last event did, as a sentence.
    pub fn sentence(&self) -> String {
        let who = |at: &Moment| format!("block {}, thread {}", at.block, at.thread);
        match self.event() {
            None => "nothing has happened yet".to_owned(),
            Some(Event::Combine { at, left, right, result, stored }) => {
                let kept = if stored.is_empty() {
                    "kept in a register".to_owned()
                } else {
                    self.places(stored)
                };
                let result = result.map_or("no run".to_owned(), |interval| self.label(interval));
                format!(
                    "{} combines {} with {}: {result}, {kept}",
                    who(at),
                    self.operand(left),
                    self.operand(right)
                )
            }
            Some(Event::Move { at, from, to }) => {
                format!(
                    "{} copies {} {}",
                    who(at),
                    self.operand(from),
                    self.places(std::slice::from_ref(to))
                )
            }
            Some(Event::Set { at, to }) => {
                format!("{} writes a constant {}", who(at), self.places(std::slice::from_ref(to)))
            }
            Some(Event::Barrier { block: Some(block), .. }) => {
                format!("block {block} passes a barrier")
            }
            Some(Event::Barrier { block: None, .. }) => "the grid passes a barrier".to_owned(),
        }
    }

    /// The name of a run: `x3` or `x0..x3`.
    pub fn label(&self, interval: Interval) -> String {
        let name =
            self.trace.arrays.get(interval.input as usize).map_or("x", |array| array.name.as_str());
        if interval.first == interval.last {
            format!("{name}{}", interval.first)
        } else {
            format!("{name}{}..{name}{}", interval.first, interval.last)
        }
    }

    fn operand(&self, operand: &Labelled) -> String {
        operand.interval.map_or("a constant".to_owned(), |interval| self.label(interval))
    }

    fn places(&self, places: &[Place]) -> String {
        let name = |place: &Place| match *place {
            Place::Element { array, index, .. } => {
                let name =
                    self.trace.arrays.get(array as usize).map_or("?", |array| array.name.as_str());
                format!("to {name}[{index}]")
            }
            Place::Register { .. } => "to a register".to_owned(),
        };
        places.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// The places that an event writes, and what they hold then.
fn stores(event: &Event) -> Vec<(Place, Cell)> {
    let cell = |interval: Option<Interval>| interval.map_or(Cell::Unknown, Cell::Covers);
    match event {
        Event::Combine { result, stored, .. } => {
            stored.iter().map(|&place| (place, cell(*result))).collect()
        }
        Event::Move { from, to, .. } => vec![(*to, cell(from.interval))],
        Event::Set { to, .. } => vec![(*to, Cell::Constant)],
        Event::Barrier { .. } => Vec::new(),
    }
}

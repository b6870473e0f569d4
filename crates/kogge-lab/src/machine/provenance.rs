//! What values stand for, and the trace's events.
//!
//! A label is 64 bits: the low half is the value's id (an interval of an
//! input, or an operator application), the high half the place where it was
//! last read from. Id 0 is no value of interest.

use std::collections::HashMap;

use crate::trace::{Event, Interval, Labelled, Moment, Place, Trace, TracedArray};

/// What a value id means.
#[derive(Clone, Copy, Debug)]
struct Value {
    interval: Option<Interval>,
    /// The application that made it: an index into the events.
    event: Option<u32>,
    depth: u32,
}

#[derive(Debug)]
pub(super) struct Recorder {
    trace: Trace,
    values: Vec<Value>,
    leaves: HashMap<(u32, u32), u32>,
    places: Vec<Place>,
    place_ids: HashMap<Place, u32>,
    /// Events that may still be kept.
    room: u64,
}

const fn id(label: u64) -> usize {
    (label & 0xffff_ffff) as usize
}

impl Recorder {
    pub(super) fn new(memory: u64) -> Self {
        let nothing = Value { interval: None, event: None, depth: 0 };
        Self {
            trace: Trace::default(),
            values: vec![nothing],
            leaves: HashMap::new(),
            places: vec![Place::Register { block: 0, thread: 0 }],
            place_ids: HashMap::new(),
            room: memory / 512,
        }
    }

    /// The index of an array, made known if it is new.
    pub(super) fn array(&mut self, name: &str, shared: bool, len: u32, input: bool) -> u32 {
        let known = self.trace.arrays.iter().position(|a| a.name == name && a.shared == shared);
        if let Some(i) = known {
            let array = &mut self.trace.arrays[i];
            array.len = array.len.max(len);
            return i as u32;
        }
        self.trace.arrays.push(TracedArray { name: name.to_owned(), shared, len, input });
        (self.trace.arrays.len() - 1) as u32
    }

    /// An array turns out to have so many elements.
    pub(super) fn resize(&mut self, array: u32, len: u32) {
        if let Some(a) = self.trace.arrays.get_mut(array as usize) {
            a.len = len;
        }
    }

    /// The label of an input's element, before anyone read it.
    pub(super) fn input(&mut self, array: u32, index: u32) -> u64 {
        if let Some(&v) = self.leaves.get(&(array, index)) {
            return u64::from(v);
        }
        let interval = Interval { input: array, first: index, last: index };
        let v = self.value(Some(interval), None, 0);
        self.leaves.insert((array, index), v);
        u64::from(v)
    }

    fn value(&mut self, interval: Option<Interval>, event: Option<u32>, depth: u32) -> u32 {
        self.values.push(Value { interval, event, depth });
        (self.values.len() - 1) as u32
    }

    /// A label, now last read at a place.
    pub(super) fn at(&mut self, label: u64, place: Place) -> u64 {
        if id(label) == 0 {
            return 0;
        }
        let next = self.places.len() as u32;
        let p = *self.place_ids.entry(place).or_insert(next);
        if p == next {
            self.places.push(place);
        }
        (label & 0xffff_ffff) | u64::from(p) << 32
    }

    fn labelled(&self, label: u64, own: Place) -> Labelled {
        let place = match (label >> 32) as usize {
            0 => own,
            p => self.places.get(p).copied().unwrap_or(own),
        };
        Labelled { place, interval: self.values.get(id(label)).and_then(|v| v.interval) }
    }

    /// An application of the operator; returns the result's label.
    pub(super) fn combine(&mut self, at: Moment, left: u64, right: u64) -> u64 {
        let own = Place::Register { block: at.block, thread: at.thread };
        let (a, b) = (self.values[id(left)], self.values[id(right)]);
        let interval = match (id(left), id(right)) {
            (0, 0) => None,
            (0, _) => b.interval,
            (_, 0) => a.interval,
            _ => joined(a.interval, b.interval),
        };
        let depth = a.depth.max(b.depth) + 1;
        self.trace.depth = self.trace.depth.max(depth);
        let event = self.push(Event::Combine {
            at,
            left: self.labelled(left, own),
            right: self.labelled(right, own),
            result: interval,
            stored: Vec::new(),
        });
        u64::from(self.value(interval, event, depth))
    }

    /// A value was stored.
    pub(super) fn store(&mut self, at: Moment, label: u64, to: Place) {
        let own = Place::Register { block: at.block, thread: at.thread };
        if id(label) == 0 {
            self.push(Event::Set { at, to });
            return;
        }
        // Straight from the application that made it, or read somewhere since.
        let event = self.values[id(label)].event.filter(|_| label >> 32 == 0);
        match event {
            Some(e) => {
                if let Some(Event::Combine { stored, .. }) = self.trace.events.get_mut(e as usize) {
                    stored.push(to);
                }
            }
            None => {
                let from = self.labelled(label, own);
                self.push(Event::Move { at, from, to });
            }
        }
    }

    pub(super) fn push(&mut self, event: Event) -> Option<u32> {
        if self.trace.events.len() as u64 >= self.room {
            self.trace.left_out += 1;
            return None;
        }
        self.trace.events.push(event);
        Some((self.trace.events.len() - 1) as u32)
    }

    pub(super) fn into_trace(self) -> Trace {
        self.trace
    }
}

/// The union of two intervals that touch, in either order.
fn joined(a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
    let (a, b) = (a?, b?);
    if a.input != b.input {
        return None;
    }
    let touch = a.last.checked_add(1) == Some(b.first) || b.last.checked_add(1) == Some(a.first);
    touch.then_some(Interval {
        input: a.input,
        first: a.first.min(b.first),
        last: a.last.max(b.last),
    })
}

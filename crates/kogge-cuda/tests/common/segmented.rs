//! The program of the scans by segments, and the requests that it answers.

use super::Random;
use super::segments::{Source, expected_segments};
use super::shim::Shim;
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, bytemuck};

/// A specimen of shim/segmented.cpp.
pub struct Case<'a, O, A> {
    pub name: &'a str,
    pub operator: O,
    pub offset_bytes: usize,
    /// Initial values, which are taken in turn.
    pub inits: [A; 3],
}

/// What a scan may be asked for, beside its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    /// Initial values and totals of each segment, or not, as is drawn.
    Drawn,
    /// Initial values, but no totals.
    Inits,
    /// Neither.
    Neither,
    /// Neither; and every other time all is as kernels have it best: no initial value at all, and
    /// elements at multiples of 16 bytes.
    Plain,
}

impl<O, A> Case<'_, O, A> {
    /// Runs a scan of these segments in some random way; says what is wrong with it, if anything.
    pub fn check<T, U>(
        &self,
        shim: &mut Shim,
        random: &mut Random,
        lengths: &[usize],
        input: &[T],
    ) -> Result<(), String>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        self.check_numbered::<T, U>(shim, random, lengths, input, Numbered::Drawn)
    }

    /// The same with what is drawn kept within limits.
    pub fn check_numbered<T, U>(
        &self,
        shim: &mut Shim,
        random: &mut Random,
        lengths: &[usize],
        input: &[T],
        numbered: Numbered,
    ) -> Result<(), String>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        let source = Source::any(random, self.offset_bytes);
        self.check_by::<T, U>(shim, random, lengths, input, numbered, source)
    }

    /// The same of segments that are given so.
    pub fn check_by<T, U>(
        &self,
        shim: &mut Shim,
        random: &mut Random,
        lengths: &[usize],
        input: &[T],
        numbered: Numbered,
        source: Source,
    ) -> Result<(), String>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        // Without offsets there are no empty segments.
        let lengths: Vec<usize> =
            lengths.iter().copied().filter(|&len| len > 0 || source.of_offsets()).collect();
        // A single NaN is what ends a run of keys; elsewhere keys of neighbours differ anyway.
        let (kind, direction) = shim.way(random, self.name);
        let plain = numbered == Numbered::Plain && random.below(2) == 0;
        let inits = match numbered {
            _ if plain => 0,
            Numbered::Neither | Numbered::Plain => random.below(3),
            Numbered::Drawn | Numbered::Inits => random.below(4),
        };
        let totals = random.below(3) > 0 && numbered == Numbered::Drawn;
        let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
        let mut offset = |align: usize| match random.below(2) {
            _ if plain => 0,
            0 => 0,
            _ => random.below(16 / align.min(16)) * align,
        };
        let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
        let (from, align) = source.bytes(random, &lengths);
        let source_offset = random.below(2) * align;
        let code = (kind == Kind::Exclusive) as u32 + 2 * (direction == Direction::Reverse) as u32;
        let header = format!(
            "{} {code} {} {} {} {} {inits} {} {} {} {} {source_offset} {}",
            self.name,
            source as u32,
            random.below(1 << 30),
            input.len(),
            lengths.len(),
            totals as u32,
            in_place as u32,
            offsets[0],
            offsets[1],
            from.len(),
        );
        if !shim.has(self.name) {
            return Ok(());
        }
        let init = |i: usize| match inits {
            0 => None,
            3 => Some(self.inits[i % 3]),
            _ => Some(self.inits[0]),
        };
        let given = if inits == 3 { lengths.len() } else { 1 };
        let given: Vec<A> = (0..given).map(|i| self.inits[i % 3]).collect();
        let (values, sums) =
            expected_segments::<T, U, A, O>(&self.operator, input, &lengths, kind, direction, init);
        let sums = if totals { sums } else { vec![] };
        let parts = [bytemuck::cast_slice(&given), &from[..], bytemuck::cast_slice(input)];
        let answer = shim.run(&header, &parts, values.len() + sums.len())?;
        let wrong = |got: &[u8], want: &[u8]| (0..want.len()).find(|&i| got[i] != want[i]);
        if let Some(i) = wrong(&answer, &values) {
            let at = i / size_of::<U>();
            return Err(format!("{header}: element {at} is wrong; {}", place(&lengths, at)));
        }
        if let Some(i) = wrong(&answer[values.len()..], &sums) {
            let at = i / size_of::<A>();
            return Err(format!("{header}: total {at}, of {} elements, is wrong", lengths[at]));
        }
        Ok(())
    }
}

/// Where an element is in its segment.
fn place(lengths: &[usize], element: usize) -> String {
    let mut start = 0;
    for (i, len) in lengths.iter().enumerate() {
        if element < start + len {
            return format!("{} of segment {i}, {start}..{}", element - start, start + len);
        }
        start += len;
    }
    String::new()
}

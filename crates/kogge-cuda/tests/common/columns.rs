//! Arrays of random shape, scanned along an axis by the shim and by the reference.

use super::shim::Shim;
use super::{Random, expected};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, bytemuck};

pub struct Case<'a, O> {
    pub name: &'a str,
    pub operator: O,
    /// Lines of a unit.
    pub columns: usize,
    /// Thread blocks of a cluster.
    pub cluster: u32,
}

/// Which kernel, and its grid where it matters.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// A lane a line.
    Lanes,
    /// Lines cut in units.
    Rounds(u32),
    /// Strips of lines, each with a team of blocks.
    Teams(u32),
    /// The same in so many clusters.
    Clusters(u32),
    /// Neighbours by 16 bytes.
    Vectors,
}

impl Kernel {
    /// Lines side by side that it takes together, of elements `T`; `unit` of a unit.
    fn columns<T>(self, unit: usize) -> usize {
        match self {
            Self::Teams(_) | Self::Clusters(_) if size_of::<T>() == 4 => 64,
            Self::Teams(_) | Self::Clusters(_) => 32,
            Self::Vectors => 16,
            _ => unit,
        }
    }
}

/// An axis: indices, strides of input and output in elements, stride of the lines' numbers.
#[derive(Clone, Copy, Debug)]
struct Axis {
    len: usize,
    strides: [i64; 2],
    number: i64,
}

/// An array's axes, the scanned one last, and the first element's place within the two buffers.
#[derive(Debug)]
struct Array {
    axes: Vec<Axis>,
    first: [usize; 2],
    elements: [usize; 2],
}

impl Array {
    /// `len` elements in each of about `lines` lines, over up to three axes, laid out in memory in
    /// some order with gaps, the same on both sides if `in_place`. Half the time the lines lie side
    /// by side, in whole strips of `columns`, and always if a `kernel` wants it.
    fn new(
        random: &mut Random,
        kernel: Kernel,
        len: usize,
        lines: usize,
        columns: usize,
        in_place: bool,
    ) -> Self {
        let vectors = matches!(kernel, Kernel::Vectors);
        let side_by_side = vectors || random.below(2) == 0;
        let mut lens = match (random.below(3), side_by_side) {
            (0, true) => vec![2, columns],
            (_, true) => vec![lines.div_ceil(columns) * columns],
            (0, _) => vec![2, lines.div_ceil(4), 2],
            (1, _) => vec![lines.div_ceil(3), 3],
            _ => vec![lines],
        };
        let mut number = 1;
        let mut axes: Vec<Axis> = Vec::new();
        while let Some(len) = lens.pop() {
            axes.insert(0, Axis { len, strides: [0; 2], number });
            number *= len as i64;
        }
        if vectors && random.below(2) == 0 {
            // The lines' numbers go along the axes the other way round.
            let mut number = 1;
            for axis in &mut axes {
                axis.number = number;
                number *= axis.len as i64;
            }
        }
        axes.push(Axis { len, strides: [0; 2], number: 0 });
        let mut array = Self { axes, first: [0; 2], elements: [0; 2] };
        let turned: Vec<bool> =
            array.axes.iter().map(|_| !side_by_side && random.below(4) == 0).collect();
        for side in 0..2 {
            if side == 1 && in_place {
                array.axes.iter_mut().for_each(|axis| axis.strides[1] = axis.strides[0]);
                (array.first[1], array.elements[1]) = (array.first[0], array.elements[0]);
                break;
            }
            array.lay_out(random, side, side_by_side, &turned);
        }
        array
    }

    /// Strides from the inner axis of memory to the outer.
    fn lay_out(&mut self, random: &mut Random, side: usize, side_by_side: bool, turned: &[bool]) {
        let count = self.axes.len();
        let mut order: Vec<usize> = (0..count).collect();
        if side_by_side {
            order.swap(0, count - 1);
            order.reverse();
            order.swap(0, if count > 2 { 1 } else { 0 });
            order.sort_by_key(|&axis| usize::from(axis != count - 2));
        } else {
            (1..count).for_each(|i| order.swap(i, random.below(i + 1)));
        }
        let mut stride = 1;
        for &axis in &order {
            let Axis { len, strides, .. } = &mut self.axes[axis];
            strides[side] = stride as i64;
            if turned[axis] {
                strides[side] = -strides[side];
                self.first[side] += stride * len.saturating_sub(1);
            }
            stride *= (*len).max(1);
            let gap = if side_by_side { 16 } else { 1 };
            stride = (stride + random.below(3) * gap).next_multiple_of(gap);
        }
        self.elements[side] = stride;
    }

    /// For each line, its number and the place of its first element on both sides.
    fn lines(&self) -> Vec<(usize, [i64; 2])> {
        let mut lines = vec![(0, self.first.map(|first| first as i64))];
        for axis in &self.axes[..self.axes.len() - 1] {
            let of = |&(number, at): &(usize, [i64; 2])| {
                (0..axis.len as i64)
                    .map(|i| {
                        let at = [at[0] + i * axis.strides[0], at[1] + i * axis.strides[1]];
                        (number + (i * axis.number) as usize, at)
                    })
                    .collect::<Vec<_>>()
            };
            lines = lines.iter().flat_map(of).collect();
        }
        lines
    }
}

impl<O> Case<'_, O> {
    /// Scans an array of some random shape in some random way; says what is wrong with it, if
    /// anything.
    #[expect(clippy::too_many_arguments)]
    pub fn check<T, U, A>(
        &self,
        shim: &mut Shim,
        random: &mut Random,
        kernel: Kernel,
        len: usize,
        lines: usize,
        make: &impl Fn(&mut Random) -> T,
        make_init: &impl Fn(&mut Random) -> A,
    ) -> Result<(), String>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        let (kind, direction) = shim.any_way(random);
        let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
        let init_kind = random.below(4);
        let columns = kernel.columns::<T>(self.columns);
        let array = Array::new(random, kernel, len, lines, columns, in_place);
        let lines = array.lines();
        let input: Vec<T> = (0..array.elements[0]).map(|_| make(random)).collect();
        let inits: Vec<A> = lines.iter().map(|_| make_init(random)).collect();

        let header = self.header::<T, U>(
            random,
            kernel,
            &array,
            lines.len(),
            kind,
            direction,
            init_kind,
            in_place,
        );
        if !shim.has(self.name) {
            return Ok(());
        }

        let written = array.elements[1] * size_of::<U>();
        let mut values = vec![0xee; written];
        if in_place {
            values.copy_from_slice(bytemuck::cast_slice(&input));
        }
        let mut totals = vec![0; inits.len() * size_of::<A>()];
        let along = array.axes.last().expect("the scanned axis").strides;
        for &(number, at) in &lines {
            let place = |side: usize, i: usize| (at[side] + i as i64 * along[side]) as usize;
            let line: Vec<T> = (0..len).map(|i| input[place(0, i)]).collect();
            let init = [None, Some(inits[0]), Some(inits[0]), Some(inits[number])][init_kind];
            let (scanned, total) =
                expected::<T, U, A, O>(&self.operator, &line, kind, direction, init);
            for (i, value) in scanned.chunks_exact(size_of::<U>()).enumerate() {
                values[place(1, i) * size_of::<U>()..][..size_of::<U>()].copy_from_slice(value);
            }
            totals[number * size_of::<A>()..][..size_of::<A>()].copy_from_slice(&total);
        }

        let parts = [bytemuck::cast_slice(&inits), bytemuck::cast_slice(&input)];
        let answer = shim.run(&header, &parts, values.len() + totals.len())?;
        if let Some(i) = (0..written).find(|&i| answer[i] != values[i]) {
            return Err(format!("{header}: element {} of {array:?} is wrong", i / size_of::<U>()));
        }
        if answer[written..] != totals[..] {
            return Err(format!("{header}: the totals are wrong"));
        }
        Ok(())
    }

    /// The request, as shim/columns.cpp reads it: strides in bytes, in the direction of the scan.
    #[expect(clippy::too_many_arguments)]
    fn header<T, U>(
        &self,
        random: &mut Random,
        kernel: Kernel,
        array: &Array,
        lines: usize,
        kind: Kind,
        direction: Direction,
        init_kind: usize,
        in_place: bool,
    ) -> String {
        let sizes = [size_of::<T>() as i64, size_of::<U>() as i64];
        let (line, outer) = array.axes.split_last().expect("the scanned axis");
        let mut first = array.first.map(|first| first as i64);
        let mut along = line.strides;
        if direction == Direction::Reverse {
            for side in 0..2 {
                first[side] += along[side] * (line.len as i64 - 1).max(0);
                along[side] = -along[side];
            }
        }
        let anywhere = !matches!(kernel, Kernel::Vectors);
        let mut offset = |align: usize| match anywhere && random.below(2) > 0 {
            true => random.below(16 / align.min(16)) * align,
            false => 0,
        };
        let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
        let (kernel, grid) = match kernel {
            Kernel::Vectors => (4, 1),
            Kernel::Lanes => (0, 1 + random.below(3) as u32),
            Kernel::Rounds(grid) => (1, grid),
            Kernel::Teams(grid) => (2, grid),
            // At least one a strip.
            Kernel::Clusters(clusters) => {
                let strips = lines.div_ceil(kernel.columns::<T>(self.columns)) as u32;
                (3, clusters.max(strips) * self.cluster)
            }
        };
        let mut numbers = vec![
            i64::from(kind == Kind::Exclusive),
            kernel,
            i64::from(grid),
            random.below(1 << 30) as i64,
            line.len as i64,
            lines as i64,
            0,
            along[0] * sizes[0],
            along[1] * sizes[1],
            outer.len() as i64,
        ];
        for axis in outer {
            let [input, output] = axis.strides;
            numbers.extend([axis.len as i64, input * sizes[0], output * sizes[1], axis.number]);
        }
        numbers.extend([init_kind as i64, i64::from(in_place)]);
        for side in 0..2 {
            numbers.extend([
                array.elements[side] as i64 * sizes[side],
                first[side] * sizes[side],
                offsets[side] as i64,
            ]);
        }
        let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
        format!("{} {}", self.name, numbers.join(" "))
    }
}

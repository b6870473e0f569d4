//! Lines of consecutive elements anywhere in memory, and requests of the shim's program for them.

use super::shim::Shim;
use super::{Random, expected};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, Order, bytemuck};
use std::fmt::Write;

/// How lines are scanned, by so many blocks: in lots, or tile by tile in rounds; or a row a warp,
/// by blocks of at most so many lines, or rows that lines share.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Lots(u32),
    Rounds(u32),
    Rows(u32),
}

/// An axis across the lines; strides in elements.
#[derive(Clone, Copy, Debug)]
pub struct Across {
    pub len: usize,
    pub input: i64,
    pub output: i64,
    pub number: i64,
}

/// Where lines lie, as the kernel is told.
#[derive(Clone, Debug)]
pub struct Layout {
    pub len: usize,
    pub axes: Vec<Across>,
    /// Elements, elements, lines: of index 0 on every axis.
    pub origin: [i64; 3],
    /// Elements of the memory in all.
    pub extent: [usize; 2],
}

impl Layout {
    /// About so many lines: dense, apart, along two axes or three in any order of their numbers, or
    /// repeated.
    pub fn random<T>(random: &mut Random, len: usize, lines: usize) -> Self {
        let n = len as i64;
        let gap = |random: &mut Random| {
            let chunk = Order::of::<T>().chunk();
            match random.below(3) {
                0 => 0,
                1 => (n as usize).next_multiple_of(4 * chunk) - n as usize,
                _ => random.below(9),
            }
        };
        let lens = match random.below(3) {
            0 if lines > 5 => vec![lines / 6, 2, 3],
            1 if lines > 3 => vec![2, lines / 2],
            _ => vec![lines],
        };
        let apart = random.below(2) == 0;
        let mut axes: Vec<Across> =
            lens.iter().map(|&len| Across { len, input: 0, output: 0, number: 0 }).collect();
        let mut strides = [n; 2];
        for axis in axes.iter_mut().rev() {
            if apart {
                strides = strides.map(|stride| stride + gap(random) as i64);
            }
            (axis.input, axis.output) = (strides[0], strides[1]);
            strides = strides.map(|stride| stride * axis.len as i64);
        }
        // Numbers along the axes in another order, some downwards.
        let mut order: Vec<usize> = (0..axes.len()).collect();
        if random.below(2) == 0 {
            order.reverse();
        }
        let (mut number, mut origin) = (1, [0; 3]);
        for i in order.into_iter().rev() {
            axes[i].number = number;
            number *= axes[i].len as i64;
            if random.below(4) == 0 {
                axes[i].number = -axes[i].number;
                origin[2] += (axes[i].len as i64 - 1) * -axes[i].number;
            }
        }
        if random.below(8) == 0 {
            axes[0].input = 0;
        }
        let extent = [
            axes.iter().map(|axis| (axis.len as i64 - 1) * axis.input).sum::<i64>() + n,
            axes.iter().map(|axis| (axis.len as i64 - 1) * axis.output).sum::<i64>() + n,
        ]
        .map(|extent| extent as usize);
        Self { len, axes, origin, extent }
    }

    pub fn lines(&self) -> usize {
        self.axes.iter().map(|axis| axis.len).product()
    }

    /// First element in the input, in the output, and number of a line.
    pub fn place(&self, mut index: usize) -> [usize; 3] {
        let mut at = self.origin;
        for axis in self.axes.iter().rev() {
            let i = (index % axis.len) as i64;
            index /= axis.len;
            for (at, stride) in at.iter_mut().zip([axis.input, axis.output, axis.number]) {
                *at += i * stride;
            }
        }
        at.map(|at| at as usize)
    }
}

/// Lines that eight warps take at once.
pub fn batch(order: Order, len: usize) -> usize {
    let team = len.div_ceil(order.segment()).max(1);
    let chunks = len.div_ceil(order.chunk()).max(1);
    8 / team * (8 / chunks.div_ceil(32).min(8)).max(1) * (32 / chunks).max(1)
}

/// Scans the lines of a layout in some random way; says what is wrong, if anything.
#[allow(clippy::too_many_arguments)]
pub fn check<T, U, A, O>(
    name: &str,
    operator: &O,
    shim: &mut Shim,
    random: &mut Random,
    way: Way,
    layout: &Layout,
    data: &[T],
    inits: &[A],
) -> Result<(), String>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let order = Order::of::<T>();
    let (len, lines) = (layout.len, layout.lines());
    let (kind, direction) = shim.way(random, name);
    let init_kind = random.below(4);
    let same = layout.axes.iter().all(|axis| axis.input == axis.output);
    let in_place = size_of::<T>() == size_of::<U>() && same && random.below(2) == 0;
    let mut offset = |align: usize| {
        if random.below(2) == 0 { 0 } else { random.below(16 / align.min(16)) * align }
    };
    let mut offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
    if in_place {
        offsets[1] = offsets[0];
    }
    let whole = len > 0
        && len.is_multiple_of(order.chunk())
        && offsets == [0, 0]
        && layout.axes.iter().all(|axis| {
            (axis.input * size_of::<T>() as i64) % 16 == 0
                && (axis.output * size_of::<U>() as i64) % 16 == 0
        });
    let risen = layout.axes.last().is_none_or(|axis| axis.input >= 0);
    let along = |axis: &Across| (axis.input, axis.output) == (len as i64, len as i64);
    let dense = layout.axes.len() <= 1 && layout.axes.iter().all(along);
    let stages = if risen && len > 0 && random.below(4) > 0 { 2 + random.below(3) } else { 0 };
    let (way, grid) = match way {
        Way::Lots(blocks) => (0, (blocks as usize).min(lines.div_ceil(batch(order, len)))),
        Way::Rounds(blocks) => (1, (blocks as usize).min(len.div_ceil(order.tile()) * lines)),
        Way::Rows(bunch) => (2, bunch as usize),
    };
    let start = random.below(data.len() - layout.extent[0]);
    let input = &data[start..][..layout.extent[0]];
    let code = (kind == Kind::Exclusive) as u32 + 2 * (direction == Direction::Reverse) as u32;
    let output_bytes = layout.extent[1] * size_of::<U>();
    let [first_input, first_output, first_number] = layout.origin;
    let mut header = format!(
        "{name} {code} {way} {grid} {} {len} {lines} {} {} {stages} {} {} {} {output_bytes} {} {init_kind} {}\n{} {} {first_number}",
        random.below(1 << 30),
        whole as u32,
        dense as u32,
        in_place as u32,
        size_of_val(input),
        offsets[0],
        offsets[1],
        layout.axes.len(),
        first_input * size_of::<T>() as i64,
        first_output * size_of::<U>() as i64,
    );
    for axis in &layout.axes {
        let (input, output) =
            (axis.input * size_of::<T>() as i64, axis.output * size_of::<U>() as i64);
        write!(header, "\n{} {input} {output} {}", axis.len, axis.number).expect("room");
    }
    if !shim.has(name) {
        return Ok(());
    }
    let given = match init_kind {
        0 => &inits[..0],
        3 => &inits[..lines],
        _ => &inits[..1],
    };
    let mut values = match in_place {
        true => bytemuck::cast_slice(input).to_vec(),
        false => vec![0x5a; output_bytes],
    };
    let mut totals = vec![0; lines * size_of::<A>()];
    for line in 0..lines {
        let [from, to, number] = layout.place(line);
        let init = match init_kind {
            0 => None,
            3 => Some(inits[number]),
            _ => Some(inits[0]),
        };
        let (scanned, total) =
            expected::<T, U, A, O>(operator, &input[from..][..len], kind, direction, init);
        values[to * size_of::<U>()..][..scanned.len()].copy_from_slice(&scanned);
        totals[number * size_of::<A>()..][..total.len()].copy_from_slice(&total);
    }
    let parts = [bytemuck::cast_slice(given), bytemuck::cast_slice(input)];
    let answer = shim.run(&header, &parts, values.len() + totals.len())?;
    if let Some(i) = (0..values.len()).find(|&i| answer[i] != values[i]) {
        return Err(format!(
            "{header}: element {} of {lines} × {len} is wrong",
            i / size_of::<U>()
        ));
    }
    if answer[values.len()..] != totals[..] {
        return Err(format!("{header}: a total is wrong"));
    }
    Ok(())
}

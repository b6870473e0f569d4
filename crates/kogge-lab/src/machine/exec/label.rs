//! Labels, which tell what a value was combined from: they move as values do.

use super::group::Group;
use super::{Context, Machine};
use crate::machine::ins::{Ins, Op};
use crate::machine::warp::{LANES, Warp, lanes};
use crate::trace::{Moment, Place};

impl Machine<'_> {
    /// Moves labels as an instruction moves values.
    pub(super) fn trace_step(&mut self, c: &mut Context<'_>, ins: Ins, g: &Group) {
        let d = usize::from(ins.d);
        match ins.op {
            Op::Mov | Op::Convert => {
                for lane in lanes(g.mask) {
                    c.warp.labels[d][lane] = c.warp.label(ins.a, lane);
                }
            }
            Op::Select => {
                for lane in lanes(g.mask) {
                    let yes = c.warp.registers[usize::from(ins.a)][lane] != 0;
                    let from = if yes { ins.b } else { (ins.k & 0xffff) as u16 };
                    c.warp.labels[d][lane] = c.warp.label(from, lane);
                }
            }
            Op::Work if ins.x == 1 => {
                for lane in lanes(g.mask) {
                    let (a, b) = (c.warp.label(ins.a, lane), c.warp.label(ins.b, lane));
                    let at = self.moment(c, lane, g.pc);
                    if let Some(r) = &mut self.recorder {
                        c.warp.labels[d][lane] = r.combine(at, a, b);
                    }
                }
            }
            Op::WorkBegin => {
                let depth = ins.k as usize;
                if c.warp.work.len() <= depth {
                    c.warp.work.resize(depth + 1, [(0, 0); LANES]);
                }
                for lane in lanes(g.mask) {
                    let first = |base: u16, w: &Warp| {
                        let mut labels = (0..u16::from(ins.x)).map(|i| w.label(base + i, lane));
                        labels.find(|&l| l as u32 != 0).unwrap_or(0)
                    };
                    let pair = (first(ins.a, c.warp), first(ins.b, c.warp));
                    c.warp.work[depth][lane] = pair;
                }
            }
            Op::WorkEnd => {
                for lane in lanes(g.mask) {
                    let begun = c.warp.work.get(ins.k as usize);
                    let (a, b) = begun.map_or((0, 0), |operands| operands[lane]);
                    let at = self.moment(c, lane, g.pc);
                    let Some(r) = &mut self.recorder else { continue };
                    let label = r.combine(at, a, b);
                    for i in 0..usize::from(ins.x) {
                        c.warp.labels[d + i][lane] = label;
                    }
                }
            }
            // These set their labels themselves.
            Op::Load | Op::Store | Op::Shuffle => {}
            _ if ins.writes() => {
                for lane in lanes(g.mask) {
                    c.warp.labels[d][lane] = 0;
                }
            }
            _ => {}
        }
    }

    pub(in crate::machine) fn moment(&self, c: &Context<'_>, lane: usize, pc: u32) -> Moment {
        Moment {
            launch: self.launch,
            level: c.warp.time[lane].level,
            block: c.info.id,
            thread: c.warp.rank(lane),
            line: self.place(pc).line,
        }
    }

    /// The place in the trace that an element of an array is.
    pub(in crate::machine) fn element_place(array: u32, block: u32, index: u32) -> Place {
        Place::Element { array, block, index }
    }
}

//! What a finding tells: where an instruction stands in the source, and which
//! thread of which block it was.

use super::exec::{Context, Machine};
use super::findings::{Told, who};
use super::warp::BlockInfo;
use crate::lang::Pos;
use crate::report::{Access, AccessKind, FindingKind};

impl Machine<'_> {
    #[inline]
    pub(super) fn place(&self, pc: u32) -> Pos {
        self.kernel.places.get(pc as usize).map_or(self.kernel.pos, |site| site.pos)
    }

    /// `line 5`, or `line 5, called from line 12` within a device function.
    pub(super) fn spot(&self, pc: u32) -> String {
        let line = self.place(pc).line;
        match self.kernel.places.get(pc as usize).and_then(|site| site.caller) {
            Some(caller) if caller.get() != line => {
                format!("line {line}, called from line {caller}")
            }
            _ => format!("line {line}"),
        }
    }

    /// One side of a finding.
    pub(super) fn side(&self, info: &BlockInfo, rank: u32, pc: u32, kind: AccessKind) -> Access {
        let pos = self.place(pc);
        Access {
            kind,
            block: info.index,
            thread: info.thread_index(rank),
            line: pos.line,
            column: pos.column,
        }
    }

    /// A finding about one lane.
    pub(super) fn told(
        &mut self,
        c: &Context<'_>,
        kind: FindingKind,
        pc: u32,
        lane: usize,
        access: AccessKind,
        what: &str,
    ) {
        let pos = self.place(pc);
        let side = self.side(c.info, c.warp.rank(lane), pc, access);
        let message = format!("{} {what} ({})", who(side.block, side.thread), self.spot(pc));
        self.findings.add(kind, pos, pos, "", || Told {
            message,
            accesses: vec![side],
            location: None,
        });
    }
}

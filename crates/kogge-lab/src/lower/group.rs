//! Cooperative groups: known at compile time, so their methods are barriers,
//! shuffles and ids.

use super::scope::Symbol;
use super::taint::Taint;
use super::ty::{Group, Ty};
use super::value::{Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Binary, Expr, ExprKind, Init, TemplateArgument, TypeExpr, Variable};
use crate::machine::ins::{Ins, Op, Special, barrier, shuffle, vote};

impl Lower<'_> {
    /// The group that `this_grid()` and its like give.
    pub(super) fn group_factory(name: &str) -> Option<Group> {
        match name {
            "this_grid" => Some(Group::Grid),
            "this_thread_block" => Some(Group::Block),
            _ => None,
        }
    }

    /// The group that an expression is, if it is one.
    pub(super) fn group_expression(&mut self, e: &Expr) -> Result<Option<Group>> {
        if let Some(group) = self.group_of(e) {
            return Ok(Some(group));
        }
        let ExprKind::Call(callee, _) = &e.kind else {
            return Ok(None);
        };
        let ExprKind::Name(path) = &callee.kind else {
            return Ok(None);
        };
        if self.named.contains_key(path.last()) {
            return Ok(None);
        }
        if path.last() == "coalesced_threads" {
            return self.refuse("coalesced groups");
        }
        if path.last() != "tiled_partition" {
            return Ok(Self::group_factory(path.last()));
        }
        let arguments = path.parts.last().and_then(|p| p.arguments.as_ref());
        match arguments.and_then(|a| a.first()) {
            Some(TemplateArgument::Value(size)) => {
                let size = self.constant(size)?;
                self.tile(size).map(Some)
            }
            _ => self.refuse("tiles whose size is no template argument"),
        }
    }

    /// `cg::sync(group)`.
    pub(super) fn group_function(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        match (name, arguments) {
            ("sync", [group]) => match self.group_expression(group)? {
                Some(group) => self.group_call(group, "sync", &[]).map(Some),
                None => Ok(None),
            },
            ("coalesced_threads", _) => self.refuse("coalesced groups"),
            _ => Ok(None),
        }
    }

    /// A method of a group.
    pub(super) fn group_call(
        &mut self,
        group: Group,
        name: &str,
        arguments: &[Expr],
    ) -> Result<Val> {
        match (group, name) {
            (_, "sync") => self.group_sync(group),
            (_, "thread_rank") => self.rank(group),
            (_, "size" | "num_threads") => self.group_size(group),
            (Group::Grid, "is_valid") => Ok(Val::constant(Ty::BOOL, 1)),
            (Group::Block, "thread_index") | (Group::Block | Group::Grid, "group_index") => {
                self.refuse(format!("`{name}()`; threadIdx and blockIdx say the same"))
            }
            (Group::Tile(size), "meta_group_rank") => {
                let rank = self.special(Special::Rank)?;
                let size = Val::constant(Ty::UNSIGNED, u64::from(size));
                self.binary(Binary::Div, &rank, &size)
            }
            (Group::Tile(size), "meta_group_size") => {
                let threads = self.group_size(Group::Block)?;
                let less = Val::constant(Ty::UNSIGNED, u64::from(size) - 1);
                let size = Val::constant(Ty::UNSIGNED, u64::from(size));
                let rounded = self.binary(Binary::Add, &threads, &less)?;
                self.binary(Binary::Div, &rounded, &size)
            }
            (Group::Tile(size), "shfl" | "shfl_up" | "shfl_down" | "shfl_xor") => {
                self.tile_shuffle(size, name, arguments)
            }
            (Group::Tile(_), "any" | "all" | "ballot") => self.tile_vote(group, name, arguments),
            _ => self.refuse(format!("`{name}` of this cooperative group")),
        }
    }

    fn group_sync(&mut self, group: Group) -> Result<Val> {
        match group {
            Group::Grid => {
                self.grid_sync.get_or_insert(self.pos);
                self.emit(Ins::new(Op::GridSync))?;
            }
            Group::Block => {
                let d = self.temp(1)?;
                self.emit(Ins { x: barrier::PLAIN, d, ..Ins::new(Op::SyncThreads) })?;
            }
            Group::Tile(_) => {
                let mask = self.tile_mask(group)?;
                let a = self.register(&mask)?;
                self.emit(Ins { a, ..Ins::new(Op::SyncWarp) })?;
            }
        }
        self.barrier = self.code.len();
        Ok(Val::nothing(Ty::Void))
    }

    fn tile_shuffle(&mut self, size: u32, name: &str, arguments: &[Expr]) -> Result<Val> {
        let [value, lane] = arguments else {
            return Err(self.pos.error(format!("`{name}` takes two arguments")));
        };
        let value = self.shuffled(value)?;
        let lane = self.rvalue(lane)?;
        let mask = self.tile_mask(Group::Tile(size))?;
        let width = Val::constant(Ty::UNSIGNED, u64::from(size));
        let mode = match name {
            "shfl" => shuffle::INDEX,
            "shfl_up" => shuffle::UP,
            "shfl_down" => shuffle::DOWN,
            _ => shuffle::XOR,
        };
        self.shuffle(mode, &mask, &value, &lane, &width)
    }

    fn tile_vote(&mut self, tile: Group, name: &str, arguments: &[Expr]) -> Result<Val> {
        let [value] = arguments else {
            return Err(self.pos.error(format!("`{name}` takes one argument")));
        };
        let value = self.rvalue(value)?;
        let mask = self.tile_mask(tile)?;
        let mode = match name {
            "any" => vote::ANY,
            "all" => vote::ALL,
            _ => vote::BALLOT,
        };
        let v = self.vote(mode, &mask, value)?;
        if mode != vote::BALLOT {
            return Ok(v);
        }
        // A tile's ballot counts its bits from the tile's first lane.
        let first = self.tile_first(tile)?;
        self.binary(Binary::Shr, &v, &first)
    }

    fn rank(&mut self, group: Group) -> Result<Val> {
        let rank = self.special(Special::Rank)?;
        match group {
            Group::Block => Ok(rank),
            Group::Tile(size) => {
                let mask = Val::constant(Ty::UNSIGNED, u64::from(size) - 1);
                self.binary(Binary::And, &rank, &mask)
            }
            Group::Grid => {
                let block = self.linear(Special::Block, Special::GridDim)?;
                let threads = self.group_size(Group::Block)?;
                let (block, threads) = (self.cast(block, &Ty::U64)?, self.cast(threads, &Ty::U64)?);
                let before = self.binary(Binary::Mul, &block, &threads)?;
                let rank = self.cast(rank, &Ty::U64)?;
                self.binary(Binary::Add, &before, &rank)
            }
        }
    }

    /// The linear id of a three-dimensional one.
    fn linear(&mut self, id: fn(u8) -> Special, dim: fn(u8) -> Special) -> Result<Val> {
        let mut value = self.special(id(2))?;
        for axis in [1, 0] {
            let (n, i) = (self.special(dim(axis))?, self.special(id(axis))?);
            let scaled = self.binary(Binary::Mul, &value, &n)?;
            value = self.binary(Binary::Add, &scaled, &i)?;
        }
        Ok(value)
    }

    fn group_size(&mut self, group: Group) -> Result<Val> {
        let product = |me: &mut Self, dim: fn(u8) -> Special| {
            let (x, y, z) = (me.special(dim(0))?, me.special(dim(1))?, me.special(dim(2))?);
            let xy = me.binary(Binary::Mul, &x, &y)?;
            me.binary(Binary::Mul, &xy, &z)
        };
        match group {
            Group::Tile(size) => Ok(Val::constant(Ty::UNSIGNED, u64::from(size))),
            Group::Block => product(self, Special::BlockDim),
            Group::Grid => {
                let threads = product(self, Special::BlockDim)?;
                let blocks = product(self, Special::GridDim)?;
                let (threads, blocks) =
                    (self.cast(threads, &Ty::U64)?, self.cast(blocks, &Ty::U64)?);
                self.binary(Binary::Mul, &threads, &blocks)
            }
        }
    }

    /// The first lane of a thread's tile.
    fn tile_first(&mut self, group: Group) -> Result<Val> {
        let Group::Tile(size) = group else {
            return Ok(Val::constant(Ty::UNSIGNED, 0));
        };
        let lane = self.special(Special::Lane)?;
        let mask = Val::constant(Ty::UNSIGNED, u64::from(!(size - 1) & 31));
        self.binary(Binary::And, &lane, &mask)
    }

    /// The lanes of a thread's tile.
    fn tile_mask(&mut self, group: Group) -> Result<Val> {
        let Group::Tile(size) = group else {
            return Ok(Val::constant(Ty::UNSIGNED, 0xffff_ffff));
        };
        let bits = Val::constant(Ty::UNSIGNED, (1u64 << size) - 1);
        if size == 32 {
            return Ok(bits);
        }
        let first = self.tile_first(group)?;
        let mut mask = self.binary(Binary::Shl, &bits, &first)?;
        mask.taint = Taint::default();
        Ok(mask)
    }

    /// `cg::grid_group g = cg::this_grid();` and its like.
    pub(super) fn declare_group(&mut self, v: &Variable, init: &Init) -> Result<bool> {
        let declared = match &v.ty {
            TypeExpr::Group(_) => true,
            TypeExpr::Auto => false,
            _ => return Ok(false),
        };
        let e = match init {
            Init::Value(e) => Some(e),
            Init::Call(arguments) => arguments.first(),
        };
        let group = match e {
            Some(e) => self.group_expression(e)?,
            None => None,
        };
        match group {
            Some(group) => {
                let place = Self::group_place(Ty::Group(group));
                self.define(v.name.clone(), Symbol::Variable(place, None));
                Ok(true)
            }
            None if declared => self.refuse("this cooperative group"),
            None => Ok(false),
        }
    }

    pub(super) fn group_place(ty: Ty) -> Place {
        let ty = match ty {
            Ty::Group(_) => ty,
            _ => Ty::Group(Group::Block),
        };
        Place {
            ty,
            volatile: false,
            constant: false,
            variable: None,
            kind: PlaceKind::Register { base: 0, flag: None },
        }
    }
}

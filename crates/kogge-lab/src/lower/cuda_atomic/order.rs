//! Memory orders, scopes, and the fence that has both.

use crate::lang::ast::{Expr, ExprKind};
use crate::lower::ty::{ThreadScope, Ty};
use crate::lower::value::Val;
use crate::lower::{Lower, Result};
use crate::machine::ins::{Ins, Op, atomic, fence};

/// As libcu++ numbers them, but for `consume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Relaxed = 0,
    Acquire = 2,
    Release = 3,
    AcqRel = 4,
    SeqCst = 5,
}

impl Order {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Relaxed, "cuda::memory_order_relaxed"),
        (Self::Acquire, "cuda::memory_order_acquire"),
        (Self::Release, "cuda::memory_order_release"),
        (Self::AcqRel, "cuda::memory_order_acq_rel"),
        (Self::SeqCst, "cuda::memory_order_seq_cst"),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(order, _)| *order == self).map_or("", |(_, name)| name)
    }

    pub(super) const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    pub(super) const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }

    /// What an atomic of this order has added to its operation.
    pub(super) const fn flags(self) -> u32 {
        let acquires = if self.acquires() { atomic::ACQUIRES } else { 0 };
        acquires | if self.releases() { atomic::RELEASES } else { 0 }
    }

    /// The order of a comparison that fails where the source names one order alone.
    pub(super) const fn on_failure(self) -> Self {
        match self {
            Self::AcqRel => Self::Acquire,
            Self::Release => Self::Relaxed,
            order => order,
        }
    }
}

const THREAD: u64 = 10;
const SCOPES: [(&str, u64); 4] = [
    ("cuda::thread_scope_system", 0),
    ("cuda::thread_scope_device", 1),
    ("cuda::thread_scope_block", 2),
    ("cuda::thread_scope_thread", THREAD),
];

impl ThreadScope {
    pub(in crate::lower) const fn value(self) -> u64 {
        match self {
            Self::System => 0,
            Self::Device => 1,
            Self::Block => 2,
        }
    }
}

impl Lower<'_> {
    /// The value of an order or a scope of this name.
    pub(in crate::lower) fn order_or_scope(name: &str) -> Option<Val> {
        let order = Order::ALL.iter().find(|(_, n)| *n == name).map(|(order, _)| *order as u64);
        let scope = || SCOPES.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
        order.or_else(scope).map(|value| Val::constant(Ty::INT, value))
    }

    /// An order among arguments; without one it is the strictest.
    pub(super) fn memory_order(&mut self, e: Option<&Expr>) -> Result<Order> {
        let Some(e) = e else { return Ok(Order::SeqCst) };
        let value = self.enumeration(e, "cuda::memory_order", "cuda::thread_scope")?;
        let found = Order::ALL.iter().find(|(order, _)| *order as u64 == value);
        found.map(|(order, _)| *order).ok_or_else(|| e.pos.error("this is no memory order"))
    }

    pub(super) fn thread_scope(&mut self, e: &Expr) -> Result<ThreadScope> {
        match self.enumeration(e, "cuda::thread_scope", "cuda::memory_order")? {
            0 => Ok(ThreadScope::System),
            1 => Ok(ThreadScope::Device),
            2 => Ok(ThreadScope::Block),
            THREAD => Err(e.pos.outside("`cuda::thread_scope_thread`")),
            _ => Err(e.pos.error("this is no scope of threads")),
        }
    }

    /// The value of an enumeration, which is neither a number nor of another one.
    fn enumeration(&mut self, e: &Expr, wanted: &str, other: &str) -> Result<u64> {
        let wrong = match &e.kind {
            ExprKind::Integer(..) | ExprKind::Float(..) | ExprKind::Bool(_) => true,
            ExprKind::Name(path) => path.last().starts_with(other),
            _ => false,
        };
        if wrong {
            return Err(e.pos.error(format!("a `{wanted}` is needed here")));
        }
        match self.constant_value(e) {
            Ok((value, _)) => Ok(value),
            Err(_) if self.type_of(e)?.scalar().is_some() => {
                Err(e.pos.outside(format!("a `{wanted}` that is known only at run time")))
            }
            Err(error) => Err(error),
        }
    }

    /// `cuda::atomic_thread_fence(order, scope)`.
    pub(in crate::lower) fn thread_fence(
        &mut self,
        name: &str,
        arguments: &[Expr],
    ) -> Result<Option<Val>> {
        let most = match name {
            "cuda::atomic_thread_fence" => 2,
            "cuda::std::atomic_thread_fence" => 1,
            _ => return Ok(None),
        };
        if arguments.is_empty() || arguments.len() > most {
            let takes = if most == 1 { "an order" } else { "an order and a scope" };
            return Err(self.pos.error(format!("`{name}` takes {takes}")));
        }
        let order = self.memory_order(arguments.first())?;
        let scope = match arguments.get(1) {
            Some(e) => self.thread_scope(e)?,
            None => ThreadScope::System,
        };
        if order != Order::Relaxed {
            let block = if scope == ThreadScope::Block { fence::BLOCK } else { 0 };
            let no_acquire = if order.acquires() { 0 } else { fence::NO_ACQUIRE };
            let no_release = if order.releases() { 0 } else { fence::NO_RELEASE };
            self.emit(Ins { x: block | no_acquire | no_release, ..Ins::new(Op::Fence) })?;
            self.barrier = self.code.len();
        }
        Ok(Some(Val::nothing(Ty::Void)))
    }
}

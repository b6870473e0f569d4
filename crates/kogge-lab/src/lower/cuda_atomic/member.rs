//! Members of atomics: accesses of an order.

use std::sync::Arc;

use super::order::Order;
use crate::lang::ast::Expr;
use crate::lower::taint::Taint;
use crate::lower::ty::{Atomic, ThreadScope, Ty};
use crate::lower::value::{Place, PlaceKind, Val};
use crate::lower::{Lower, Result};
use crate::machine::alu::is_float;
use crate::machine::ins::{AtomicOp, Op, atomic};

/// An atomic and its address.
struct Subject {
    atomic: Arc<Atomic>,
    address: Val,
}

impl Lower<'_> {
    /// `flag.load(order)` and its like.
    pub(in crate::lower) fn atomic_call(
        &mut self,
        place: &Place,
        name: &str,
        arguments: &[Expr],
    ) -> Result<Val> {
        let Ty::Atomic(atomic) = place.ty.clone() else {
            return self.refuse("this member");
        };
        let read_only = name == "load";
        if !(read_only || atomic.reference) {
            self.check_assignable(place)?;
        }
        let address = self.load(place)?;
        let subject = Subject { atomic, address };
        match name {
            "load" => self.load_member(&subject, arguments),
            "store" => self.store_member(&subject, arguments),
            "compare_exchange_weak" | "compare_exchange_strong" => {
                self.compare_member(&subject, name, arguments)
            }
            "wait" | "notify_one" | "notify_all" => {
                let error = self.pos.outside(format!("`{name}` of an atomic"));
                Err(error.with_help("a loop over `load` waits as well"))
            }
            "is_lock_free" | "address" => self.refuse(format!("`{name}` of an atomic")),
            _ => match operation(name) {
                Some(op) => self.update_member(&subject, (op, name), arguments),
                None => Err(self.no_atomic_member(&subject.atomic, name)),
            },
        }
    }

    fn load_member(&mut self, subject: &Subject, arguments: &[Expr]) -> Result<Val> {
        self.check_count("load", arguments, 0, 1)?;
        let order = self.memory_order(arguments.first())?;
        if order.releases() && order != Order::SeqCst {
            return Err(self.wrong_order("load", order));
        }
        self.atomic_load(&subject.atomic, &subject.address, order)
    }

    fn store_member(&mut self, subject: &Subject, arguments: &[Expr]) -> Result<Val> {
        self.check_count("store", arguments, 1, 2)?;
        let order = self.memory_order(arguments.get(1))?;
        if order.acquires() && order != Order::SeqCst {
            return Err(self.wrong_order("store", order));
        }
        let value = self.atomic_value(&arguments[0], &subject.atomic.ty)?;
        self.atomic_store(&subject.atomic, &subject.address, &value, order)?;
        Ok(Val::nothing(Ty::Void))
    }

    /// `exchange` and the others that read and write.
    fn update_member(
        &mut self,
        subject: &Subject,
        (op, name): (AtomicOp, &str),
        arguments: &[Expr],
    ) -> Result<Val> {
        self.check_operation(&subject.atomic, op, name)?;
        self.check_count(name, arguments, 1, 2)?;
        let order = self.memory_order(arguments.get(1))?;
        let value = self.atomic_value(&arguments[0], &subject.atomic.ty)?;
        self.atomic_update(&subject.atomic, &subject.address, op, &value, order)
    }

    /// `compare_exchange_strong(expected, desired)`: whether it was as expected; if not, `expected`
    /// is what was there. `compare_exchange_weak` is the same, as nothing here fails for no reason.
    fn compare_member(&mut self, subject: &Subject, name: &str, arguments: &[Expr]) -> Result<Val> {
        self.check_count(name, arguments, 2, 4)?;
        let pos = self.pos;
        let success = self.memory_order(arguments.get(2))?;
        let failure = match arguments.get(3) {
            Some(e) => self.memory_order(Some(e))?,
            None => success.on_failure(),
        };
        if failure.releases() && failure != Order::SeqCst {
            return Err(self.wrong_order(&format!("a failed `{name}`"), failure));
        }
        let ty = &subject.atomic.ty;
        let expected = self.place(&arguments[0])?;
        self.pos = pos;
        if expected.ty != *ty || expected.constant {
            let ty = self.describe(ty);
            let error = format!("`{name}` writes what it finds to a variable of type `{ty}`");
            return Err(self.pos.error(error).with_help("its first argument must be one"));
        }
        let value = self.load(&expected)?;
        let word = self.as_word(&value)?;
        let desired = self.atomic_value(&arguments[1], ty)?;
        let desired = self.as_word(&desired)?;
        let acquires = if failure.acquires() { atomic::FAILURE_ACQUIRES } else { 0 };
        let flags = success.flags() | atomic::READS_ON_FAILURE | acquires;
        let operands = [word.clone(), desired];
        let old = self.access(subject, AtomicOp::CompareSwap, flags, &operands)?;
        let equal = self.op(Op::Eq, 0, &old, &word, Ty::BOOL)?;
        let found = self.of_word(Val { taint: Taint::data(), ..old }, ty)?;
        self.store_unless(&equal, &expected, &found)?;
        Ok(Val { taint: Taint::default(), ..equal })
    }

    /// Stores a value where a condition is false. Where it is true a register holds that value
    /// already, but memory would be written for others to see.
    fn store_unless(&mut self, condition: &Val, place: &Place, v: &Val) -> Result<()> {
        if let PlaceKind::Register { .. } = place.kind {
            return self.store(place, v);
        }
        let condition = self.register(condition)?;
        let skip = self.jump(Op::JumpNonZero, condition)?;
        self.store(place, v)?;
        self.land(&[skip]);
        Ok(())
    }

    pub(super) fn atomic_load(
        &mut self,
        atomic: &Arc<Atomic>,
        address: &Val,
        order: Order,
    ) -> Result<Val> {
        let subject = Subject { atomic: atomic.clone(), address: address.clone() };
        // Of a sequentially consistent load, only what a load can have.
        let flags = order.flags() & atomic::ACQUIRES;
        let word = self.access(&subject, AtomicOp::Load, flags, &[])?;
        self.of_word(Val { taint: Taint::data(), ..word }, &atomic.ty)
    }

    pub(super) fn atomic_store(
        &mut self,
        atomic: &Arc<Atomic>,
        address: &Val,
        value: &Val,
        order: Order,
    ) -> Result<()> {
        let subject = Subject { atomic: atomic.clone(), address: address.clone() };
        let word = self.as_word(value)?;
        let flags = order.flags() & atomic::RELEASES;
        self.access(&subject, AtomicOp::Store, flags, &[word])?;
        Ok(())
    }

    /// Reads and writes; what was there.
    pub(super) fn atomic_update(
        &mut self,
        atomic: &Arc<Atomic>,
        address: &Val,
        op: AtomicOp,
        value: &Val,
        order: Order,
    ) -> Result<Val> {
        let subject = Subject { atomic: atomic.clone(), address: address.clone() };
        let word = self.as_word(value)?;
        let old = self.access(&subject, op, order.flags(), &[word])?;
        self.of_word(old, &atomic.ty)
    }

    fn access(
        &mut self,
        subject: &Subject,
        op: AtomicOp,
        flags: u32,
        operands: &[Val],
    ) -> Result<Val> {
        let block = if subject.atomic.scope == ThreadScope::Block { atomic::BLOCK } else { 0 };
        let ty = self.word(&subject.atomic.ty);
        self.atomic_access(op, flags | block, ty, &subject.address, operands)
    }

    /// Refuses an operation that a type's atomics have not.
    pub(super) fn check_operation(
        &self,
        atomic: &Arc<Atomic>,
        op: AtomicOp,
        name: &str,
    ) -> Result<()> {
        use AtomicOp as A;
        let bitwise = matches!(op, A::And | A::Or | A::Xor);
        let extreme = matches!(op, A::Min | A::Max);
        let float = |ty: &Ty| ty.scalar().is_some_and(is_float);
        let missing = match &atomic.ty {
            _ if op == A::Exchange => false,
            Ty::Scalar(_) | Ty::Pointer(_) if extreme => atomic.std,
            Ty::Scalar(s) => bitwise && is_float(*s),
            Ty::Pointer(_) => bitwise,
            _ => true,
        };
        if missing {
            return Err(self.no_atomic_member(atomic, name));
        }
        let pointer = matches!(atomic.ty, Ty::Pointer(_)) && op != A::Exchange;
        if pointer || extreme && float(&atomic.ty) {
            let ty = self.describe(&Ty::Atomic(atomic.clone()));
            return self.refuse(format!("`{name}` of `{ty}`"));
        }
        Ok(())
    }

    pub(super) fn no_atomic_member(&self, atomic: &Arc<Atomic>, name: &str) -> crate::Diagnostic {
        let ty = self.describe(&Ty::Atomic(atomic.clone()));
        self.pos.error(format!("`{ty}` has no member `{name}`"))
    }

    fn check_count(&self, name: &str, given: &[Expr], least: usize, most: usize) -> Result<()> {
        if (least..=most).contains(&given.len()) {
            return Ok(());
        }
        let given = given.len();
        let error = format!("`{name}` takes {least} to {most} arguments, here it is given {given}");
        Err(self.pos.error(error))
    }

    fn wrong_order(&self, what: &str, order: Order) -> crate::Diagnostic {
        let what = if what.contains('`') { what.to_owned() } else { format!("a `{what}`") };
        self.pos.error(format!("{what} cannot have the order `{}`", order.name()))
    }
}

/// What a member does that reads and writes.
fn operation(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "exchange" => AtomicOp::Exchange,
        "fetch_add" => AtomicOp::Add,
        "fetch_sub" => AtomicOp::Sub,
        "fetch_and" => AtomicOp::And,
        "fetch_or" => AtomicOp::Or,
        "fetch_xor" => AtomicOp::Xor,
        "fetch_min" => AtomicOp::Min,
        "fetch_max" => AtomicOp::Max,
        _ => return None,
    })
}

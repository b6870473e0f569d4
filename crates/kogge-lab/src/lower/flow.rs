//! Where control goes: whether a body can be left at its end.

use crate::lang::ast::{Expr, ExprKind, Stmt, StmtKind};

/// Whether control may reach the end of these statements; where that depends on a value, it may.
pub(super) fn may_end(body: &[Stmt]) -> bool {
    body.iter().all(passes)
}

/// Whether control may go from a statement to the next.
fn passes(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => false,
        StmtKind::Block(body) => may_end(body),
        StmtKind::If { yes, no: Some(no), .. } => passes(yes) || passes(no),
        StmtKind::While(condition, body) => !is_true(condition) || breaks(body),
        StmtKind::For { condition, body, .. } => {
            condition.as_ref().is_some_and(|c| !is_true(c)) || breaks(body)
        }
        StmtKind::Do(body, condition) => {
            breaks(body) || (!is_true(condition) && (passes(body) || continues(body)))
        }
        StmtKind::Switch(_, body) => {
            let default = body.iter().any(|s| matches!(s.kind, StmtKind::Case(None)));
            let label = |s: &Stmt| matches!(s.kind, StmtKind::Case(_));
            let last = body.iter().rposition(label).map_or(0, |at| at + 1);
            !default || body.iter().any(breaks) || may_end(&body[last..])
        }
        _ => true,
    }
}

fn is_true(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Bool(true) | ExprKind::Integer(1.., _))
}

/// Whether a `break` within is one of what surrounds the statement.
fn breaks(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break => true,
        StmtKind::Block(body) => body.iter().any(breaks),
        StmtKind::If { yes, no, .. } => breaks(yes) || no.as_deref().is_some_and(breaks),
        _ => false,
    }
}

/// Whether a `continue` within is one of the loop that surrounds the statement.
fn continues(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Continue => true,
        StmtKind::Block(body) | StmtKind::Switch(_, body) => body.iter().any(continues),
        StmtKind::If { yes, no, .. } => continues(yes) || no.as_deref().is_some_and(continues),
        _ => false,
    }
}

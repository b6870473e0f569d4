//! What evaluating an expression does: whether it assigns, what it costs, whether it names memory.

use crate::device::ir::{Block, Expr, Statement, Type, Word};

/// Whether it names memory: a variable, or a field or an element of one.
pub(super) fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(_) => true,
        Expr::Field(value, _) | Expr::Index(value, _) => is_place(value),
        _ => false,
    }
}

/// Whether evaluating it takes a few instructions; no word of the language can fail.
pub(super) fn cheap(expr: &Expr) -> bool {
    let costly = |word: &Word| {
        use Word::{Div, Exp, Exp2, Ln, Log2, Powi, Rem, Sqrt};
        matches!(word, Div | Exp | Exp2 | Ln | Log2 | Powi | Rem | Sqrt)
    };
    match expr {
        Expr::Variable(_) | Expr::Integer(..) | Expr::Float(..) | Expr::Bool(_) => true,
        Expr::Constant(ty, _) => matches!(ty, Type::Scalar(_)),
        Expr::Word(word, operands) => !costly(word) && operands.iter().all(cheap),
        Expr::And(left, right) | Expr::Or(left, right) => cheap(left) && cheap(right),
        Expr::Cast(value, _) | Expr::Field(value, _) => cheap(value),
        _ => false,
    }
}

/// Whether evaluating it assigns to a variable.
pub(super) fn assigns(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(_)
        | Expr::Integer(..)
        | Expr::Float(..)
        | Expr::Bool(_)
        | Expr::Constant(..) => false,
        Expr::Word(_, operands) | Expr::Array(operands) | Expr::Call(_, operands) => {
            operands.iter().any(assigns)
        }
        Expr::And(left, right) | Expr::Or(left, right) | Expr::Index(left, right) => {
            assigns(left) || assigns(right)
        }
        Expr::Cast(value, _) | Expr::Field(value, _) | Expr::Repeat(value, _) => assigns(value),
        Expr::Struct(_, fields) => fields.iter().any(|(_, value)| assigns(value)),
        Expr::If(condition, yes, no) => {
            assigns(condition) || block_assigns(yes) || block_assigns(no)
        }
        Expr::Match(value, arms) => {
            assigns(value) || arms.iter().any(|arm| block_assigns(&arm.body))
        }
        Expr::Block(block) => block_assigns(block),
    }
}

fn block_assigns(block: &Block) -> bool {
    let statements = block.statements.iter().any(|statement| match statement {
        Statement::Assign { .. } | Statement::Update { .. } => true,
        Statement::Let { value, .. } | Statement::Expr(value) => assigns(value),
        Statement::For { body, .. } => block_assigns(body),
    });
    statements || block.value.as_deref().is_some_and(assigns)
}

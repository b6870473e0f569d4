//! From the names of types and operators to compiled scans.
//!
//! The engine's code for one pair of type and operator is large (every SIMD level, every kind of
//! memory), so it is compiled for the sums that people scan on the largest data; the others take the
//! [compact](Compact) form, on all cores too and with the same bits.
//!
//! Not every pair needs code of its own. Sums, products and bitwise operators of signed integers
//! have the bits of unsigned ones; `all` and `any` are the minimum and the maximum of truth values;
//! argmin and argmax compare in the widest type of a kind.

use crate::columns::Columns;
use crate::line::Line;
use crate::recipe::{LastPresent, Place, Plain, Recipe, Recurrence};
use crate::{ColumnsScan, Dtype, LineScan, Op, Spec};
use kogge::ops::*;
use kogge::{Compact, bf16, f16};
use std::marker::PhantomData;

/// A recipe, its types erased.
pub trait Compiled {
    /// See [`Spec::line`].
    fn line(&self, spec: &Spec) -> Box<dyn LineScan>;
    /// See [`Spec::columns`].
    fn columns(&self, spec: &Spec, width: usize) -> Box<dyn ColumnsScan>;
    /// See [`Spec::state_size`].
    fn state_size(&self) -> usize;
}

/// A recipe.
struct Of<R>(PhantomData<R>);

impl<R: Recipe> Compiled for Of<R> {
    fn line(&self, spec: &Spec) -> Box<dyn LineScan> {
        Box::new(Line::<R>::new(spec))
    }
    fn columns(&self, spec: &Spec, width: usize) -> Box<dyn ColumnsScan> {
        Box::new(Columns::<R>::new(spec, width))
    }
    fn state_size(&self) -> usize {
        Columns::<R>::state_size()
    }
}

fn of<R: Recipe>() -> Box<dyn Compiled> {
    Box::new(Of::<R>(PhantomData))
}

fn fast<T, A, O>() -> Box<dyn Compiled>
where
    Plain<T, A, O>: Recipe,
{
    of::<Plain<T, A, O>>()
}

macro_rules! by_type {
    ($dtype:expr; $($variant:ident => $recipe:ty),+ $(,)?) => {
        match $dtype {
            $(Dtype::$variant => of::<$recipe>(),)+
            #[allow(unreachable_patterns, reason = "some lists name every type")]
            other => unreachable!("Op::types lets no {other} through"),
        }
    };
}

/// Integers whose signs don't matter.
macro_rules! by_width {
    ($spec:expr, $operator:ty) => {
        by_type! { $spec.types.element.unsigned();
            U8 => Plain<u8, u8, Compact<$operator>>,
            U16 => Plain<u16, u16, Compact<$operator>>,
            U32 => Plain<u32, u32, Compact<$operator>>,
            U64 => Plain<u64, u64, Compact<$operator>>,
        }
    };
}

/// Floats in their own accumulator or in `f64`.
macro_rules! by_float {
    ($spec:expr, $operator:ty) => {
        match ($spec.types.element, $spec.types.accumulator) {
            (Dtype::F32, Dtype::F64) => of::<Plain<f32, f64, Compact<$operator>>>(),
            (Dtype::F16, Dtype::F64) => of::<Plain<f16, f64, Compact<$operator>>>(),
            (Dtype::BF16, Dtype::F64) => of::<Plain<bf16, f64, Compact<$operator>>>(),
            (element, _) => by_type! { element;
                F16 => Plain<f16, f32, Compact<$operator>>,
                BF16 => Plain<bf16, f32, Compact<$operator>>,
                F32 => Plain<f32, f32, Compact<$operator>>,
                F64 => Plain<f64, f64, Compact<$operator>>,
            },
        }
    };
}

macro_rules! by_order {
    ($spec:expr, $operator:ty) => {
        by_type! { $spec.types.element;
            Bool => Plain<u8, u8, Compact<$operator>>,
            I8 => Plain<i8, i8, Compact<$operator>>,
            I16 => Plain<i16, i16, Compact<$operator>>,
            I32 => Plain<i32, i32, Compact<$operator>>,
            I64 => Plain<i64, i64, Compact<$operator>>,
            U8 => Plain<u8, u8, Compact<$operator>>,
            U16 => Plain<u16, u16, Compact<$operator>>,
            U32 => Plain<u32, u32, Compact<$operator>>,
            U64 => Plain<u64, u64, Compact<$operator>>,
            F16 => Plain<f16, f32, Compact<$operator>>,
            BF16 => Plain<bf16, f32, Compact<$operator>>,
            F32 => Plain<f32, f32, Compact<$operator>>,
            F64 => Plain<f64, f64, Compact<$operator>>,
        }
    };
}

macro_rules! by_place {
    ($spec:expr, $operator:ty) => {
        by_type! { $spec.types.element;
            I64 => Place<i64, Compact<$operator>>,
            U64 => Place<u64, Compact<$operator>>,
            F64 => Place<f64, Compact<$operator>>,
        }
    };
}

/// Sums of the types that files of numbers hold; smaller integers are summed in 64 bits.
fn sum(spec: &Spec) -> Option<Box<dyn Compiled>> {
    match (spec.types.element, spec.types.accumulator) {
        (Dtype::I64 | Dtype::U64, _) => Some(fast::<u64, u64, Sum>()),
        (Dtype::F32, Dtype::F64) => Some(fast::<f32, f64, Sum>()),
        (Dtype::F32, _) => Some(fast::<f32, f32, Sum>()),
        (Dtype::F64, _) => Some(fast::<f64, f64, Sum>()),
        (Dtype::F16, Dtype::F32) => Some(fast::<f16, f32, Sum>()),
        (Dtype::BF16, Dtype::F32) => Some(fast::<bf16, f32, Sum>()),
        _ => None,
    }
}

/// The compiled scan for this operator and these types, which [`Op::types`] has checked.
pub fn recipe(spec: &Spec) -> Box<dyn Compiled> {
    if let (Op::Sum, Some(fast)) = (spec.op, sum(spec)) {
        return fast;
    }
    let float = spec.types.element.is_float();
    match spec.op {
        Op::Sum if float => by_float!(spec, Sum),
        Op::Sum => by_width!(spec, Sum),
        Op::Product if float => by_float!(spec, Product),
        Op::Product => by_width!(spec, Product),
        Op::Min => by_order!(spec, Min),
        Op::Max => by_order!(spec, Max),
        Op::BitAnd => by_width!(spec, BitAnd),
        Op::BitOr => by_width!(spec, BitOr),
        Op::BitXor => by_width!(spec, BitXor),
        Op::All => of::<Plain<u8, u8, Compact<Min>>>(),
        Op::Any => of::<Plain<u8, u8, Compact<Max>>>(),
        Op::LogAddExp => by_float!(spec, LogAddExp),
        Op::LastValid if float => by_float!(spec, LastValid),
        Op::LastValid => by_width!(spec, LastPresent),
        Op::ArgMin => by_place!(spec, ArgMin),
        Op::ArgMax => by_place!(spec, ArgMax),
        Op::Affine => by_type! { spec.types.element;
            I64 => Recurrence<u64>,
            U64 => Recurrence<u64>,
            F32 => Recurrence<f32>,
            F64 => Recurrence<f64>,
        },
    }
}

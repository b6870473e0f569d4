//! From the names of types and operators to compiled scans.
//!
//! The engine's code for one pair of type and operator is large (every SIMD level, every kind of
//! memory), so it is compiled for the sums that people scan on the largest data. The others share
//! [compact](kogge::Compact) code for each type, on all cores too (of two on
//! [one](crate::share::alone), where operators are exact) and with the same bits, and have
//! but their loops to themselves, behind a [pointer](Pointer).
//!
//! Not every type needs code of its own. Integers are unsigned ones, which hold the [bits](Bits) of
//! whatever is meant, and so are what argmin and argmax compare, in the widest type of a kind;
//! `all` and `any` are the minimum and the maximum of truth values.

use crate::columns::Columns;
use crate::line::Line;
use crate::pointer::{Bits, Pointer};
use crate::recipe::{LastPresent, Place, Plain, Recipe, Recurrence};
use crate::{ColumnsScan, Dtype, LineScan, Op, Spec};
use kogge::ops::*;
use kogge::{Accumulate, Element, Number, Operator, bf16, f16};

/// A recipe, its types erased.
pub trait Compiled {
    /// See [`Spec::line`].
    fn line(&self, spec: &Spec) -> Box<dyn LineScan>;
    /// See [`Spec::columns`].
    fn columns(&self, spec: &Spec, width: usize) -> Box<dyn ColumnsScan>;
    /// See [`Spec::state_size`].
    fn state_size(&self) -> usize;
}

impl<R: Recipe> Compiled for R {
    fn line(&self, spec: &Spec) -> Box<dyn LineScan> {
        Box::new(Line::new(self, spec))
    }
    fn columns(&self, spec: &Spec, width: usize) -> Box<dyn ColumnsScan> {
        Box::new(Columns::new(self, spec, width))
    }
    fn state_size(&self) -> usize {
        Columns::<R>::state_size()
    }
}

type Found = Box<dyn Compiled>;

/// Sums of the types that files of numbers hold; smaller integers are summed in 64 bits.
fn sum(spec: &Spec) -> Option<Found> {
    fn fast<T: Accumulate<A>, A: Element<Accumulator = A>>() -> Found
    where
        Sum: Operator<A>,
    {
        Box::new(Plain::<T, A, Sum>::new(Sum))
    }
    match (spec.types.element, spec.types.accumulator) {
        (Dtype::I64 | Dtype::U64, _) => Some(fast::<u64, u64>()),
        (Dtype::F32, Dtype::F64) => Some(fast::<f32, f64>()),
        (Dtype::F32, _) => Some(fast::<f32, f32>()),
        (Dtype::F64, _) => Some(fast::<f64, f64>()),
        (Dtype::F16, Dtype::F32) => Some(fast::<f16, f32>()),
        (Dtype::BF16, Dtype::F32) => Some(fast::<bf16, f32>()),
        _ => None,
    }
}

/// Numbers `T` accumulated in `A`.
fn plain<T, A, const EXACT: bool>(operator: impl Operator<A> + Send + 'static) -> Found
where
    T: Accumulate<A>,
    A: Element<Accumulator = A>,
{
    Box::new(Plain::<T, A, _>::new(Pointer::<A, EXACT>::to(operator)))
}

/// Integers `T` as unsigned ones of the same bits.
fn bits<T, B>(operator: impl Operator<T> + Send + 'static) -> Found
where
    T: Element,
    B: Element<Accumulator = B>,
{
    plain::<B, B, true>(Bits::<T, _>::of(operator))
}

/// Numbers `T` and their places.
fn place<T: Padded>(operator: impl Operator<Indexed<T>> + Send + 'static) -> Found
where
    Indexed<T>: Element,
{
    Box::new(Place(Pointer::<Indexed<u64>, true>::to(Bits::<Indexed<T>, _>::of(operator))))
}

/// Maps of numbers `T`.
fn recurrence<T: Number, const EXACT: bool>() -> Found
where
    Affine<T>: Element<Accumulator = Affine<T>>,
    Compose: Operator<Affine<T>>,
{
    Box::new(Recurrence::<T, _>::new(Pointer::<Affine<T>, EXACT>::to(Compose)))
}

macro_rules! by_type {
    ($dtype:expr; $($($variant:ident)|+ => $recipe:expr),+ $(,)?) => {
        match $dtype {
            $($(Dtype::$variant)|+ => $recipe,)+
            #[allow(unreachable_patterns, reason = "some lists name every type")]
            other => unreachable!("Op::types lets no {other} through"),
        }
    };
}

/// Integers whose signs don't matter.
macro_rules! by_width {
    ($spec:expr, $operator:expr) => {
        by_type! { $spec.types.element.unsigned();
            U8 => plain::<u8, u8, true>($operator),
            U16 => plain::<u16, u16, true>($operator),
            U32 => plain::<u32, u32, true>($operator),
            U64 => plain::<u64, u64, true>($operator),
        }
    };
}

/// Floats in their own accumulator or in `f64`.
macro_rules! by_float {
    ($spec:expr, $operator:expr) => {
        match ($spec.types.element, $spec.types.accumulator) {
            (Dtype::F32, Dtype::F64) => plain::<f32, f64, false>($operator),
            (Dtype::F16, Dtype::F64) => plain::<f16, f64, false>($operator),
            (Dtype::BF16, Dtype::F64) => plain::<bf16, f64, false>($operator),
            (element, _) => by_type! { element;
                F16 => plain::<f16, f32, false>($operator),
                BF16 => plain::<bf16, f32, false>($operator),
                F32 => plain::<f32, f32, false>($operator),
                F64 => plain::<f64, f64, false>($operator),
            },
        }
    };
}

/// Floats of which one is chosen.
macro_rules! by_choice {
    ($spec:expr, $operator:expr) => {
        by_type! { $spec.types.element;
            F16 => plain::<f16, f32, true>($operator),
            BF16 => plain::<bf16, f32, true>($operator),
            F32 => plain::<f32, f32, true>($operator),
            F64 => plain::<f64, f64, true>($operator),
        }
    };
}

macro_rules! by_order {
    ($spec:expr, $operator:expr) => {
        by_type! { $spec.types.element;
            I8 => bits::<i8, u8>($operator),
            I16 => bits::<i16, u16>($operator),
            I32 => bits::<i32, u32>($operator),
            I64 => bits::<i64, u64>($operator),
            Bool | U8 => plain::<u8, u8, true>($operator),
            U16 => plain::<u16, u16, true>($operator),
            U32 => plain::<u32, u32, true>($operator),
            U64 => plain::<u64, u64, true>($operator),
            F16 | BF16 | F32 | F64 => by_choice!($spec, $operator),
        }
    };
}

macro_rules! by_place {
    ($spec:expr, $operator:expr) => {
        by_type! { $spec.types.element;
            I64 => place::<i64>($operator),
            U64 => place::<u64>($operator),
            F64 => place::<f64>($operator),
        }
    };
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
        Op::All => plain::<u8, u8, true>(Min),
        Op::Any => plain::<u8, u8, true>(Max),
        Op::LogAddExp => by_float!(spec, LogAddExp),
        Op::LastValid if float => by_choice!(spec, LastValid),
        Op::LastValid => by_width!(spec, LastPresent),
        Op::ArgMin => by_place!(spec, ArgMin),
        Op::ArgMax => by_place!(spec, ArgMax),
        Op::Affine => by_type! { spec.types.element;
            I64 | U64 => recurrence::<u64, true>(),
            F32 => recurrence::<f32, false>(),
            F64 => recurrence::<f64, false>(),
        },
    }
}

//! Which Rust types the language has, and their values as data.

use super::ir::{Scalar, Type, Value};

/// A type that a device knows: a primitive, `bool`, an array of such, or a `#[derive(Element)]`
/// struct of such.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of the operator language",
    note = "use i8…i64, u8…u64, f32, f64, arrays of them, or a `#[derive(kogge::Element)]` struct of them"
)]
pub trait DeviceType: Copy + 'static {
    /// The type as data.
    fn device_type() -> Type;

    /// This value as data.
    fn device_value(&self) -> Value;
}

macro_rules! scalars {
    ($($type:ident $scalar:ident $bits:expr;)+) => {$(
        impl DeviceType for $type {
            fn device_type() -> Type {
                Type::Scalar(Scalar::$scalar)
            }
            fn device_value(&self) -> Value {
                let bits: fn($type) -> u64 = $bits;
                Value::Scalar(bits(*self))
            }
        }
    )+};
}

scalars! {
    bool Bool |x| u64::from(x);
    i8 I8 |x| x as u64;
    i16 I16 |x| x as u64;
    i32 I32 |x| x as u64;
    i64 I64 |x| x as u64;
    u8 U8 |x| u64::from(x);
    u16 U16 |x| u64::from(x);
    u32 U32 |x| u64::from(x);
    u64 U64 |x| x;
    usize Usize |x| x as u64;
    f32 F32 |x| u64::from(x.to_bits());
    f64 F64 |x| x.to_bits();
}

impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    fn device_type() -> Type {
        Type::Array(Box::new(T::device_type()), N)
    }
    fn device_value(&self) -> Value {
        Value::Parts(self.iter().map(T::device_value).collect())
    }
}

//! Elements as CUDA C++ knows them: a type's name and, for a struct of the user's, its definition.

use kogge_core::ops::{Affine, Flagged, Indexed, Matrix2, Padded};
use kogge_core::{Element, bf16, f16};

/// A type in CUDA C++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceType {
    /// What it is called.
    pub name: String,
    /// Text that defines it; empty if the kernels do.
    pub definition: String,
}

/// An element that kernels can hold: a type of the same size, alignment and bytes exists in CUDA C++.
pub trait DeviceElement: Element {
    /// That type.
    fn device_type() -> DeviceType;
}

macro_rules! named {
    ($($type:ty => $name:literal;)+) => {$(
        impl DeviceElement for $type {
            fn device_type() -> DeviceType {
                DeviceType { name: $name.into(), definition: String::new() }
            }
        }
    )+};
}

named! {
    i8 => "signed char"; i16 => "short"; i32 => "int"; i64 => "long long";
    u8 => "unsigned char"; u16 => "unsigned short"; u32 => "unsigned"; u64 => "u64";
    f16 => "f16"; bf16 => "bf16"; f32 => "float"; f64 => "double";
}

fn of(template: &str, argument: &DeviceType) -> DeviceType {
    let DeviceType { name, definition } = argument;
    DeviceType { name: format!("{template}<{name}>"), definition: definition.clone() }
}

/// The unsigned integer that holds the flag beside a value of so many bytes.
pub(crate) fn flag_name(bytes: usize) -> &'static str {
    match bytes {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned",
        _ => "u64",
    }
}

impl<T: DeviceElement> DeviceElement for Affine<T>
where
    Self: Element,
{
    fn device_type() -> DeviceType {
        of("Affine", &<T as DeviceElement>::device_type())
    }
}
impl<T: DeviceElement> DeviceElement for Matrix2<T>
where
    Self: Element,
{
    fn device_type() -> DeviceType {
        of("Matrix2", &<T as DeviceElement>::device_type())
    }
}
impl<T: DeviceElement + Padded> DeviceElement for Indexed<T>
where
    Self: Element,
{
    fn device_type() -> DeviceType {
        of("Indexed", &<T as DeviceElement>::device_type())
    }
}
impl<T: DeviceElement + Padded> DeviceElement for Flagged<T>
where
    Self: Element,
{
    fn device_type() -> DeviceType {
        let DeviceType { name, definition } = <T as DeviceElement>::device_type();
        DeviceType { name: format!("Flagged<{name}, {}>", flag_name(size_of::<T>())), definition }
    }
}

//! Types of the language.

use super::{Translator, words};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

impl Translator<'_> {
    /// An expression that builds the `device::ir::Type`.
    pub(super) fn ty(&mut self, ty: &Type) -> TokenStream {
        self.check(ty);
        let krate = &self.krate;
        quote_spanned!(ty.span()=> <#ty as #krate::device::DeviceType>::device_type())
    }

    /// Refuses what no trait bound could refuse as clearly.
    fn check(&mut self, ty: &Type) {
        match ty {
            Type::Paren(inner) => self.check(&inner.elem),
            Type::Group(inner) => self.check(&inner.elem),
            Type::Array(array) => self.check(&array.elem),
            Type::Path(path) => {
                let Some(last) = path.path.segments.last() else { return };
                let name = last.ident.to_string();
                if let Some(advice) = words::instead_of_type(&name) {
                    self.errors
                        .at(ty, format!("`{name}` is not in the operator language; {advice}"));
                }
            }
            Type::Reference(_) | Type::Ptr(_) => {
                self.errors.at(
                    ty,
                    "there are no references in the operator language; take the value itself",
                );
            }
            Type::Tuple(_) => {
                self.errors.at(ty, "there are no tuples in the operator language; use an array or a `#[derive(kogge::Element)]` struct");
            }
            Type::Slice(_) => {
                self.errors.at(
                    ty,
                    "there are no slices in the operator language; use an array of constant length",
                );
            }
            _ => {
                self.errors.at(ty, "this type is not in the operator language; use numbers, arrays of them, or a `#[derive(kogge::Element)]` struct");
            }
        }
    }

    /// The variant of `device::ir::Scalar` that a cast goes to.
    pub(super) fn cast_target(&mut self, ty: &Type) -> Option<(String, TokenStream)> {
        let mut inner = ty;
        while let Type::Group(group) = inner {
            inner = &group.elem;
        }
        if let Type::Path(path) = inner
            && let Some(name) = path.path.get_ident().map(ToString::to_string)
            && let Some(variant) = words::scalar(&name)
        {
            let (ir, variant) = (self.ir(), super::hidden(variant));
            return Some((name, quote!(#ir::Scalar::#variant)));
        }
        let before = self.errors.is_empty();
        self.check(ty);
        if before == self.errors.is_empty() {
            self.errors.at(
                ty,
                "`as` casts to a number here; write i8, i16, i32, i64, u8, u16, u32, u64, f32 or f64",
            );
        }
        None
    }
}

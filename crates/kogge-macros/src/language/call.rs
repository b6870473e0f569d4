//! Calls: of functions, of methods, which are words of the language, and of the inner operator.

use super::expression::split;
use super::{Both, Translator, hidden, words};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Type};

impl Translator<'_> {
    pub(super) fn call(&mut self, call: &ExprCall) -> Both {
        let Expr::Path(path) = &*call.func else {
            return self.refuse(
                &call.func,
                "only functions are called here; call a `#[kogge::device]` function by its name",
            );
        };
        let arguments: Vec<_> = call.args.iter().map(|argument| self.expr(argument)).collect();
        let Some(last) = path.path.segments.last() else {
            return self.refuse(path, "name the function to call");
        };
        let name = last.ident.to_string();
        if let Some(primitive) = primitive(&path.path) {
            return self.associated(call, &primitive, &last.ident, arguments);
        }
        if path.path.is_ident(&self.function) {
            return self.refuse(path, format!("`{name}` calls itself, which no GPU allows; write a `for` over a constant range"));
        }
        if name.starts_with(char::is_uppercase) {
            return self.refuse(path, format!("`{name}(…)` is not in the operator language; write a struct literal with named fields"));
        }
        if !last.arguments.is_none() || path.qself.is_some() {
            return self.refuse(path, "functions have no type parameters here; write a `#[kogge::device]` function for this type");
        }
        let (ir, krate) = (self.ir(), &self.krate);
        let (rust, data) = split(arguments);
        let function = quote_spanned!(path.span()=>
            <#path as #krate::device::DeviceFunction>::function
        );
        Both {
            rust: quote!(#path(#(#rust),*)),
            data: quote!(#ir::Expr::Call(#ir::Callee::Device(#function), ::std::vec![#(#data),*])),
        }
    }

    /// `f32::from_bits(x)`, or a method written as `f32::max(x, y)`.
    fn associated(
        &mut self,
        call: &ExprCall,
        primitive: &str,
        name: &syn::Ident,
        arguments: Vec<Both>,
    ) -> Both {
        let from_bits = match primitive {
            "f32" => "F32FromBits",
            _ => "F64FromBits",
        };
        if name == "from_bits" && arguments.len() == 1 {
            let (ir, variant, path) = (self.ir(), hidden(from_bits), &call.func);
            let (rust, data) = split(arguments);
            return Both {
                rust: quote!(#path(#(#rust),*)),
                data: quote!(#ir::Expr::Word(#ir::Word::#variant, ::std::vec![#(#data),*])),
            };
        }
        if name == "from" {
            return self.refuse(
                name,
                format!(
                    "`{primitive}::from` is not in the operator language; write `x as {primitive}`"
                ),
            );
        }
        self.named_word(name, arguments)
    }

    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Both {
        if let Expr::Path(path) = &*call.receiver
            && let Some((inner, element)) = self.inner.clone()
            && path.path.is_ident(&inner)
        {
            return self.combine(call, &element);
        }
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(
                turbofish,
                "functions have no type parameters here; leave out the `::<…>`",
            );
        }
        let mut operands = vec![self.expr(&call.receiver)];
        operands.extend(call.args.iter().map(|argument| self.expr(argument)));
        self.named_word(&call.method, operands)
    }

    fn named_word(&mut self, name: &syn::Ident, operands: Vec<Both>) -> Both {
        let text = name.to_string();
        let Some(word) = words::method(&text) else {
            return self.refuse(name, words::instead_of_method(&text));
        };
        if operands.len() != word.arguments + 1 {
            let (takes, got) = (word.arguments, operands.len().saturating_sub(1));
            return self
                .refuse(name, format!("`.{text}()` takes {takes} argument(s) here, not {got}"));
        }
        self.word(name, word.function, word.variant, operands)
    }

    /// `inner.combine(left, right)` of the operator that this one wraps.
    fn combine(&mut self, call: &ExprMethodCall, element: &Type) -> Both {
        let receiver = &call.receiver;
        if call.method != "combine" || call.args.len() != 2 {
            return self.refuse(
                &call.method,
                "an inner operator has one use here: `.combine(left, right)`",
            );
        }
        let operands: Vec<_> = call.args.iter().map(|argument| self.expr(argument)).collect();
        let (ir, krate) = (self.ir(), &self.krate);
        let (rust, data) = split(operands);
        Both {
            rust: quote!(#krate::Operator::combine(#receiver, #(#rust),*)),
            data: quote!(#ir::Expr::Call(
                #ir::Callee::Combine(::std::boxed::Box::new(
                    #krate::device::DeviceOperator::<#element>::function(#receiver)
                )),
                ::std::vec![#(#data),*],
            )),
        }
    }
}

/// The primitive type that a path of two segments starts with.
fn primitive(path: &syn::Path) -> Option<String> {
    let first = path.segments.first().filter(|_| path.segments.len() == 2)?;
    Some(first.ident.to_string()).filter(|name| words::scalar(name).is_some())
}

//! Names of libcu++'s atomics: their types, memory orders and scopes.
//!
//! Elsewhere namespaces are skipped. These names keep theirs: `cuda::memory_order_relaxed` is one,
//! which no name of the source can be.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{AtomicExpr, Path, TypeExpr};
use crate::value::ScalarType;

/// Memory orders and scopes, without what stands before each.
const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const SCOPES: [&str; 4] = ["system", "device", "block", "thread"];

impl Parser {
    /// Whether a namespace is libcu++'s, or stands for it, and isn't the source's own.
    pub(super) fn is_cuda(&self, root: &str) -> bool {
        (root == "cuda" || self.is_template(&format!("cuda {root}")))
            && !self.is_template(&format!("own {root}"))
    }

    /// How many tokens ahead a name of libcu++ stands, and whether it is one of `cuda::std`.
    fn in_cuda(&self) -> Option<(usize, bool)> {
        let start = usize::from(self.is("::"));
        let root = self.ahead(start);
        if !self.ahead(start + 1).is("::") || !root.is_name() || !self.is_cuda(&root.text) {
            return None;
        }
        let std = self.ahead(start + 2).is("std") && self.ahead(start + 3).is("::");
        Some((start + if std { 4 } else { 2 }, std))
    }

    /// Whether a type of libcu++ is next.
    pub(super) fn at_cuda_type(&self) -> bool {
        let Some((n, _)) = self.in_cuda() else { return false };
        matches!(&*self.ahead(n).text, "atomic" | "atomic_ref") || self.at_cuda_enumeration()
    }

    /// Whether it is that of orders or scopes, whose values are constants.
    pub(super) fn at_cuda_enumeration(&self) -> bool {
        let Some((n, _)) = self.in_cuda() else { return false };
        matches!(&*self.ahead(n).text, "memory_order" | "thread_scope")
            && !self.ahead(n + 1).is("::")
    }

    /// The type of libcu++ that is next, if one is.
    pub(super) fn cuda_type(&mut self) -> Result<Option<TypeExpr>, Diagnostic> {
        let (true, Some((n, std))) = (self.at_cuda_type(), self.in_cuda()) else {
            return Ok(None);
        };
        let pos = self.pos();
        let name = self.ahead(n).text.clone();
        self.at += n + 1;
        if matches!(&*name, "memory_order" | "thread_scope") {
            return Ok(Some(TypeExpr::Scalar(ScalarType::I32)));
        }
        let arguments = if self.eat("<") { Some(self.template_arguments()?) } else { None };
        if self.is("::") {
            return Err(pos.outside(format!("members of the type `cuda::{name}`")));
        }
        let reference = &*name == "atomic_ref";
        Ok(Some(TypeExpr::Atomic(AtomicExpr { reference, std, arguments, pos })))
    }

    /// The order, scope or function of libcu++'s atomics that is next, if one is.
    pub(super) fn cuda_path(&mut self) -> Result<Option<Path>, Diagnostic> {
        let Some((n, std)) = self.in_cuda() else { return Ok(None) };
        let first = self.ahead(n).text.clone();
        let scoped =
            matches!(&*first, "memory_order" | "thread_scope") && self.ahead(n + 1).is("::");
        let last = if scoped { n + 2 } else { n };
        let word = self.ahead(last).text.clone();
        let pos = self.pos();
        let name = match &*word {
            "atomic_thread_fence" if std => "cuda::std::atomic_thread_fence".to_owned(),
            "atomic_thread_fence" => "cuda::atomic_thread_fence".to_owned(),
            word => match order_or_scope(if scoped { &first } else { "" }, word) {
                Some(name) => name,
                None => return Ok(None),
            },
        };
        if name.ends_with("_consume") {
            let error = pos.outside(format!("`{name}`"));
            return Err(error.with_help("`cuda::memory_order_acquire` orders more"));
        }
        self.at += last + 1;
        Ok(Some(Path::of(name.into(), pos)))
    }
}

/// The whole name of an order or a scope; the enumeration is empty where the source names none.
fn order_or_scope(enumeration: &str, word: &str) -> Option<String> {
    let of = |prefix: &str, words: &[&str]| {
        let bare = match word.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')) {
            Some(bare) => bare,
            // `memory_order::relaxed`; scopes have no such names.
            None if enumeration == prefix && prefix == "memory_order" => word,
            None => return None,
        };
        words.contains(&bare).then(|| format!("cuda::{prefix}_{bare}"))
    };
    if enumeration != "thread_scope"
        && let Some(order) =
            of("memory_order", &ORDERS).or_else(|| of("memory_order", &["consume"]))
    {
        return Some(order);
    }
    (enumeration != "memory_order").then(|| of("thread_scope", &SCOPES)).flatten()
}

//! What names mean.

use std::collections::HashMap;
use std::sync::Arc;

use super::ty::{Qualifiers, Ty};
use super::value::Place;
use crate::value::ScalarType;

#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A variable: its place, and its value where that is constant.
    Variable(Place, Option<u64>),
    Type(Ty, Qualifiers),
    Constant(u64, ScalarType),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scope(Arc<HashMap<Arc<str>, Symbol>>);

impl Scope {
    pub(super) fn get(&self, name: &str) -> Option<&Symbol> {
        self.0.get(name)
    }

    pub(super) fn insert(&mut self, name: Arc<str>, symbol: Symbol) {
        Arc::make_mut(&mut self.0).insert(name, symbol);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Symbol)> {
        self.0.iter()
    }
}

//! CUDA's vector types (`int4`, `dim3`), as structs.

use std::sync::Arc;

use super::Lower;
use super::scope::Scope;
use super::ty::{Field, StructInfo, Ty};
use crate::lang::Pos;
use crate::lang::ast::Struct;
use crate::value::ScalarType;

impl Lower<'_> {
    /// CUDA's vector types, as structs.
    pub(super) fn vector_type(&mut self, name: &str) -> Option<Ty> {
        let (base, lanes) = if name == "dim3" {
            (ScalarType::U32, 3)
        } else {
            let lanes = name.bytes().last().filter(|b| (b'1'..=b'4').contains(b))? - b'0';
            (vector_base(&name[..name.len() - 1])?, u32::from(lanes))
        };
        if let Some(&id) = self.struct_ids.get(name) {
            return Some(Ty::Struct(id));
        }
        let size = base.size() as u64;
        let align = match lanes {
            2 => 2 * size,
            4 => (4 * size).min(16),
            _ => size,
        };
        let field = |i: u32| Field {
            name: Arc::from(["x", "y", "z", "w"][i as usize]),
            ty: Ty::Scalar(base),
            offset: u64::from(i) * size,
            leaf: i as usize,
            volatile: false,
        };
        let id = self.structs.len();
        self.struct_ids.insert(name.to_owned(), id);
        self.structs.push(StructInfo {
            name: name.to_owned(),
            fields: (0..lanes).map(field).collect(),
            promoted: Vec::new(),
            size: u64::from(lanes) * size,
            align,
            leaves: (0..lanes).map(|i| (u64::from(i) * size, base)).collect(),
            in_memory: false,
            holds_atomic: false,
            decl: Arc::new(Struct::empty(Arc::from(name), Pos::default())),
            scope: Scope::default(),
            arguments: Vec::new(),
            bases: Vec::new(),
        });
        Some(Ty::Struct(id))
    }
}

fn vector_base(name: &str) -> Option<ScalarType> {
    use ScalarType as S;
    Some(match name {
        "char" => S::I8,
        "uchar" => S::U8,
        "short" => S::I16,
        "ushort" => S::U16,
        "int" => S::I32,
        "uint" => S::U32,
        "long" | "longlong" => S::I64,
        "ulong" | "ulonglong" => S::U64,
        "float" => S::F32,
        "double" => S::F64,
        _ => return None,
    })
}

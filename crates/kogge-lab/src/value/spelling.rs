//! Types as they are spelt: C's words in any order, and CUDA's vectors.

use super::ScalarType;

/// The integer type, or `double`, that C's words make, in whatever order they stand.
pub(super) fn of_words(name: &str) -> Option<ScalarType> {
    use ScalarType as S;
    let mut counts = [0usize; 7];
    for word in name.split(' ') {
        let known = ["signed", "unsigned", "short", "long", "int", "char", "double"];
        counts[known.iter().position(|k| *k == word)?] += 1;
    }
    let [signed, unsigned, short, long, int, char, double] = counts;
    if signed + unsigned > 1 {
        return None;
    }
    let (signed, unsigned) = match (short, long, int, char, double) {
        (0, 0, 0, 1, 0) => (S::I8, S::U8),
        (1, 0, 0 | 1, 0, 0) => (S::I16, S::U16),
        (0, 0, 0 | 1, 0, 0) => (S::I32, S::U32),
        (0, 1 | 2, 0 | 1, 0, 0) => (S::I64, S::U64),
        (0, 0, 0, 0, 1) if signed + unsigned == 0 => (S::F64, S::F64),
        _ => return None,
    };
    Some(if counts[1] == 1 { unsigned } else { signed })
}

/// The type of a vector's components and how many it has: 4 of `unsigned int` in `uint4`.
pub(super) fn vector(name: &str) -> Option<(ScalarType, usize)> {
    let base = name.strip_suffix(['1', '2', '3', '4'])?;
    let components = name[base.len()..].parse().ok()?;
    let ty = match base {
        "longlong" => ScalarType::I64,
        "ulonglong" => ScalarType::U64,
        "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "float"
        | "double" => ScalarType::from_name(base)?,
        _ => return None,
    };
    Some((ty, components))
}

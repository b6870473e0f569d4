//! What was done, for `--json`.

use serde_json::{Map, Value, json};

/// A scanned column or array.
pub struct Scanned {
    /// The input's columns; none for an array.
    pub columns: Vec<String>,
    /// The new column.
    pub name: Option<String>,
    /// The input's type.
    pub input_dtype: String,
    /// The output's type.
    pub dtype: String,
    /// Everything combined, where that is one number.
    pub total: Option<Value>,
    /// The output's shape, of an array.
    pub shape: Option<Vec<u64>>,
}

impl Scanned {
    /// The entry as JSON; what doesn't apply is left out.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        if !self.columns.is_empty() {
            map.insert("columns".into(), json!(self.columns));
        }
        if let Some(name) = &self.name {
            map.insert("as".into(), json!(name));
        }
        map.insert("input_dtype".into(), json!(self.input_dtype));
        map.insert("dtype".into(), json!(self.dtype));
        if let Some(shape) = &self.shape {
            map.insert("shape".into(), json!(shape));
        }
        if let Some(total) = &self.total {
            map.insert("total".into(), total.clone());
        }
        Value::Object(map)
    }
}

//! What was measured, as JSON.

use std::path::Path;

use crate::error::reason;
use kogge_lab::Diagnostic;
use serde_json::{Value, json};

/// The name under which a copy from device to device is recorded.
pub const COPY: &str = "copy";

/// The name under which kogge's own CUDA engine is recorded.
pub const KOGGE: &str = "kogge";

/// A set of timings on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The GPU.
    pub device: String,
    /// How often each was timed.
    pub repeats: u32,
    /// The timings.
    pub timings: Vec<Timing>,
}

/// The time of one lesson, of kogge, or of a copy, at one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The lesson, [`KOGGE`] or [`COPY`].
    pub name: String,
    /// The number of elements, of four bytes.
    pub n: u64,
    /// The median time in microseconds.
    pub median_us: f64,
    /// The least.
    pub least_us: f64,
    /// Whether the result was right.
    pub right: bool,
}

impl Timing {
    /// The bytes that a scan must read and write, by the median time.
    pub fn gigabytes_per_second(&self) -> f64 {
        8.0 * self.n as f64 / (self.median_us * 1e3)
    }
}

impl Record {
    /// A record without timings.
    #[cfg(feature = "cuda")]
    pub fn new(device: String, repeats: u32) -> Self {
        Self { device, repeats, timings: Vec::new() }
    }

    /// The record as JSON.
    pub fn to_json(&self) -> Result<String, Diagnostic> {
        let timing = |t: &Timing| json!({ "name": t.name, "n": t.n, "median_us": t.median_us, "least_us": t.least_us, "right": t.right });
        let timings: Vec<_> = self.timings.iter().map(timing).collect();
        Ok(format!(
            "{:#}\n",
            json!({ "device": self.device, "repeats": self.repeats, "timings": timings })
        ))
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// A file that can't be read or is no record.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Diagnostic::general(format!("cannot read {}: {}", path.display(), reason(&error)))
        })?;
        Self::from_json(&text).ok_or_else(|| {
            Diagnostic::general(format!("{} is no record of timings", path.display()))
        })
    }

    fn from_json(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let timing = |t: &Value| {
            let positive = |key: &str| t.get(key)?.as_f64().filter(|time| *time > 0.0);
            Some(Timing {
                name: t.get("name")?.as_str()?.to_owned(),
                n: t.get("n")?.as_u64().filter(|&n| n > 0)?,
                median_us: positive("median_us")?,
                least_us: positive("least_us")?,
                right: t.get("right")?.as_bool()?,
            })
        };
        Some(Self {
            device: value.get("device")?.as_str()?.to_owned(),
            repeats: u32::try_from(value.get("repeats")?.as_u64()?).ok()?,
            timings: value.get("timings")?.as_array()?.iter().map(timing).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_its_file() {
        let timing =
            Timing { name: "domino".into(), n: 7, median_us: 2.5, least_us: 2.0, right: true };
        let record = Record { device: "a GPU".into(), repeats: 3, timings: vec![timing] };
        assert_eq!(Record::from_json(&record.to_json().unwrap()), Some(record));
        assert_eq!(Record::from_json("{}"), None);
        assert_eq!(Record::from_json("no JSON"), None);
    }
}

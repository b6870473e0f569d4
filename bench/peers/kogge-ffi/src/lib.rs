//! The contenders in Rust for a process of another language: kogge, its rivals, and the copies.
//!
//! They are numbered, for each type and mode; calls are repeated on this side, so that the cost of
//! crossing over doesn't count. What the harness knows besides (the elements, whether a result is
//! right, the machine, how a record is written) is here too, so that it exists once.

use half::f16;
use kogge_bench::Dtype;
use kogge_bench::contender::{Contender, Mode, Role};
use kogge_bench::contenders;
use kogge_bench::machine::Machine;
use kogge_bench::record::{Record, Session};
use kogge_bench::rest::rest;
use kogge_bench::table::table;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

/// Types by number.
const DTYPES: [&str; 7] = ["i8", "i16", "i32", "i64", "f16", "f32", "f64"];

type Call = Box<dyn Fn(*const c_void, *mut c_void, usize, usize) + Send + Sync>;

/// A contender without its type.
struct Entry {
    name: CString,
    role: CString,
    threads: usize,
    checked: bool,
    call: Call,
}

fn threads() -> usize {
    rayon::current_num_threads()
}

fn entry<T: Dtype>(contender: Contender<'static, T>) -> Entry {
    let role = match contender.role {
        Role::Copy => c"copy",
        Role::Kogge => c"kogge",
        Role::Variant => c"variant",
        Role::Peer => c"peer",
        Role::Probe => c"probe",
    };
    Entry {
        name: CString::new(contender.name.as_str()).expect("names have no NUL"),
        role: role.to_owned(),
        threads: contender.threads,
        checked: contender.checked,
        call: Box::new(move |input, output, len, calls| {
            // SAFETY: `kogge_bench_call` hands on what its caller vouches for.
            let (input, output) = unsafe { (slice::<T>(input, len), slice_mut::<T>(output, len)) };
            for _ in 0..calls {
                contender.call(input, output);
            }
        }),
    }
}

/// # Safety
///
/// `len` values must be readable at `values`, and nobody may write them; null is an empty slice.
unsafe fn slice<'a, T>(values: *const c_void, len: usize) -> &'a [T] {
    if values.is_null() {
        return &[];
    }
    // SAFETY: passed on.
    unsafe { std::slice::from_raw_parts(values.cast(), len) }
}

/// # Safety
///
/// `len` values at `values` must be the caller's alone.
unsafe fn slice_mut<'a, T>(values: *mut c_void, len: usize) -> &'a mut [T] {
    // SAFETY: passed on.
    unsafe { std::slice::from_raw_parts_mut(values.cast(), len) }
}

fn entries<T: Dtype>(mode: Mode) -> Vec<Entry> {
    contenders::sum::<T>(mode, threads(), &[]).into_iter().map(entry).collect()
}

fn float_entries<T: Dtype>(mode: Mode) -> Vec<Entry> {
    let mut all = entries::<T>(mode);
    all.extend([1, threads()].map(|threads| entry(contenders::free_order::<T>(mode, threads))));
    all
}

/// The contenders of a type and mode; `None` if there is no such type.
fn registry(dtype: usize, in_place: bool) -> Option<&'static [Entry]> {
    static ALL: OnceLock<Vec<[Vec<Entry>; 2]>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let both = |of: fn(Mode) -> Vec<Entry>| [of(Mode::Into), of(Mode::InPlace)];
        vec![
            both(entries::<i8>),
            both(entries::<i16>),
            both(entries::<i32>),
            both(entries::<i64>),
            both(entries::<f16>),
            both(float_entries::<f32>),
            both(float_entries::<f64>),
        ]
    });
    Some(&all.get(dtype)?[usize::from(in_place)])
}

fn find(dtype: usize, in_place: bool, index: usize) -> Option<&'static Entry> {
    registry(dtype, in_place)?.get(index)
}

/// Contenders of a type and mode.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_count(dtype: usize, in_place: bool) -> usize {
    registry(dtype, in_place).map_or(0, <[_]>::len)
}

/// The name of a contender; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_name(dtype: usize, in_place: bool, index: usize) -> *const c_char {
    find(dtype, in_place, index).map_or(ptr::null(), |entry| entry.name.as_ptr())
}

/// The role of a contender, as in records; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_role(dtype: usize, in_place: bool, index: usize) -> *const c_char {
    find(dtype, in_place, index).map_or(ptr::null(), |entry| entry.role.as_ptr())
}

/// Threads that a contender may use.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_threads(dtype: usize, in_place: bool, index: usize) -> usize {
    find(dtype, in_place, index).map_or(0, |entry| entry.threads)
}

/// Whether a contender's output is the scan.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_checked(dtype: usize, in_place: bool, index: usize) -> bool {
    find(dtype, in_place, index).is_some_and(|entry| entry.checked)
}

/// Runs a contender `calls` times.
///
/// # Safety
///
/// `len` aligned values of the type must be readable at `input` (or null, in place) and writable
/// at `output`, which doesn't overlap it, by this call alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kogge_bench_call(
    dtype: usize,
    in_place: bool,
    index: usize,
    input: *const c_void,
    output: *mut c_void,
    len: usize,
    calls: usize,
) {
    if let Some(entry) = find(dtype, in_place, index) {
        (entry.call)(input, output, len, calls);
    }
}

/// Waits until no other thread of the process runs; `false` if one goes on for too long.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_rest() -> bool {
    rest()
}

/// Writes the elements of a type.
///
/// # Safety
///
/// `len` aligned values of the type must be writable at `values`, by this call alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kogge_bench_fill(dtype: usize, values: *mut c_void, len: usize) {
    fn fill<T: Dtype>(values: &mut [T]) {
        use rayon::prelude::*;
        values.par_iter_mut().enumerate().for_each(|(i, value)| *value = T::element_at(i as u64));
    }
    // SAFETY: passed on.
    unsafe {
        match DTYPES.get(dtype) {
            Some(&"i8") => fill::<i8>(slice_mut(values, len)),
            Some(&"i16") => fill::<i16>(slice_mut(values, len)),
            Some(&"i32") => fill::<i32>(slice_mut(values, len)),
            Some(&"i64") => fill::<i64>(slice_mut(values, len)),
            Some(&"f16") => fill::<f16>(slice_mut(values, len)),
            Some(&"f32") => fill::<f32>(slice_mut(values, len)),
            Some(&"f64") => fill::<f64>(slice_mut(values, len)),
            _ => {}
        }
    }
}

/// Whether values are the scan of the elements.
///
/// # Safety
///
/// `len` aligned values of the type must be readable at `values`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kogge_bench_check(
    dtype: usize,
    values: *const c_void,
    len: usize,
) -> bool {
    fn check<T: Dtype>(values: &[T]) -> bool {
        use rayon::prelude::*;
        values.par_iter().enumerate().all(|(i, &value)| value == T::sum_at(i as u64))
    }
    // SAFETY: passed on.
    unsafe {
        match DTYPES.get(dtype) {
            Some(&"i8") => check::<i8>(slice(values, len)),
            Some(&"i16") => check::<i16>(slice(values, len)),
            Some(&"i32") => check::<i32>(slice(values, len)),
            Some(&"i64") => check::<i64>(slice(values, len)),
            Some(&"f16") => check::<f16>(slice(values, len)),
            Some(&"f32") => check::<f32>(slice(values, len)),
            Some(&"f64") => check::<f64>(slice(values, len)),
            _ => false,
        }
    }
}

/// A record with the machine and an empty session, as JSON. To be freed by `kogge_bench_free`.
#[unsafe(no_mangle)]
pub extern "C" fn kogge_bench_begin() -> *mut c_char {
    let session = Session::begin(threads(), true);
    let suite = "peers".to_owned();
    let record = Record { suite, machine: Machine::this(), runs: vec![session] };
    text(serde_json::to_string(&record).unwrap_or_else(|error| error.to_string()))
}

/// The table of a record in JSON, or what is wrong with it. To be freed by `kogge_bench_free`.
///
/// # Safety
///
/// `json` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kogge_bench_table(json: *const c_char, all: bool) -> *mut c_char {
    // SAFETY: passed on.
    let json = unsafe { CStr::from_ptr(json) }.to_string_lossy();
    text(match serde_json::from_str(&json) {
        Ok(record) => table(&record, all),
        Err(error) => format!("no record: {error}"),
    })
}

/// Adds a record in JSON to the one in a file; null, or what went wrong. To be freed by
/// `kogge_bench_free`.
///
/// # Safety
///
/// `path` and `json` must be C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kogge_bench_add(path: *const c_char, json: *const c_char) -> *mut c_char {
    // SAFETY: passed on.
    let (path, json) = unsafe { (CStr::from_ptr(path), CStr::from_ptr(json)) };
    let record = serde_json::from_str::<Record>(&json.to_string_lossy()).map_err(Into::into);
    match record.and_then(|record| record.add_to(Path::new(&*path.to_string_lossy()))) {
        Ok(()) => ptr::null_mut(),
        Err(error) => text(error.to_string()),
    }
}

fn text(text: String) -> *mut c_char {
    CString::new(text.replace('\0', "")).expect("without NUL").into_raw()
}

/// Frees a string that came from here.
///
/// # Safety
///
/// `text` must have come from here, and not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kogge_bench_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it came from `CString::into_raw` by contract.
        drop(unsafe { CString::from_raw(text) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every contender, called as another language calls it, on a few elements.
    #[test]
    fn contenders_are_right_from_outside() {
        let len = 1_001;
        for (dtype, shown) in DTYPES.iter().enumerate() {
            for in_place in [false, true] {
                for index in 0..kogge_bench_count(dtype, in_place) {
                    let (mut input, mut output) = (vec![0u64; len], vec![0u64; len]);
                    let (x, y) = (input.as_mut_ptr().cast(), output.as_mut_ptr().cast());
                    // SAFETY: both hold `len` values of up to 8 bytes.
                    let right = unsafe {
                        kogge_bench_fill(dtype, if in_place { y } else { x }, len);
                        let x = if in_place { ptr::null() } else { x.cast_const() };
                        kogge_bench_call(dtype, in_place, index, x, y, len, 1);
                        kogge_bench_check(dtype, y, len)
                    };
                    let checked = kogge_bench_checked(dtype, in_place, index);
                    // SAFETY: the contender exists, so its name isn't null.
                    let name = unsafe { CStr::from_ptr(kogge_bench_name(dtype, in_place, index)) };
                    assert!(right || !checked, "{name:?} {shown} {in_place}");
                }
            }
        }
    }
}

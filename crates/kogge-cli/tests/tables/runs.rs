//! Scans that start anew where a key changes.

use crate::common::{self, Place, noise};
use crate::{fixed_sums, numbers};
use kogge::ops::{Affine, Compose, Max, Product, Sum};
use kogge::{Element, Kind, Operator, Order, reference};

#[test]
fn keys_of_any_type() {
    let place = Place::new();
    place.write("x.csv", "k,j,x\na,1,1\na,1,2\nb,1,3\nb,2,4\na,2,5\na,2,6\n");
    assert_eq!(place.last_column("x.csv --column x --by k"), ["1", "3", "3", "7", "5", "11"]);
    assert_eq!(place.last_column("x.csv --column x --by j"), ["1", "3", "6", "4", "9", "15"]);
    assert_eq!(
        place.last_column("x.csv --column x --by j --by k"),
        ["1", "3", "3", "4", "5", "11"]
    );
    assert_eq!(
        place.last_column("x.csv --column x --by k --reverse"),
        ["3", "2", "7", "4", "11", "6"]
    );
    assert_eq!(
        place.last_column("x.csv --column x --by k --exclusive --init 10"),
        ["10", "11", "10", "13", "10", "15"]
    );
    assert_eq!(
        place.last_column("x.csv --column x --by k --op argmax"),
        ["0", "1", "2", "3", "4", "5"]
    );
    for format in ["parquet", "arrow", "arrows"] {
        let same = format!("x.csv --column j --as same -o x.{format}");
        place.stdout(&same);
        for (by, flags) in [("k", ""), ("j", ""), ("k", "--reverse"), ("j", "--exclusive")] {
            let arguments = format!("--column x --by {by} {flags}");
            let expected = place.last_column(&format!("x.csv {arguments}"));
            for buffer in ["", "1", "200"] {
                let cells = place.last_column_by(buffer, &format!("x.{format} {arguments}"));
                assert_eq!(cells, expected, "{format} {arguments} '{buffer}'");
            }
        }
    }
}

/// As the library's `by_key` has them; CSV's keys are text.
#[test]
fn keys_that_are_floats() {
    let place = Place::new();
    place.write("x.csv", "k,x\n0.0,1\n-0.0,1\nNaN,1\nNaN,1\n1.0,1\n1.0,1\n");
    let runs = |file: &str, buffer: &str| {
        let mut scan = place.scan(&format!("{file} --column x --by k"));
        let output = scan.env("KOGGE_BUFFER", buffer).output().unwrap();
        common::succeeded(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().skip(1).map(|line| line.chars().last().unwrap()).collect::<String>()
    };
    assert_eq!(runs("x.csv", ""), "111212");
    for file in ["x.parquet", "x.arrow"] {
        place.stdout(&format!("x.csv --column x --as same -o {file}"));
        for buffer in ["", "1"] {
            assert_eq!(runs(file, buffer), "121112", "{file} '{buffer}'");
        }
    }
}

#[test]
fn long_runs_have_the_bits_of_their_own() {
    let place = Place::new();
    let x = noise(400_000, 11);
    let mut text = "k,x\n".to_owned();
    let key = |i: usize| {
        if i < 150_000 {
            "a"
        } else if i < 150_007 {
            "b"
        } else {
            "a"
        }
    };
    for (i, x) in x.iter().enumerate() {
        text += &format!("{},{x:?}\n", key(i));
    }
    place.write("x.csv", text);
    let mut expected = fixed_sums(&x[..150_000]);
    expected.extend(fixed_sums(&x[150_000..150_007]));
    expected.extend(fixed_sums(&x[150_007..]));
    let sums = numbers(&place.last_column("x.csv --column x --by k"));
    assert!(sums == expected);
}

/// Long runs and short ones, some across batches, some rows and whole runs missing.
#[test]
fn runs_have_the_bits_of_the_reference() {
    let place = Place::new();
    let lens = [1, 1, 2, 70, 5_000, 1, 140_000, 3, 1_000, 2, 9_000];
    let x = noise(lens.iter().sum(), 5);
    let missing = |row: usize, run: usize| run % 4 == 1 || (row > 5_100 && row % 17 == 3);
    let mut text = "k,a,x,y\n".to_owned();
    let mut rows = Vec::new();
    for (run, len) in lens.into_iter().enumerate() {
        for _ in 0..len {
            let row = rows.len();
            let y = if missing(row, run) { None } else { Some(1.0 + x[row] / 4096.0) };
            text += &format!("{},{:?},{:?},", run % 2, 1.0 - x[row] / 64.0, x[row]);
            text += &y.map_or("\n".to_owned(), |y| format!("{y:?}\n"));
            rows.push((run, y));
        }
    }
    place.write("x.csv", text);
    place.stdout("x.csv --column a --as same -o x.parquet");
    for (flags, kind, init, reverse) in [
        ("", Kind::Inclusive, None, false),
        ("--reverse", Kind::Inclusive, None, true),
        ("--exclusive --init 0.75", Kind::Exclusive, Some(0.75), false),
    ] {
        let check = |columns: &str, expected: Vec<f64>| {
            for buffer in ["", "90000"] {
                let arguments = format!("x.parquet --by k {columns} {flags} -o y.npy");
                place.scan(&arguments).env("KOGGE_BUFFER", buffer).assert().success();
                let y: Vec<f64> = common::elements(&place.read("y.npy"), "<f8");
                let same = |(y, expected): (&f64, &f64)| y.to_bits() == expected.to_bits();
                assert!(y.len() == expected.len(), "{arguments}");
                assert!(y.iter().zip(&expected).all(same), "{arguments} '{buffer}'");
            }
        };
        check("--column y --op sum", by_run(&rows, &Sum, kind, init, reverse));
        check("--column y --op product", by_run(&rows, &Product, kind, init, reverse));
        check("--column y --op max", by_run(&rows, &Max, kind, init, reverse));
        let pairs: Vec<_> = rows
            .iter()
            .zip(&x)
            .map(|(&(run, _), &x)| (run, Some(Affine { a: 1.0 - x / 64.0, b: x })))
            .collect();
        let init = init.map(|b| Affine { a: 0.0, b });
        let maps = by_run(&pairs, &Compose, kind, init, reverse);
        check("--column a --column x --op affine", maps.iter().map(|map| map.b).collect());
    }
}

/// The scan of each run by the scalar reference; NaN bytes where rows are missing.
fn by_run<T: Element<Accumulator = T>, O: Operator<T>>(
    rows: &[(usize, Option<T>)],
    operator: &O,
    kind: Kind,
    init: Option<T>,
    reverse: bool,
) -> Vec<T> {
    let nan: Vec<u8> = f64::NAN.to_ne_bytes().repeat(size_of::<T>() / 8);
    let mut values = vec![bytemuck::pod_read_unaligned(&nan); rows.len()];
    let mut start = 0;
    for run in rows.chunk_by(|one, next| one.0 == next.0) {
        let mut present: Vec<usize> =
            (start..start + run.len()).filter(|&row| rows[row].1.is_some()).collect();
        if reverse {
            present.reverse();
        }
        let elements: Vec<T> = present.iter().map(|&row| rows[row].1.unwrap()).collect();
        let scan = reference::scan(&elements, operator, Order::of::<T>(), kind, init);
        for (row, value) in present.into_iter().zip(scan.values) {
            values[row] = value;
        }
        start += run.len();
    }
    values
}

//! Arrays end to end, against the library's scalar reference.

mod common;

use bytemuck::{Pod, cast_slice};
use common::{Place, elements, noise, npy, split_npy};
use half::f16;
use kogge::ops::{LogAddExp, Max, Product, Sum};
use kogge::{Accumulate, Element, Kind, Operator, Order, reference};
use proptest::prelude::*;

/// The scan of one line by the scalar reference.
fn line<T, A, O>(x: &[T], operator: &O, kind: Kind, init: Option<A>, reverse: bool) -> Vec<T>
where
    T: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let mut x: Vec<A> = x.iter().map(|x| x.widen()).collect();
    if reverse {
        x.reverse();
    }
    let mut y = reference::scan(&x, operator, Order::of::<T>(), kind, init).values;
    if reverse {
        y.reverse();
    }
    y.into_iter().map(T::narrow).collect()
}

fn floats(n: usize) -> Vec<f32> {
    noise(n, 7).into_iter().map(|x| x as f32).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn has_the_bits_of_the_reference() {
    let place = Place::new();
    let x = floats(1_000_003);
    place.write("x.npy", npy("<f4", false, &[x.len()], cast_slice(&x)));
    for (arguments, kind, init, reverse) in [
        ("", Kind::Inclusive, None, false),
        ("--exclusive", Kind::Exclusive, Some(0.0f32), false),
        ("--exclusive --init -2.5", Kind::Exclusive, Some(-2.5), false),
        ("--reverse", Kind::Inclusive, None, true),
        ("--reverse --exclusive --init 1", Kind::Exclusive, Some(1.0), true),
    ] {
        for buffer in ["", "100000", "4096"] {
            let mut scan = place.scan("x.npy -o y.npy");
            scan.args(arguments.split_whitespace()).env("KOGGE_BUFFER", buffer).assert().success();
            let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
            let expected = line(&x, &Sum, kind, init, reverse);
            assert!(bits(&y) == bits(&expected), "{arguments} with pieces of '{buffer}'");
        }
    }
}

/// The operators that go through the engine in its compact form.
#[test]
fn other_operators_have_the_bits_of_the_reference() {
    fn check<O: Operator<f32>>(place: &Place, name: &str, x: &[f32], operator: &O) {
        place.write("x.npy", npy("<f4", false, &[x.len()], cast_slice(x)));
        for (flags, kind, init, reverse) in [
            ("", Kind::Inclusive, None, false),
            ("--exclusive --init 0.75", Kind::Exclusive, Some(0.75), false),
            ("--reverse", Kind::Inclusive, None, true),
        ] {
            let expected = line(x, operator, kind, init, reverse);
            for buffer in ["", "100000"] {
                let mut scan = place.scan(&format!("x.npy -o y.npy --op {name} {flags}"));
                scan.env("KOGGE_BUFFER", buffer).assert().success();
                let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
                assert!(bits(&y) == bits(&expected), "{name} {flags} with pieces of '{buffer}'");
            }
        }
    }
    let place = Place::new();
    let x = floats(400_003);
    let near_one: Vec<f32> = x.iter().map(|x| 1.0 + x / 4096.0).collect();
    check(&place, "product", &near_one, &Product);
    check(&place, "logaddexp", &x, &LogAddExp);
    check(&place, "max", &x, &Max);
}

#[test]
fn threads_change_nothing() {
    let place = Place::new();
    let x = floats(600_000);
    place.write("x.npy", npy("<f4", false, &[x.len()], cast_slice(&x)));
    for threads in 1..=3 {
        place.stdout(&format!("x.npy -o y{threads}.npy --threads {threads}"));
    }
    assert_eq!(place.read("y1.npy"), place.read("y2.npy"));
    assert_eq!(place.read("y1.npy"), place.read("y3.npy"));
}

/// Every type and byte order, promoted as numpy does.
#[test]
fn every_type_in_either_byte_order() {
    fn check<T: Pod>(descr: &str, one_to_five: [T; 5], big_endian: bool) {
        let place = Place::new();
        let mut data = bytemuck::cast_slice::<T, u8>(&one_to_five).to_vec();
        if big_endian {
            data.chunks_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        place.write("x.npy", npy(descr, false, &[5], &data));
        assert_eq!(
            place.last_column("x.npy").join(" ").replace(".0", ""),
            "1 3 6 10 15",
            "{descr}"
        );
        let header = {
            place.stdout("x.npy -o y.npy");
            split_npy(&place.read("y.npy")).0
        };
        let promoted = match &descr[1..] {
            "i1" | "i2" | "i4" | "i8" => "<i8",
            "u1" | "u2" | "u4" | "u8" => "<u8",
            "f2" => "<f2",
            "f4" => "<f4",
            _ => "<f8",
        };
        assert!(header.contains(promoted), "{descr} became {header}");
        place.stdout("x.npy --op max -o y.npy");
        let kept = split_npy(&place.read("y.npy")).0;
        assert!(kept.contains(&descr[1..]), "{descr} became {kept}");
    }
    macro_rules! check_all {
        ($($type:ty, $name:literal;)+) => {$(
            let x: [$type; 5] = [1 as $type, 2 as $type, 3 as $type, 4 as $type, 5 as $type];
            check(concat!("<", $name), x, false);
            check(concat!(">", $name), x, true);
        )+};
    }
    check_all! { i16, "i2"; i32, "i4"; i64, "i8"; u16, "u2"; u32, "u4"; u64, "u8"; f32, "f4"; f64, "f8"; }
    check("|i1", [1i8, 2, 3, 4, 5], false);
    check("|u1", [1u8, 2, 3, 4, 5], false);
    let halves = [1.0, 2.0, 3.0, 4.0, 5.0].map(f16::from_f32);
    check("<f2", halves, false);
    check(">f2", halves, true);
}

#[test]
fn small_integers_do_not_overflow_unless_told_to() {
    let place = Place::new();
    place.write("x.npy", npy("|i1", false, &[3], &[100, 100, 100]));
    assert_eq!(place.last_column("x.npy"), ["100", "200", "300"]);
    assert_eq!(place.last_column("x.npy --dtype i8"), ["100", "-56", "44"]);
    assert_eq!(
        place.last_column("x.npy --dtype f64 --op product"),
        ["100.0", "10000.0", "1000000.0"]
    );
    place.write("b.npy", npy("|b1", false, &[3], &[1, 0, 1]));
    assert_eq!(place.last_column("b.npy"), ["1", "1", "2"]);
    assert_eq!(place.last_column("b.npy --op all"), ["true", "false", "false"]);
    let large = [u64::MAX - 1, 1, 1];
    place.write("u.npy", npy("<u8", false, &[3], cast_slice(&large)));
    assert_eq!(place.last_column("u.npy"), ["18446744073709551614", "18446744073709551615", "0"]);
}

#[test]
fn accumulates_wider() {
    let place = Place::new();
    let x: Vec<f16> = noise(50_000, 3).into_iter().map(f16::from_f64).collect();
    place.write("x.npy", npy("<f2", false, &[x.len()], cast_slice(&x)));
    place.stdout("x.npy -o y.npy");
    let y: Vec<f16> = elements(&place.read("y.npy"), "<f2");
    assert_eq!(y, line::<f16, f32, _>(&x, &Sum, Kind::Inclusive, None, false));
    place.stdout("x.npy -o y.npy --accumulate f64");
    let y: Vec<f16> = elements(&place.read("y.npy"), "<f2");
    assert_eq!(y, line::<f16, f64, _>(&x, &Sum, Kind::Inclusive, None, false));
    let x = floats(50_000);
    place.write("x.npy", npy("<f4", false, &[x.len()], cast_slice(&x)));
    place.stdout("x.npy -o y.npy --accumulate f64");
    let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
    assert_eq!(bits(&y), bits(&line::<f32, f64, _>(&x, &Sum, Kind::Inclusive, None, false)));
    // A wider type is another thing: the elements themselves are doubles then.
    place.stdout("x.npy -o y.npy --dtype f64");
    let y: Vec<f64> = elements(&place.read("y.npy"), "<f8");
    let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    assert_eq!(y, line::<f64, f64, _>(&wide, &Sum, Kind::Inclusive, None, false));
}

/// Scans along an axis of a row-major array, element by element.
fn axis_scan(
    shape: &[usize],
    axis: usize,
    x: &[f32],
    scan: impl Fn(&[f32]) -> Vec<f32>,
) -> Vec<f32> {
    let inner: usize = shape[axis + 1..].iter().product();
    let n = shape[axis];
    let mut y = vec![0.0; x.len()];
    for slab in 0..shape[..axis].iter().product() {
        for column in 0..inner {
            let place = |i: usize| (slab * n + i) * inner + column;
            let line: Vec<f32> = (0..n).map(|i| x[place(i)]).collect();
            for (i, value) in scan(&line).into_iter().enumerate() {
                y[place(i)] = value;
            }
        }
    }
    y
}

/// C order of the reversed shape is Fortran order of the shape.
#[test]
fn every_axis_in_either_order() {
    let place = Place::new();
    let shape = [5, 300, 7];
    let x = floats(shape.iter().product());
    for fortran in [false, true] {
        let mut stored = shape;
        if fortran {
            stored.reverse();
        }
        place.write("x.npy", npy("<f4", fortran, &stored, cast_slice(&x)));
        for axis in 0..3usize {
            let named = if fortran { 2 - axis as i64 } else { axis as i64 - 3 };
            for (flags, reverse, kind) in [
                ("", false, Kind::Inclusive),
                ("--reverse", true, Kind::Inclusive),
                ("--exclusive", false, Kind::Exclusive),
            ] {
                // Whole slabs; bands of lines; single elements.
                for buffer in ["", "1000", "1"] {
                    let mut scan = place.scan(&format!("x.npy -o y.npy --axis {named} {flags}"));
                    scan.env("KOGGE_BUFFER", buffer).assert().success();
                    let (header, data) = split_npy(&place.read("y.npy"));
                    let order = if fortran { "True" } else { "False" };
                    assert!(header.contains(order), "{header}");
                    let init = (kind == Kind::Exclusive).then_some(0.0f32);
                    let expected =
                        axis_scan(&shape, axis, &x, |x| line(x, &Sum, kind, init, reverse));
                    let y: Vec<f32> = bytemuck::pod_collect_to_vec(&data);
                    assert!(
                        bits(&y) == bits(&expected),
                        "axis {axis} {flags} {fortran} '{buffer}'"
                    );
                }
            }
        }
    }
}

/// Without an axis the elements are one line in C order, as numpy has it, wherever they lie.
#[test]
fn one_line_in_c_order_from_either_order() {
    let place = Place::new();
    let shape = [5, 30, 7];
    let x = floats(shape.iter().product());
    let at = |i: usize| (i % 5 * 30 + i / 5 % 30) * 7 + i / 150;
    let stored: Vec<f32> = (0..x.len()).map(|i| x[at(i)]).collect();
    place.write("x.npy", npy("<f4", true, &shape, cast_slice(&stored)));
    for (flags, reverse) in [("", false), ("--reverse", true)] {
        let expected = line(&x, &Sum, Kind::Inclusive, None::<f32>, reverse);
        for buffer in ["", "1000", "100", "1"] {
            let arguments = format!("-o y.npy {flags} --json");
            let mut scan = place.scan(&format!("x.npy {arguments}"));
            let output = scan.env("KOGGE_BUFFER", buffer).output().unwrap();
            common::succeeded(&output);
            let summary = String::from_utf8(output.stdout).unwrap();
            assert!(summary.contains("\"shape\":[1050]"), "{summary}");
            let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
            assert!(bits(&y) == bits(&expected), "{flags} '{buffer}'");
            let mut piped = place.scan(&format!("- {arguments}"));
            piped.env("KOGGE_BUFFER", buffer).write_stdin(place.read("x.npy")).assert().success();
            let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
            assert!(bits(&y) == bits(&expected), "piped {flags} '{buffer}'");
        }
    }
    let places: Vec<i64> = {
        place.scan("x.npy -o y.npy --op argmax").assert().success();
        elements(&place.read("y.npy"), "<i8")
    };
    let mut most = 0;
    let expected = x.iter().enumerate().map(|(i, value)| {
        most = if *value > x[most] { i } else { most };
        most as i64
    });
    assert!(places.into_iter().eq(expected));
}

/// A few rows of more lines than states fit in memory: neighbouring lines, whole, at a time.
#[test]
fn few_rows_of_very_many_lines() {
    let place = Place::new();
    let shape = [3, 100_000];
    let x = floats(shape.iter().product());
    place.write("x.npy", npy("<f4", false, &shape, cast_slice(&x)));
    for (flags, reverse) in [("", false), ("--reverse", true)] {
        // Bands of 33,333 lines.
        let mut scan = place.scan(&format!("x.npy -o y.npy --axis 0 {flags}"));
        scan.env("KOGGE_BUFFER", "100000").assert().success();
        let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
        let expected =
            axis_scan(&shape, 0, &x, |x| line(x, &Sum, Kind::Inclusive, None::<f32>, reverse));
        assert!(bits(&y) == bits(&expected), "{flags}");
    }
}

/// Several rows of more lines than are stepped together.
#[test]
fn lines_side_by_side_go_in_groups() {
    let place = Place::new();
    let shape = [40, 300];
    let x = floats(shape.iter().product());
    place.write("x.npy", npy("<f4", false, &shape, cast_slice(&x)));
    for (flags, reverse) in [("", false), ("--reverse", true)] {
        let mut scan = place.scan(&format!("x.npy -o y.npy --axis 0 {flags}"));
        scan.env("KOGGE_BUFFER", "9600").assert().success();
        let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
        let expected =
            axis_scan(&shape, 0, &x, |x| line(x, &Sum, Kind::Inclusive, None::<f32>, reverse));
        assert!(bits(&y) == bits(&expected), "{flags}");
    }
}

#[test]
fn places_count_along_the_axis() {
    let place = Place::new();
    let x = [3i16, 1, 2, 0, 5, 0];
    place.write("x.npy", npy("<i2", false, &[2, 3], cast_slice(&x)));
    for buffer in ["", "1"] {
        let scan = |arguments: &str| {
            let mut scan = place.scan(arguments);
            scan.env("KOGGE_BUFFER", buffer).assert().success();
            elements::<i64>(&place.read("y.npy"), "<i8")
        };
        assert_eq!(scan("x.npy -o y.npy --op argmin --axis 1"), [0, 1, 1, 0, 0, 0]);
        assert_eq!(scan("x.npy -o y.npy --op argmin --axis 1 --reverse"), [1, 1, 2, 0, 2, 2]);
        assert_eq!(scan("x.npy -o y.npy --op argmax --axis 0"), [0, 0, 0, 0, 1, 0]);
        assert_eq!(scan("x.npy -o y.npy --op argmin"), [0, 1, 1, 3, 3, 3]);
        assert_eq!(scan("x.npy -o y.npy --op argmax --exclusive"), [-1, 0, 0, 0, 0, 4]);
    }
}

#[test]
fn text_shows_the_rows_of_a_matrix() {
    let place = Place::new();
    place.write("x.npy", npy("<i4", false, &[2, 3], cast_slice(&[1i32, 2, 3, 4, 5, 6])));
    assert_eq!(place.stdout("x.npy --axis 0"), "1,2,3\n5,7,9\n");
    assert_eq!(place.stdout("x.npy --axis 1 --format tsv"), "1\t3\t6\n4\t9\t15\n");
    assert_eq!(place.stdout("x.npy"), "1\n3\n6\n10\n15\n21\n");
    place.write("x.npy", npy("<i4", false, &[], cast_slice(&[7i32])));
    assert_eq!(place.stdout("x.npy"), "value,value_sum\n7,7\n");
    place.write("x.npy", npy("<i4", false, &[0], &[]));
    assert_eq!(place.stdout("x.npy"), "value,value_sum\n");
}

/// The text of every order of axes and direction is that of the same array as it lies in C order.
#[test]
fn text_is_the_same_whatever_the_order() {
    let place = Place::new();
    let shape = [5, 30, 7];
    let x = floats(shape.iter().product());
    place.write("c.npy", npy("<f4", false, &shape, cast_slice(&x)));
    let at = |i: usize| (i % 5 * 30 + i / 5 % 30) * 7 + i / 150;
    let y: Vec<f32> = (0..x.len()).map(|i| x[at(i)]).collect();
    place.write("f.npy", npy("<f4", true, &shape, cast_slice(&y)));
    for axis in 0..3 {
        for flags in ["", "--reverse", "--reverse --format tsv"] {
            for buffer in ["", "1000", "1"] {
                let text = |name: &str, buffer: &str| {
                    let mut scan = place.scan(&format!("{name}.npy --axis {axis} {flags}"));
                    let output = scan.env("KOGGE_BUFFER", buffer).output().unwrap();
                    common::succeeded(&output);
                    output.stdout
                };
                let want = text("c", "");
                assert_eq!(want.iter().filter(|&&byte| byte == b'\n').count(), 150);
                assert!(text("c", buffer) == want, "axis {axis} {flags} '{buffer}'");
                assert!(text("f", buffer) == want, "Fortran, axis {axis} {flags} '{buffer}'");
            }
        }
    }
    // The end of a flat scan comes first.
    let mut whole = place.last_column("c.npy --reverse");
    assert_eq!(whole.len() + 1, x.len());
    whole.truncate(3);
    let want = line(&x, &Sum, Kind::Inclusive, None::<f32>, true);
    let want: Vec<f32> = want[1..4].to_vec();
    assert_eq!(whole.iter().map(|x| x.parse::<f32>().unwrap()).collect::<Vec<_>>(), want);
}

#[test]
fn text_of_arrays() {
    trycmd::TestCases::new().case("tests/scan/*.trycmd");
}

#[test]
fn pipes_in_and_out() {
    let place = Place::new();
    let x = floats(30_000);
    let file = npy("<f4", false, &[x.len()], cast_slice(&x));
    place.write("x.npy", &file);
    place.stdout("x.npy -o y.npy");
    place.stdout("x.npy -o z.npy --reverse");
    let (_, sums) = split_npy(&place.read("y.npy"));
    let piped = |arguments: &str, input: &[u8]| {
        let output = place.scan(arguments).write_stdin(input).env("KOGGE_BUFFER", "7777").output();
        let output = output.unwrap();
        common::succeeded(&output);
        output.stdout
    };
    assert_eq!(piped("- --format npy", &file), place.read("y.npy"));
    assert_eq!(piped("- --format npy --reverse", &file), place.read("z.npy"));
    let raw: &[u8] = cast_slice(&x);
    assert_eq!(piped("- --input-format raw --dtype f32 --format raw", raw), sums);
    assert_eq!(piped("- --input-format raw --dtype f32 --format npy", raw), place.read("y.npy"));
    assert_eq!(
        piped("- --input-format raw --dtype f32 --format npy --reverse", raw),
        place.read("z.npy")
    );
    assert_eq!(piped("- --input-format raw --input-dtype i8 --format raw", &[255, 255]).len(), 16);
    place.write("x.raw", raw);
    place.stdout("x.raw --dtype f32 -o y.bin");
    assert_eq!(place.read("y.bin"), sums);
    // Only a .npy file has a header to be written when the length is known.
    let raw_in = "- --input-format raw --dtype f32 -o";
    for (arguments, want) in [("raw.bin", sums), ("raw.npy", place.read("y.npy"))] {
        assert_eq!(piped(&format!("{raw_in} {arguments}"), raw), b"");
        assert_eq!(place.read(arguments), want, "{arguments}");
        piped(&format!("{raw_in} {arguments}"), &[]);
        let header = want.len() - raw.len();
        assert_eq!(place.read(arguments).len(), header, "{arguments} of nothing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// The pieces are a matter of speed alone.
    #[test]
    fn any_piece_gives_the_same_bytes(
        shape in prop::collection::vec(0usize..12, 1..4),
        buffer in 1usize..3_000,
        axis in -1i64..1,
        reverse: bool,
        exclusive: bool,
        op in prop::sample::select(vec!["sum", "max", "product", "last-valid", "argmin", "logaddexp"]),
    ) {
        let place = Place::new();
        let mut shape = shape;
        shape[0] *= 40;
        let x = floats(shape.iter().product());
        place.write("x.npy", npy("<f4", false, &shape, cast_slice(&x)));
        let flags = [(reverse, "--reverse"), (exclusive, "--exclusive")];
        let flags: String = flags.into_iter().filter(|(on, _)| *on).map(|(_, flag)| format!(" {flag}")).collect();
        let arguments = format!("x.npy --axis {axis} --op {op}{flags}");
        place.scan(&format!("{arguments} -o whole.npy")).assert().success();
        let mut pieces = place.scan(&format!("{arguments} -o pieces.npy"));
        pieces.env("KOGGE_BUFFER", buffer.to_string()).assert().success();
        prop_assert!(place.read("whole.npy") == place.read("pieces.npy"));
    }
}

#[test]
fn maximum_keeps_the_order_of_zeros_and_nan() {
    let place = Place::new();
    let x = [-0.0f32, 0.0, -1.0, f32::NAN, 2.0];
    place.write("x.npy", npy("<f4", false, &[5], cast_slice(&x)));
    place.stdout("x.npy -o y.npy --op max");
    let y: Vec<f32> = elements(&place.read("y.npy"), "<f4");
    assert_eq!(bits(&y), bits(&line::<f32, f32, _>(&x, &Max, Kind::Inclusive, None, false)));
    assert_eq!(y[1].to_bits(), 0.0f32.to_bits());
    assert!(y[3].is_nan() && y[4].is_nan());
    assert_eq!(place.last_column("x.npy --op last-valid"), ["-0.0", "0.0", "-1.0", "-1.0", "2.0"]);
}

/// numpy writes such files, of a mask that it was told to take for truth values.
#[test]
fn any_byte_but_zero_is_true() {
    let place = Place::new();
    let bytes = [255u8, 255, 0, 2, 0, 128];
    place.write("x.npy", npy("|b1", false, &[6], &bytes));
    place.write("x.raw", bytes);
    place.write("t.npy", npy("|b1", true, &[2, 3], &bytes));
    let want = [1i64, 2, 2, 3, 3, 4];
    for input in ["x.npy", "x.raw --input-dtype bool"] {
        place.stdout(&format!("{input} -o y.npy"));
        assert_eq!(elements::<i64>(&place.read("y.npy"), "<i8"), want, "{input}");
        place.stdout(&format!("{input} --op argmax -o y.npy"));
        assert_eq!(elements::<i64>(&place.read("y.npy"), "<i8"), [0; 6], "{input}");
        place.stdout(&format!("{input} --op bitxor -o y.npy"));
        assert_eq!(elements::<u8>(&place.read("y.npy"), "|b1"), [1, 0, 0, 1, 1, 0], "{input}");
        assert_eq!(place.last_column(input), want.map(|sum| sum.to_string()), "{input}");
        place.stdout(&format!("{input} -o y.parquet"));
        assert_eq!(
            place.last_column("y.parquet --column value_sum --op max"),
            want.map(|sum| sum.to_string())
        );
    }
    assert_eq!(
        place.last_column("x.npy --op bitand"),
        ["true", "true", "false", "false", "false", "false"]
    );
    let piped =
        place.scan("- --input-format raw --input-dtype bool").write_stdin(bytes).output().unwrap();
    assert!(String::from_utf8(piped.stdout).unwrap().ends_with("\ntrue,4\n"));
    // The file has the columns one after the other.
    place.stdout("t.npy -o y.npy");
    assert_eq!(elements::<i64>(&place.read("y.npy"), "<i8"), [1, 1, 1, 2, 3, 4]);
    place.stdout("t.npy --axis 0 -o y.npy");
    assert_eq!(elements::<i64>(&place.read("y.npy"), "<i8"), [1, 2, 0, 1, 0, 1]);
}

#[test]
fn halves_are_rounded_once() {
    let place = Place::new();
    let near = 1.0 + 2f64.powi(-11);
    place.write("x.npy", npy("<f8", false, &[2], cast_slice(&[near + 2f64.powi(-40), near])));
    place.stdout("x.npy --dtype f16 --op max -o y.npy");
    assert_eq!(elements::<u16>(&place.read("y.npy"), "<f2"), [0x3c01, 0x3c01]);
    place.write("x.csv", "x\n1.00048828125\n1.000488281250000001\n");
    place.stdout("x.csv --dtype f16 --op max -o y.npy");
    assert_eq!(elements::<u16>(&place.read("y.npy"), "<f2"), [0x3c00, 0x3c01]);
}

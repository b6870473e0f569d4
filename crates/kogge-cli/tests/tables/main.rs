//! Tables end to end: CSV, TSV, Parquet and Arrow.

#[path = "../common/mod.rs"]
mod common;
mod dates;
mod runs;
mod types;
mod written;

use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, ListArray, ListViewArray, MapArray, RecordBatch,
    StringArray, StructArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field};
use common::{Place, noise, npy, root};
use kogge::ops::Sum;
use kogge::{Kind, Order, reference};
use parquet::arrow::ArrowWriter;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use proptest::prelude::*;
use std::fs::{self, File};
use std::sync::Arc;

fn fixed_sums(x: &[f64]) -> Vec<f64> {
    reference::scan(x, &Sum, Order::of::<f64>(), Kind::Inclusive, None).values
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

/// The command of the README.
#[test]
fn seattle() {
    let place = Place::new();
    let path = root().join("data/seattle-weather.csv");
    let text = fs::read_to_string(&path).unwrap();
    let input = path.to_str().unwrap();
    let output = place.stdout(&format!("{input} --column precipitation"));

    let cells: Vec<String> =
        text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect();
    let sums = fixed_sums(&numbers(&cells));
    let mut expected = text.lines().next().unwrap().to_owned() + ",precipitation_sum\n";
    for (line, sum) in text.lines().skip(1).zip(&sums) {
        expected += &format!("{line},{sum:?}\n");
    }
    assert_eq!(output, expected);

    // Independently of any order: a sum of tenths is an integer of tenths.
    let mut tenths = 0i64;
    for (line, sum) in output.lines().skip(1).zip(&sums) {
        tenths += (line.split(',').nth(1).unwrap().parse::<f64>().unwrap() * 10.0).round() as i64;
        assert!((sum - tenths as f64 / 10.0).abs() < 1e-9);
    }
    assert_eq!((sums.len(), tenths), (1_461, 44_260));
}

#[test]
fn the_text_of_other_columns_is_untouched() {
    let place = Place::new();
    let text = "\u{feff}\"na\"\"me\",  x ,\"no\tte\"\r\n\"a,\"\"b\",1,' '\r\nplain, 2 ,\"two\nlines\"\r\n\u{e9},\"3\",\r\n";
    place.write("x.csv", text);
    let expected = "\u{feff}\"na\"\"me\",  x ,\"no\tte\",sum\r\n\"a,\"\"b\",1,' ',1\r\nplain, 2 ,\"two\nlines\",3\r\n\u{e9},\"3\",,6\r\n";
    let mut scan = place.scan("x.csv --as sum --column");
    let output = scan.arg("  x ").output().unwrap();
    common::succeeded(&output);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn the_last_line_may_lack_its_end() {
    let place = Place::new();
    place.write("x.csv", "x\n1\n\n2");
    assert_eq!(place.stdout("x.csv"), "x,x_sum\n1,1\n2,3\n");
    place.write("x.csv", "x,y\n");
    assert_eq!(place.stdout("x.csv --column y"), "x,y,y_sum\n");
}

#[test]
fn types_follow_the_whole_column() {
    let place = Place::new();
    // The decimal point comes long after any sample.
    let mut text = "x\n".to_owned() + &"1\n".repeat(300_000);
    place.write("x.csv", &text);
    assert_eq!(place.last_column("x.csv").last().unwrap(), "300000");
    text += "0.5\n";
    place.write("x.csv", &text);
    assert_eq!(place.last_column("x.csv")[..2], ["1.0", "2.0"]);
    assert_eq!(place.last_column("x.csv").last().unwrap(), "300000.5");
    // A pipe cannot be looked at twice: an error with its line, or the type from the user.
    let piped =
        |arguments: &str| place.scan(arguments).write_stdin(text.as_str()).output().unwrap();
    let output = piped("-");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr.contains("line 300002") && stderr.contains("--dtype f64"), "{stderr}");
    let output = String::from_utf8(piped("- --dtype f64").stdout).unwrap();
    assert!(output.ends_with("0.5,300000.5\n"));

    place.write("x.csv", "x\n9223372036854775808\n1\n");
    assert_eq!(place.last_column("x.csv"), ["9223372036854775808", "9223372036854775809"]);
    place.write("x.csv", "x\n9007199254740993\n1\n");
    assert_eq!(place.last_column("x.csv"), ["9007199254740993", "9007199254740994"]);
    place.write("x.csv", "x\ntrue\nFALSE\ntrue\n");
    assert_eq!(place.last_column("x.csv --column x"), ["1", "1", "2"]);
    assert_eq!(place.last_column("x.csv --column x --op all"), ["true", "false", "false"]);
    assert_eq!(place.last_column("x.csv --column x --op any --reverse"), ["true", "true", "true"]);
}

#[test]
fn pipes_whose_first_part_is_not_enough() {
    let place = Place::new();
    let piped = |arguments: &str, text: &str| {
        let output = place.scan(arguments).write_stdin(text).output().unwrap();
        common::succeeded(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    let names: Vec<String> = (0..40_000).map(|at| format!("column{at}")).collect();
    let row = |cell: &str| vec![cell; names.len()].join(",");
    let wide = format!("{}\n{}\n{}", names.join(","), row("1"), row("2"));
    let output = piped("- --column column7 --as s", &wide);
    let cells: Vec<&str> = output.lines().map(|line| &line[line.len() - 2..]).collect();
    assert_eq!(cells, [",s", ",1", ",3"]);
    let old_mac = "x\r".to_owned() + &"1\r".repeat(200_000);
    assert!(piped("-", &old_mac).trim_end().ends_with(",200000"));
    // A float would round the first value.
    let late = "k,x\n".to_owned() + &"abc,\n".repeat(100_000) + "d,9007199254740993\ne,\nf,2\n";
    let output = piped("- --column x", &late);
    assert!(
        output.ends_with("abc,,\nd,9007199254740993,9007199254740993\ne,,\nf,2,9007199254740995\n")
    );
    assert!(output.starts_with("k,x,x_sum\nabc,,\n") && output.lines().count() == 100_004);
    let never = "k,x\n".to_owned() + &"abc,\n".repeat(100_000);
    assert!(piped("- --column x", &never).ends_with("abc,,\n"));
}

#[test]
fn integers_keep_all_digits() {
    let place = Place::new();
    let rows = [
        "a,12345678901234567890123,007,1.5,-1,18446744073709551615,2.5,1",
        "b,-2,12,9007199254740993,18446744073709551615,,9007199254740992,2",
    ];
    let text = format!("k,long,code,mixed,wide,u,f,x\n{}\n", rows.join("\n"));
    place.write("x.csv", &text);
    let typed = text.replace("9007199254740992,2", "9007199254740992.0,2");
    let with_sum =
        typed.replace(",x\n", ",x,s\n").replace(",1\n", ",1,1\n").replace(",2\n", ",2,3\n");
    for format in ["parquet", "arrow", "arrows"] {
        place.stdout(&format!("x.csv --column x --as s -o y.{format}"));
        let back = place.stdout(&format!("y.{format} --column s --op max --as m"));
        let back: String =
            back.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
        assert_eq!(back, with_sum);
    }
    // A pipe's first rows tell nothing of it.
    let late = "x,y\n".to_owned() + &"1,1.5\n".repeat(100_000) + "1,9007199254740993\n";
    let run = |column: &str| {
        let scan = format!("- --column {column} -o z.parquet");
        place.scan(&scan).write_stdin(late.as_str()).output().unwrap()
    };
    let output = run("x");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(
        stderr.contains("line 100002 of standard input: '9007199254740993' in column 'y'"),
        "{stderr}"
    );
    assert!(!place.names().contains(&"z.parquet".to_owned()));
    common::succeeded(&run("y"));
    // Of a scanned column the number counts.
    place.write("code.csv", "code\n007\n08\n");
    assert_eq!(place.last_column("code.csv"), ["7", "15"]);
}

/// A batch with its own dictionary for each word.
fn categories(words: &[&str]) -> RecordBatch {
    let d: DictionaryArray<Int8Type> = words.iter().copied().collect();
    let n = Int64Array::from(vec![1; words.len()]);
    let columns: [(&str, ArrayRef); 2] = [("d", Arc::new(d)), ("n", Arc::new(n))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The same with the words in lists and maps.
fn nested_categories(words: &[&str]) -> RecordBatch {
    let plain = categories(words);
    let (d, n) = (Arc::clone(plain.column(0)), Arc::clone(plain.column(1)));
    let field = |name, nullable| Arc::new(Field::new(name, d.data_type().clone(), nullable));
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["k"; words.len()]));
    let key = Arc::new(Field::new("key", DataType::Utf8, false));
    let entries = StructArray::from(vec![(key, keys), (field("value", true), d.clone())]);
    let one_each = || OffsetBuffer::from_lengths(vec![1; words.len()]);
    let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let maps: ArrayRef = Arc::new(MapArray::new(entry, one_each(), entries, None, false));
    let starts = ScalarBuffer::from_iter(0..words.len() as i32);
    let lengths = ScalarBuffer::from(vec![1; words.len()]);
    let views: ArrayRef =
        Arc::new(ListViewArray::new(field("item", true), starts, lengths, d.clone(), None));
    let lists: ArrayRef =
        Arc::new(ListArray::new(field("item", true), one_each(), d.clone(), None));
    RecordBatch::try_from_iter([("m", maps), ("v", views), ("l", lists), ("n", n)]).unwrap()
}

#[test]
fn dictionaries_that_change() {
    let place = Place::new();
    let batches = [categories(&["a", "b"]), categories(&["c", "a"])];
    let schema = batches[0].schema();
    let stream = File::create(place.path("x.arrows")).unwrap();
    let mut stream = StreamWriter::try_new(stream, &schema).unwrap();
    let parquet = File::create(place.path("x.parquet")).unwrap();
    let mut parquet = ArrowWriter::try_new(parquet, schema, None).unwrap();
    for batch in &batches {
        stream.write(batch).unwrap();
        parquet.write(batch).unwrap();
        parquet.flush().unwrap();
    }
    stream.finish().unwrap();
    parquet.close().unwrap();
    for input in ["x.arrows", "x.parquet"] {
        for output in ["y.arrow", "y.arrows", "y.parquet"] {
            place.stdout(&format!("{input} -o {output}"));
            let text = place.stdout(&format!("{output} --column n_sum --op max --as m"));
            assert_eq!(text, "d,n,n_sum,m\na,1,1,1\nb,1,2,2\nc,1,3,3\na,1,4,4\n");
            place.stdout(&format!("{input} --by d -o {output}"));
        }
    }
    let batches = [nested_categories(&["a", "b"]), nested_categories(&["c", "a"])];
    let nested = File::create(place.path("n.arrows")).unwrap();
    let mut nested = StreamWriter::try_new(nested, &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| nested.write(batch).unwrap());
    nested.finish().unwrap();
    for output in ["y.arrow", "y.arrows"] {
        place.stdout(&format!("n.arrows -o {output}"));
        let text = place.stdout(&format!("{output} --column n_sum --op max --as m2"));
        let rows: Vec<&str> = text.lines().skip(1).collect();
        let want = ["{k: a},[a],[a],1,1,1", "{k: b},[b],[b],1,2,2", "{k: c},[c],[c],1,3,3"];
        assert_eq!(rows[..3], want, "{output}");
    }
    let batches = [categories(&["a", "b"])];
    // An Arrow file has one dictionary, which stays.
    let mut file =
        FileWriter::try_new(File::create(place.path("x.arrow")).unwrap(), &batches[0].schema())
            .unwrap();
    file.write(&batches[0]).unwrap();
    file.finish().unwrap();
    place.stdout("x.arrow -o y.arrow");
    let copy = FileReader::try_new(File::open(place.path("y.arrow")).unwrap(), None).unwrap();
    assert_eq!(copy.schema().field(0).data_type(), batches[0].column(0).data_type());
}

#[test]
fn nulls_are_skipped_and_stay() {
    let place = Place::new();
    place.write("x.csv", "i,x\n0,1.5\n1,\n2,2\n3,\n4,4\n");
    for file in ["x.csv", "x.parquet", "x.arrow"] {
        if file != "x.csv" {
            place.stdout(&format!("x.csv --column i --as same -o {file}"));
        }
        let column = |arguments: &str| place.last_column(&format!("{file} --column x {arguments}"));
        assert_eq!(column(""), ["1.5", "", "3.5", "", "7.5"]);
        assert_eq!(column("--exclusive"), ["0.0", "", "1.5", "", "3.5"]);
        assert_eq!(column("--reverse"), ["7.5", "", "6.0", "", "4.0"]);
        assert_eq!(column("--op last-valid"), ["1.5", "1.5", "2.0", "2.0", "4.0"]);
        assert_eq!(column("--op last-valid --reverse"), ["1.5", "2.0", "2.0", "4.0", "4.0"]);
        assert_eq!(column("--op argmax"), ["0", "", "2", "", "4"]);
        assert_eq!(column("--op last-valid --by i"), ["1.5", "", "2.0", "", "4.0"]);
    }
    place.write("n.csv", "x,y\n,1\n5,1\n,1\n7,1\n");
    assert_eq!(place.last_column("n.csv --column x --op last-valid"), ["", "5", "5", "7"]);
    assert_eq!(
        place.last_column("n.csv --column x --op last-valid --init 3"),
        ["3", "5", "5", "7"]
    );
    // Arrays have no nulls.
    place.stdout("x.csv --column x -o y.npy");
    let y: Vec<f64> = common::elements(&place.read("y.npy"), "<f8");
    assert!(y[1].is_nan() && y[4] == 7.5);
    place.fails("n.csv --column x -o z.npy", 5, &["nulls", "--dtype f64"]);
}

#[test]
fn an_exclusive_fill_has_nothing_for_the_first_of_a_run() {
    let place = Place::new();
    place.write("x.csv", "i,k,x,y\n0,a,,\n1,a,5,5.5\n2,b,,\n3,b,7,7.5\n4,b,,\n5,b,8,8.5\n");
    for file in ["x.csv", "x.parquet", "x.arrow"] {
        if file != "x.csv" {
            place.stdout(&format!("x.csv --column i --as same -o {file}"));
        }
        let check = |arguments: &str, expected: [&str; 6]| {
            for buffer in ["", "1", "12"] {
                let arguments = format!("{file} --op last-valid --exclusive {arguments}");
                let output = place.scan(&arguments).env("KOGGE_BUFFER", buffer).output().unwrap();
                common::succeeded(&output);
                let text = String::from_utf8(output.stdout).unwrap();
                let cells: Vec<&str> =
                    text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
                assert_eq!(cells, expected, "{arguments} '{buffer}'");
            }
        };
        check("--column x", ["", "", "5", "5", "7", "7"]);
        check("--column y", ["", "", "5.5", "5.5", "7.5", "7.5"]);
        check("--column i", ["", "0", "1", "2", "3", "4"]);
        check("--column x --by k", ["", "", "", "", "7", "7"]);
        check("--column x --reverse", ["5", "7", "7", "8", "8", ""]);
        check("--column x --by k --reverse", ["5", "", "7", "8", "8", ""]);
        check("--column x --init 3", ["3", "3", "5", "5", "7", "7"]);
        check("--column i --by i", [""; 6]);
    }
}

#[test]
fn recurrences_over_two_columns() {
    let place = Place::new();
    place.write("x.csv", "a,b\n2,1\n3,10\n0.5,4\n");
    assert_eq!(
        place.last_column("x.csv --op affine --column a --column b"),
        ["1.0", "13.0", "10.5"]
    );
    assert_eq!(
        place.last_column("x.csv --op affine --column a --column b --init 1"),
        ["3.0", "19.0", "13.5"]
    );
    assert_eq!(
        place.last_column("x.csv --op affine --column a --column b --exclusive"),
        ["0.0", "1.0", "13.0"]
    );
    let text = place.stdout("x.csv --op affine --column a --column b --as y");
    assert!(text.starts_with("a,b,y\n"));
    place.write("i.csv", "a,b\n2,1\n3,10\n,4\n-1,0\n");
    assert_eq!(
        place.last_column("i.csv --op affine --column a --column b"),
        ["1", "13", "", "-13"]
    );
    place.fails("x.csv --op affine --column a", 2, &["2 columns", "--column"]);
}

#[test]
fn several_columns_at_once() {
    let place = Place::new();
    place.write("x.csv", "x,y\n1,10\n2,20\n");
    assert_eq!(
        place.stdout("x.csv --column y --column x"),
        "x,y,y_sum,x_sum\n1,10,10,1\n2,20,30,3\n"
    );
    assert_eq!(
        place.stdout("x.csv --column y --column x --as a --as b"),
        "x,y,a,b\n1,10,10,1\n2,20,30,3\n"
    );
    place.fails("x.csv --column x -o x.npy --column y", 2, &["one scanned column"]);
}

#[test]
fn every_format_to_every_other() {
    let place = Place::new();
    place.write("x.csv", "word,x,truth\n\"a,b\",1,true\nc,2,false\n,4,\n");
    let formats = ["csv", "tsv", "parquet", "arrow", "arrows"];
    for from in formats {
        place.stdout(&format!("x.csv --column x --as s -o from.{from}"));
        for to in formats {
            place.stdout(&format!("from.{from} --column x --op product --as p -o to.{to}"));
            let text = place.stdout(&format!("to.{to} --column x --op max --as m --format csv"));
            assert_eq!(
                text, "word,x,truth,s,p,m\n\"a,b\",1,true,1,1,1\nc,2,false,3,2,2\n,4,,7,8,4\n",
                "{from} to {to}"
            );
        }
        place.stdout(&format!("from.{from} --column x -o y.npy"));
        assert_eq!(common::elements::<i64>(&place.read("y.npy"), "<i8"), [1, 3, 7]);
        place.stdout(&format!("from.{from} --column x -o y.raw"));
        assert_eq!(place.read("y.raw").len(), 24);
    }
    for to in ["csv", "parquet", "arrow"] {
        place.write("v.npy", npy(">i2", false, &[3], &[0, 1, 0, 2, 0, 4]));
        place.stdout(&format!("v.npy -o v.{to}"));
        let text = place.stdout(&format!("v.{to} --column value_sum"));
        assert_eq!(text, "value,value_sum,value_sum_sum\n1,1,1\n2,3,4\n4,7,11\n");
        assert_eq!(place.last_column("v.npy --reverse"), ["7", "6", "4"]);
    }
}

/// Whatever the rows' length, neither a batch nor a row group has more than some pieces.
#[test]
fn long_rows_of_parquet_take_no_more_memory_than_short_ones() {
    let place = Place::new();
    let (rows, mib) = (2_000, 1 << 20);
    let noise = noise(rows * 20, 7);
    // Neither a compression nor a dictionary makes the first column short; the second is, in the
    // file.
    let row = |i: usize| {
        let text: String =
            noise[20 * i..][..20].iter().map(|x| format!("{:016x}", x.to_bits())).collect();
        format!("{i},{},{}\n", text.repeat(8), "y".repeat(1 << 10))
    };
    let text: String = (0..rows).map(row).collect();
    place.write("x.csv", format!("x,long,same\n{text}"));
    let small = |arguments: &str| {
        let output = place.scan(arguments).env("KOGGE_BUFFER", "16384").output().unwrap();
        common::succeeded(&output);
    };
    small("x.csv --column x -o y.parquet");
    let file = File::open(place.path("y.parquet")).unwrap();
    let groups = SerializedFileReader::new(file).unwrap().metadata().row_groups().to_vec();
    assert!(groups.len() > 1);
    assert!(groups.iter().all(|group| group.compressed_size() < mib), "{groups:?}");
    // A batch as it is read is one that is written.
    place.stdout("x.csv --column x -o z.parquet");
    small("z.parquet --column x_sum -o z.arrow");
    let file = FileReader::try_new(File::open(place.path("z.arrow")).unwrap(), None).unwrap();
    assert!(file.num_batches() >= rows * (8 * 320 + 1024) / 16384, "{}", file.num_batches());
}

#[test]
fn pipes_are_told_apart_by_their_first_bytes() {
    let place = Place::new();
    place.write("x.csv", "x\n1\n2\n");
    for format in ["parquet", "arrow", "arrow-stream", "csv"] {
        let file = place.scan(&format!("x.csv --format {format}")).output().unwrap().stdout;
        for reverse in ["", "--reverse"] {
            let output = place
                .scan(&format!("- --column x_sum {reverse}"))
                .write_stdin(&*file)
                .output()
                .unwrap();
            common::succeeded(&output);
            let text = String::from_utf8(output.stdout).unwrap();
            let sums = if reverse.is_empty() { ["1,1,1", "2,3,4"] } else { ["1,1,4", "2,3,3"] };
            assert_eq!(text, format!("x,x_sum,x_sum_sum\n{}\n{}\n", sums[0], sums[1]), "{format}");
        }
    }
}

#[test]
fn a_summary_for_machines() {
    let place = Place::new();
    place.write("x.csv", "x,y\n1,0.5\n2,\n");
    let line = place.stdout("x.csv --column x --column y -o y.csv --json");
    assert_eq!(line.lines().count(), 1);
    let summary: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(summary["rows"], 2);
    assert_eq!(summary["op"], "sum");
    assert_eq!(summary["scans"][0]["total"], 3);
    assert_eq!(summary["scans"][1]["total"], 0.5);
    assert_eq!(summary["scans"][1]["as"], "y_sum");
    assert_eq!(summary["bytes_written"], place.read("y.csv").len());
    let by = place.stdout("x.csv --column x --by y -o y.csv --json");
    assert!(!by.contains("total"), "{by}");
}

/// JSON has no string for a path that isn't UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_names_any_file() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let name = OsStr::from_bytes(b"caf\xe9.csv");
    fs::write(place.directory.path().join(name), "x\n1\n").unwrap();
    let output = place.scan("--json -o y.csv").arg(name).output().unwrap();
    common::succeeded(&output);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["input"], serde_json::json!(b"caf\xe9.csv"));
    assert_eq!(summary["output"], "y.csv");
}

/// A sum of no floats is 0.0, as for numpy, not the identity -0.0.
#[test]
fn the_total_of_nothing() {
    let place = Place::new();
    let total = |arguments: &str| {
        let line = place.stdout(&format!("{arguments} -o y.csv --json"));
        serde_json::from_str::<serde_json::Value>(&line).unwrap()["scans"][0]["total"].to_string()
    };
    place.write("x.csv", "x,k\n,1\n,2\n");
    place.write("e.npy", npy("<f4", false, &[0], &[]));
    place.write("m.npy", npy("<f4", false, &[0, 3], &[]));
    place.write("zeros.npy", npy("<f8", false, &[1], bytemuck::bytes_of(&-0.0f64)));
    assert_eq!(total("x.csv --column x"), "0.0");
    assert_eq!(total("e.npy"), "0.0");
    assert_eq!(total("m.npy"), "0.0");
    assert_eq!(total("e.npy --op product"), "1.0");
    assert_eq!(total("e.npy --init 2"), "2.0");
    assert_eq!(total("zeros.npy"), "-0.0");
}

#[test]
fn tables_of_one_column() {
    let place = Place::new();
    // Nothing on a line is no row; a null has quotes.
    place.write("x.csv", "x\n\n1\n\"\"\n2\n");
    assert_eq!(place.stdout("x.csv"), "x,x_sum\n1,1\n\"\",\n2,3\n");
    let help = place.scan("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("A line of CSV with nothing on it is no row"));
    // Without values it is the one that is meant all the same.
    place.write("head.csv", "x\n");
    for column in ["", "--column x"] {
        assert_eq!(place.stdout(&format!("head.csv {column}")), "x,x_sum\n");
    }
    let piped = place.scan("-").write_stdin("x\n\"\"\n").output().unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), "x,x_sum\n\"\",\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Batches are a matter of speed alone, whatever the cells look like.
    #[test]
    fn any_batch_gives_the_same_bytes(
        rows in prop::collection::vec((0u8..3, prop::option::of(-1e6f64..1e6), "[a-z\",\n é]{0,6}"), 1..200),
        buffer in 1usize..600,
        reverse: bool,
        crlf: bool,
        op in prop::sample::select(vec!["sum", "product", "max", "argmin", "last-valid"]),
    ) {
        let place = Place::new();
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut text = format!("key,x,note{newline}");
        for (key, x, note) in &rows {
            let x = x.map_or(String::new(), |x| format!("{x:?}"));
            text += &format!("{key},{x},\"{}\"{newline}", note.replace('"', "\"\""));
        }
        place.write("x.csv", &text);
        let flags = if reverse { "--reverse" } else { "" };
        let arguments = format!("x.csv --column x --by key --dtype f64 --op {op} {flags}");
        let whole = place.stdout(&arguments);
        let mut pieces = place.scan(&arguments);
        let pieces = pieces.env("KOGGE_BUFFER", buffer.to_string()).output().unwrap();
        prop_assert_eq!(&whole, &String::from_utf8(pieces.stdout).unwrap());

        // And every row stands where it stood.
        let mut reader = csv::Reader::from_reader(whole.as_bytes());
        for (record, (key, x, note)) in reader.records().zip(&rows) {
            let record = record.unwrap();
            prop_assert_eq!(&record[0], key.to_string());
            prop_assert!(record[3].is_empty() == x.is_none() || op == "last-valid");
            prop_assert_eq!(&record[2], note);
        }
    }
}

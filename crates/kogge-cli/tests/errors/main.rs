//! Every way to fail: one message, its own exit code, no file left behind.

#[path = "../common/mod.rs"]
mod common;
mod damaged;
#[cfg(unix)]
mod signals;
mod streams;

use bytemuck::cast_slice;
use common::{Place, kogge, npy};
use std::fs;
use std::process::Command;

const CSV: &str = "date,precipitation,weather\nd1,1.5,rain\nd2,2,sun\n";

fn place() -> Place {
    let place = Place::new();
    place.write("x.csv", CSV);
    place.write("x.npy", npy("<f4", false, &[4], cast_slice(&[1f32, 2.0, 3.0, 4.0])));
    place
}

#[test]
fn usage() {
    let place = place();
    place.fails("x.csv --op summ", 2, &["summ", "sum"]);
    place.fails("x.csv --dtype float", 2, &["float", "f32"]);
    place.fails("x.csv --threads 0", 2, &[]);
    place.fails("x.csv --column precipitation --threads 1025", 2, &["1025", "1..=1024"]);
    place.fails("x.csv --json", 2, &["--output"]);
    place.fails("x.csv --json -o -", 2, &["-o FILE"]);
    place.fails("x.csv -o x.csv --column precipitation", 2, &["both input and output"]);
    place.fails("x.csv -o ./../x.xyz", 2, &["xyz", "--format"]);
    place.fails("x.csv -o y.parqet", 2, &["did you mean .parquet"]);
    place.fails("x.csv --axis 0", 2, &["--column"]);
    place.fails("x.npy --column value", 2, &["--axis"]);
    place.fails("x.csv --column precipitation --init much", 2, &["much", "f64"]);
    place.fails("x.csv --column precipitation --op argmin --init 1", 2, &["no --init"]);
    place.fails(
        "x.csv --column precipitation --op any --init 2",
        2,
        &["'2'", "give true or false"],
    );
    place.fails("x.csv --column precipitation --as a --as b", 2, &["--as"]);
    place.write("m.npy", npy("<f4", false, &[2, 2], &[0; 16]));
    for array in ["m.npy", "m.npy --axis 0 -o y.npy", "x.npy -o y.npy", "x.npy -o y.raw"] {
        place.fails(&format!("{array} --as a"), 2, &["--as names a new column", "leave --as out"]);
    }
    place.fails("m.npy --as a", 2, &["lines of text without names"]);
    place.fails("x.csv --column precipitation --as a -o y.npy", 2, &["--as names a new column"]);
    place.fails("x.csv --threads -1", 2, &["-1 is not in 1..=1024"]);
    assert!(place.stdout("x.npy --as a").starts_with("value,a\n"));
    place.fails("x.npy --as a --as b", 2, &["2 new name(s) for 1 new column(s)"]);
    place.fails("x.csv --column precipitation --input-dtype f32", 2, &["raw"]);
    place.write("two.csv", "x,y\n1,2\n");
    place.fails("two.csv", 2, &["--column", "x, y"]);
    place.write("x.dat", [0, 1, 2, 200, 255]);
    place.fails("x.dat", 2, &["--input-format"]);
    place.write("x.csv.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    for name in ["packed.csv", "packed.npy", "packed.parquet"] {
        place.write(name, packed);
        place.fails(name, 4, &["is packed by gzip", "gzip -dc FILE | kogge scan -"]);
    }
    place.fails("x.csv.gz", 4, &["'x.csv.gz' is packed by gzip", "gzip -dc FILE | kogge scan -"]);
    place.fails("x.csv.gz --input-format csv", 4, &["is packed by gzip"]);
    place.write("array.csv", fs::read(place.path("x.npy")).unwrap());
    place.fails("array.csv", 4, &["'array.csv' is no text, but npy", "--input-format npy"]);
    assert_eq!(place.stdout("array.csv --input-format npy"), place.stdout("x.npy"));
    place.fails("x.dat --dtype f32", 2, &["for raw elements give --input-format raw"]);
    place.write("x.bf16", [0x80, 0x3f]);
    place.fails(
        "x.bf16 --input-format raw --dtype bf16",
        5,
        &["tables have no bf16", "-o FILE.npy"],
    );
    place.fails("x.dat --input-format raw", 2, &["--dtype"]);
}

#[test]
fn tables_with_other_delimiters() {
    let place = place();
    place.write("semicolons.csv", "a;x\n1;2\n");
    place.write("tabs.csv", "a\tx\n1\t2\n");
    for arguments in ["", "--column x", "--by a"] {
        let fails = |file: &str, hint| {
            let output = place.scan(&format!("{file} {arguments}")).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && stderr.contains(hint), "{arguments}: {stderr}");
        };
        fails("semicolons.csv", "hint: the only column is 'a;x'; cells are separated by commas");
        fails(
            "tabs.csv",
            "hint: the only column is 'a\tx'; tabs separate cells by --input-format tsv",
        );
    }
    assert_eq!(place.last_column("tabs.csv --input-format tsv --format csv --column x"), ["2"]);
}

#[test]
fn inputs_that_cannot_be_read() {
    let place = place();
    place.fails("none.csv", 3, &["none.csv", "no such file"]);
    fs::create_dir(place.path("directory.csv")).unwrap();
    place.fails("directory.csv", 3, &["is a directory"]);
}

#[cfg(unix)]
#[test]
fn the_reason_of_the_system_is_told() {
    use std::os::unix::fs::symlink;
    let place = place();
    symlink("two.csv", place.path("one.csv")).unwrap();
    symlink("one.csv", place.path("two.csv")).unwrap();
    place.fails("one.csv", 3, &["cannot open 'one.csv': too many levels of symbolic links"]);
}

#[test]
fn malformed_tables() {
    let place = place();
    place.fails("x.csv --column weather", 4, &["line 2", "'rain'", "'weather'"]);
    place.write("late.csv", "x,y\n1,2\n3,4\nfive,6\n");
    place.fails("late.csv --column x -o y.csv", 4, &["line 4", "'five'", "late.csv"]);
    place.fails("late.csv --column x --dtype f32 -o y.csv", 4, &["line 4", "'five'"]);
    place.write("float.csv", "x\n1\n2.5\n");
    place.fails("float.csv --dtype i32 -o y.csv", 4, &["line 3", "'2.5'", "--dtype f64"]);
    place.write("big.csv", "x\n1e999\n");
    let beyond = "line 2 of 'big.csv': '1e999' in column 'x' is beyond the range of f64";
    for how in ["", "--column x", "--dtype f64", "--dtype f16 -o y.csv"] {
        place.fails(&format!("big.csv {how}"), 4, &[beyond, "hint: no type holds"]);
    }
    place.write("truths.csv", "x\n\"\"\ntrue\n1\nfalse\n");
    let says =
        ["line 4 of 'truths.csv': '1' in column 'x' is neither true nor false", "--dtype bool"];
    place.fails("truths.csv", 4, &says);
    place.fails("truths.csv --op any --column x", 4, &says);
    assert_eq!(
        place.last_column("truths.csv --op all --dtype bool"),
        ["", "true", "true", "false"]
    );
    place.write("begun.csv", "x\n0\n1\ntrue\n");
    assert_eq!(place.last_column("begun.csv --op any --dtype bool"), ["false", "true", "true"]);
    place.write("maybe.csv", "x\ntrue\n1\nmaybe\n");
    place.fails("maybe.csv", 4, &["line 3", "either numbers or truth values"]);
    place.fails("maybe.csv --op any --dtype bool", 4, &["line 3"]);
    place.write("ragged.csv", "x,y\n1,2\n3\n");
    place.fails("ragged.csv --column x -o y.csv", 4, &["line 3", "1 cells"]);
    // Line ends of another age, beyond what is read at once, too.
    place.write("old.csv", "x\r".to_owned() + &"1\r".repeat(200_000) + "five\r");
    place.fails("old.csv --column x -o y.csv", 4, &["line 200002", "'five'"]);
    place.fails("old.csv --column x --dtype i64 -o y.csv", 4, &["line 200002", "'five'"]);
    place.write("empty.csv", "");
    place.fails("empty.csv --column x", 4, &["empty"]);
    for format in ["parquet", "arrow"] {
        let name = format!("x.{format}");
        place.stdout(&format!("x.csv --column precipitation -o {name}"));
        let whole = place.read(&name);
        for keep in [whole.len() - 9, whole.len() / 2, 9, 2] {
            place.write(&name, &whole[..keep]);
            place.fails(&format!("{name} --column precipitation -o y.csv"), 4, &[&name]);
        }
    }
}

/// What stands in a file must not steer the terminal, nor fill it.
#[test]
fn messages_stay_on_their_line() {
    let place = place();
    place.write("odd.csv", "x,y\n\"1\u{1b}[2J\n2\",3\n");
    place.fails("odd.csv --column x", 4, &[r"line 2 of 'odd.csv': '1\u{1b}[2J\n2' in column 'x'"]);
    place.write("long.csv", format!("x,{}\n{},3\n", "y".repeat(100_000), "z".repeat(1_000_000)));
    for arguments in ["--column x", "--column why"] {
        let output = place.scan(&format!("long.csv {arguments}")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.len() < 5_000 && said.contains(" ... "), "{arguments}: {}", said.len());
    }
}

#[test]
fn quotes_that_nothing_closes() {
    let place = place();
    let text = "x,n\n1,\"a\n2,3\n";
    place.write("open.csv", text);
    for dtype in ["", "--dtype f64"] {
        let arguments = format!("--column x {dtype} -o y.csv");
        place.fails(&format!("open.csv {arguments}"), 4, &["line 2 of 'open.csv'", "quote"]);
        let output = place.scan(&format!("- {arguments}")).write_stdin(text).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{stderr}");
        assert!(stderr.contains("line 2 of standard input: a quote opens"), "{stderr}");
    }
}

#[test]
fn text_that_is_not_utf8() {
    let place = place();
    let text = b"x,city\n1,Paris\n\n2,\"a\nb\"\n3,caf\xe9\n";
    place.write("latin.csv", text);
    place.write("head.csv", b"x,caf\xe9\n1,\xe9\n");
    let says = ["line 6 of", "'city'", "UTF-8", "iconv"];
    for format in ["parquet", "arrow", "arrows"] {
        place.fails(&format!("latin.csv --column x -o y.{format}"), 4, &says);
        let scan = format!("- --column x -o y.{format}");
        let piped = place.scan(&scan).write_stdin(text).output().unwrap();
        assert_eq!(piped.status.code(), Some(4));
        let says = ["header of 'head.csv'", "column 2", "UTF-8"];
        place.fails(&format!("head.csv --column x -o y.{format}"), 4, &says);
    }
    assert_eq!(place.names(), ["head.csv", "latin.csv", "x.csv", "x.npy"]);
    // Of other bytes not even the columns can be told.
    for (name, mark) in [("little.csv", [0xff, 0xfe]), ("big.txt", [0xfe, 0xff])] {
        place.write(name, [&mark[..], b"\0x\0,\0y\0\n\0"].concat());
        place.fails(&format!("{name} --column x"), 4, &["is text in UTF-16", "iconv -f utf-16"]);
    }
    // Text stays as it is.
    place.stdout("head.csv --column x -o y.csv");
    assert_eq!(place.read("y.csv"), b"x,caf\xe9,x_sum\n1,\xe9,1\n");
    place.stdout("head.csv --column x -o y.tsv");
    assert_eq!(place.read("y.tsv"), b"x\tcaf\xe9\tx_sum\n1\t\xe9\t1\n");
}

#[test]
fn malformed_arrays() {
    let place = place();
    let whole = place.read("x.npy");
    place.write("cut.npy", &whole[..whole.len() - 1]);
    place.fails("cut.npy -o y.npy", 4, &["truncated", "16 bytes", "holds 15"]);
    place.write("head.npy", &whole[..40]);
    place.fails("head.npy -o y.npy", 4, &["truncated"]);
    place.write("other.npy", "x\n1\n2\n");
    place.fails("other.npy", 4, &["is not a .npy file"]);
    for keep in [0, 3, 6, 7] {
        place.write("head.npy", &whole[..keep]);
        place.fails("head.npy", 4, &["truncated"]);
    }
    place.write("long.npy", [whole.as_slice(), &[0]].concat());
    place.fails("long.npy -o y.npy", 4, &["goes on"]);
    // The longest there can be is no sign of a pipe whose length is unknown.
    let longest = npy("|u1", false, &[i64::MAX as usize / 8], &[1, 2, 3]);
    let output = place.scan("- -o y.npy").write_stdin(longest).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let huge = npy("<f4", false, &[1 << 40, 1 << 40], &[]);
    place.write("huge.npy", huge);
    place.fails("huge.npy -o y.npy", 4, &["2^63"]);
    place.write("odd.raw", [0; 7]);
    place.fails("odd.raw --dtype f32 -o y.npy", 4, &["7 bytes", "f32"]);
    for (cut, says) in [
        (&whole[..whole.len() - 3], "truncated"),
        (&[whole.as_slice(), &[1]].concat()[..], "goes on"),
    ] {
        for reverse in ["", "--reverse"] {
            let output =
                place.scan(&format!("- -o y.npy {reverse}")).write_stdin(cut).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(4), "{stderr}");
            assert!(stderr.contains(says), "{stderr}");
            assert!(!place.names().iter().any(|name| name.contains("partial") || name == "y.npy"));
        }
    }
}

#[test]
fn requests_that_do_not_fit() {
    let place = place();
    place.fails(
        "x.csv --column precipitaton",
        5,
        &["did you mean 'precipitation'", "date, precipitation, weather"],
    );
    place.fails("x.csv --column zzz", 5, &["the columns are"]);
    place.fails("x.csv --column precipitation --by wether", 5, &["did you mean 'weather'"]);
    place.fails("x.csv --column precipitation --op bitand", 5, &["bitand", "f64"]);
    place.fails("x.csv --column precipitation --as weather", 5, &["two columns 'weather'"]);
    place.fails("x.npy --axis 1", 5, &["axis 1", "-1 to 0"]);
    place.fails("x.npy --axis 1 -o y.npy", 5, &["axis 1"]);
    place.write("one.npy", npy("<f4", false, &[], &[0; 4]));
    place.fails("one.npy --axis 0", 5, &["axis 0", "no axes"]);
    for output in ["", "--reverse", "-o y.npy", "-o y.parquet"] {
        place.fails(&format!("x.npy --op affine {output}"), 5, &["two columns of a table"]);
    }
    place.fails("x.npy --accumulate f16", 5, &["f16"]);
    place.write("half.npy", npy("<f4", false, &[2], cast_slice(&[1f32, 2.5])));
    place.fails("half.npy --dtype i32 -o y.npy", 5, &["element 1", "i32"]);
    place.write("complex.npy", npy("<c8", false, &[1], &[0; 8]));
    place.fails("complex.npy", 5, &["<c8"]);
    place.write("matrix.npy", npy("<f4", true, &[2, 2], &[0; 16]));
    place.fails("matrix.npy --axis 0 -o y.parquet", 5, &["[2, 2]"]);
    place.write("words.csv", "a,b\nx,y\n");
    place.fails("words.csv", 5, &["no column of numbers"]);
    place.write("one.csv", "a\n1\n\n2x\n");
    place.fails("one.csv", 4, &["line 4 of 'one.csv'", "'2x' in column 'a'"]);
    place.fails("one.csv --op max", 4, &["line 4 of 'one.csv'"]);
    place.write("slip.csv", "k,a,t\nx,1,2\ny,2,now\nz,3,4\n");
    place.fails("slip.csv --by a", 4, &["line 3 of 'slip.csv'", "'now' in column 't'"]);
    place.write("slips.csv", "a,t\n1,2\no,now\n");
    place.fails("slips.csv", 5, &["no column of numbers"]);
    place.write("truths.csv", "k,t\nx,true\ny,false\n");
    place.fails("truths.csv --op sum --dtype bool", 5, &["sum", "bool"]);
    assert_eq!(place.last_column("truths.csv --op all"), ["true", "false"]);
    place.write("truths.csv", "s,t\ntrue,true\ntrue,false\n");
    place.fails("truths.csv --op all", 2, &["--column", "columns of truth values: s, t"]);
    place.write("twice.csv", "x,x\n1,2\n");
    place.fails("twice.csv --column x", 5, &["several columns 'x'"]);
}

/// Whoever follows the advice must not have the file read as another type.
#[test]
fn hints_keep_what_a_raw_input_holds() {
    let place = place();
    place.write("x.raw", [0u8; 8]);
    let hint = |arguments: &str, code, hint: &str| place.fails(arguments, code, &[hint]);
    hint("x.raw --dtype bf16 -o y.npy", 5, "hint: use --input-dtype bf16 --dtype f32");
    hint("x.raw --dtype f32 --op bitor", 5, "try --input-dtype f32 --dtype i64");
    hint("x.raw --dtype i32 --op any", 5, "give --input-dtype i32 in place of --dtype");
    hint("x.raw --dtype i32 --op max --init 3000000000", 2, "hint: --input-dtype i32 --dtype i64");
    hint("x.raw --input-dtype bf16 --dtype bf16 -o y.npy", 5, "hint: use --dtype f32");
    for advised in [
        "--input-dtype bf16 --dtype f32 -o y.npy",
        "--input-dtype f32 --dtype i64 --op bitor",
        "--input-dtype i32 --op any",
        "--input-dtype i32 --dtype i64 --op max --init 3000000000",
    ] {
        place.stdout(&format!("x.raw {advised}"));
    }
}

#[test]
fn elements_that_a_type_cannot_hold() {
    let place = place();
    let any = "hint: --dtype f64 takes any number";
    place.write("big.npy", npy("<f8", false, &[2], cast_slice(&[1.0, 1e300])));
    let element = "element 1 of 'big.npy' is beyond the range of";
    for dtype in ["f32", "f16", "bf16"] {
        place.fails(&format!("big.npy --dtype {dtype}"), 5, &[element, dtype, any]);
    }
    place.fails("big.npy --dtype f32 -o y.npy", 5, &[element, any]);
    place.fails("big.npy --dtype i32 -o y.npy", 5, &["a number of the type i32", any]);
    place.fails("big.npy --dtype i32 --op bitor", 5, &["--dtype chooses another type"]);
    place.stdout("big.npy -o x.parquet");
    let row = "row 1 of column 'value' is beyond the range of f32";
    place.fails("x.parquet --column value --op max --dtype f32", 5, &[row, any]);
    // By indices, whatever the order.
    let elements = [1.0, 2.0, 3.0, 4.0, 0.5, 6.0];
    for (fortran, index) in [(false, "[1, 1]"), (true, "[0, 2]")] {
        place.write("m.npy", npy("<f8", fortran, &[2, 3], cast_slice(&elements)));
        for axis in ["", "--axis 0", "--axis 1", "--axis 0 --reverse"] {
            let says = format!("element {index} of 'm.npy'");
            place.fails(&format!("m.npy --dtype i32 {axis} -o y.npy"), 5, &[&says]);
        }
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let place = place();
    place.fails("x.npy -o none/y.npy", 6, &["none/y.npy"]);
    fs::create_dir(place.path("directory.npy")).unwrap();
    place.fails("x.npy -o directory.npy", 6, &["is a directory"]);
    let target = place.write("read-only.npy", "kept");
    let mut permissions = fs::metadata(&target).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&target, permissions).unwrap();
    place.fails("x.npy -o read-only.npy", 6, &["read-only"]);
    assert_eq!(place.text("read-only.npy"), "kept");
}

#[cfg(unix)]
#[test]
fn a_place_for_copies_that_is_not_there() {
    let place = place();
    for arguments in ["- --reverse -o y.npy", "x.npy --reverse --format npy"] {
        let mut scan = place.scan(arguments);
        let output = scan.env("TMPDIR", "/nowhere").write_stdin(place.read("x.npy")).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains("in '/nowhere'"), "{said}");
        assert!(said.contains("hint: TMPDIR names"), "{said}");
    }
}

#[test]
fn a_failure_leaves_the_old_output() {
    let place = place();
    place.write("y.csv", "old");
    place.fails("x.csv --column weather -o y.csv", 4, &[]);
    assert_eq!(place.text("y.csv"), "old");
    place.write("y.npy", "old");
    place.write("late.csv", "x\n".to_owned() + &"1\n".repeat(10_000) + "2.5\n");
    place.fails("late.csv --dtype i64 -o y.npy", 4, &["line 10002"]);
    assert_eq!(place.text("y.npy"), "old");
    place.stdout("x.csv --column precipitation -o y.csv");
    assert!(place.text("y.csv").starts_with("date,"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let place = place();
    for format in ["csv", "npy", "raw", "parquet", "arrow"] {
        place.fails(
            &format!("x.npy -o /dev/full --format {format}"),
            7,
            &["/dev/full", "no space left"],
        );
    }
    place.fails("x.csv --column precipitation -o /dev/full --format csv", 7, &["/dev/full"]);
    for asked in ["--help", "--version", "man"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run =
            Command::new(env!("CARGO_BIN_EXE_kogge")).arg(asked).stdout(full).output().unwrap();
        assert_eq!(run.status.code(), Some(7), "{asked}");
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(said.contains("no space left"), "{asked}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_beyond_the_largest_allowed() {
    let place = place();
    place.write("long.npy", npy("<f4", false, &[5_000], &[0; 20_000]));
    let before = place.names();
    let script = "ulimit -f 2; exec \"$0\" scan long.npy -o y.npy";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_kogge")]);
    let output = command.current_dir(place.directory.path()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    assert!(stderr.contains("cannot write 'y.npy': file too large"), "{stderr}");
    assert_eq!(place.names(), before);
}

/// A scan in a little more memory each time, from too little to start the program to enough.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory() {
    let place = place();
    place.write("wide.csv", format!("k,x\n{},1\n", "k".repeat(16 << 20)));
    let before = place.names();
    let (mut kib, mut failed) = (64 << 10, 0);
    loop {
        let script = format!(
            "ulimit -v {kib}; exec \"$0\" scan wide.csv --column x --threads 1 -o y.parquet"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_kogge")]);
        let output = command.current_dir(place.directory.path()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => break,
            Some(8) => {
                failed += 1;
                assert!(
                    stderr.starts_with("error: ") && stderr.contains("ulimit -v"),
                    "{kib}: {stderr}"
                );
                assert_eq!(stderr.lines().count(), 2, "{kib}: {stderr}");
            }
            code => {
                assert!(failed == 0 && matches!(code, None | Some(127)), "{kib}: {code:?} {stderr}")
            }
        }
        assert_eq!(place.names(), before, "{kib}");
        kib += kib / 10;
    }
    assert!(failed > 0 && place.names().contains(&"y.parquet".to_owned()));
}

#[cfg(unix)]
#[test]
fn outputs_keep_their_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = place();
    let target = place.write("y.npy", "");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("y.npy", place.path("link.npy")).unwrap();
    place.stdout("x.npy -o link.npy");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(place.path("link.npy")).unwrap().is_symlink());
    assert!(place.read("y.npy").starts_with(b"\x93NUMPY"));
}

#[cfg(unix)]
#[test]
fn an_output_may_be_a_link_to_nothing() {
    use std::os::unix::fs::symlink;
    let place = place();
    fs::create_dir(place.path("there")).unwrap();
    symlink("there/second", place.path("first.npy")).unwrap();
    symlink("y.npy", place.path("there/second")).unwrap();
    place.stdout("x.npy -o first.npy");
    assert!(place.read("there/y.npy").starts_with(b"\x93NUMPY"));
    for link in ["first.npy", "there/second"] {
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink(), "{link}");
    }
    symlink("other.npy", place.path("one.npy")).unwrap();
    symlink("one.npy", place.path("other.npy")).unwrap();
    place.fails("x.npy -o one.npy", 6, &["'one.npy'", "symbolic links"]);
    assert!(fs::symlink_metadata(place.path("one.npy")).unwrap().is_symlink());
    symlink("none/y.npy", place.path("nowhere.npy")).unwrap();
    place.fails("x.npy -o nowhere.npy", 6, &["'nowhere.npy'", "no such file"]);
    // A pipe has no path behind its links.
    assert!(place.stdout("x.npy -o /dev/stdout --format csv").starts_with("value,"));
}

#[test]
fn help_completions_and_manual() {
    let text = |arguments: &[&str]| {
        let output = kogge().args(arguments).output().unwrap();
        common::succeeded(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    let help = text(&["scan", "--help"]);
    for says in
        ["Examples:", "Exit codes:", "--accumulate", "logaddexp", "Nulls:", "Keys:", "Memory:"]
    {
        assert!(help.contains(says), "{says}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(text(&["completions", shell]).contains("exclusive"), "{shell}");
    }
    let manual = text(&["man"]);
    assert!(manual.contains(".TH kogge") && manual.contains("exclusive") && manual.contains("130"));
}

#[test]
fn the_manual_has_a_file_for_each_page() {
    let place = Place::new();
    let man = |directory: &str| {
        let directory = place.path(directory);
        kogge().arg("man").arg(directory).output().unwrap()
    };
    let output = man("man/man1");
    common::succeeded(&output);
    assert!(output.stdout.is_empty());
    assert!(place.text("man/man1/kogge-lab-run.1").contains(".TH kogge-lab-run 1"));
    // Each page that another refers to is there.
    let mut references = 0;
    for page in fs::read_dir(place.path("man/man1")).unwrap() {
        let text = fs::read_to_string(page.unwrap().path()).unwrap().replace("\\-", "-");
        for word in text.split_whitespace().filter(|word| word.starts_with("kogge-")) {
            if let Some((name, _)) = word.split_once("(1)") {
                assert!(place.path(&format!("man/man1/{name}.1")).is_file(), "{word}");
                references += 1;
            }
        }
    }
    assert!(references >= 10, "{references}");
    let output = man("man/man1/kogge.1/below");
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{output:?}");
}

//! `kogge lab`, as one meets it on the command line.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kogge")).arg("lab").args(args).output().expect("kogge starts")
}

fn json(args: &[&str]) -> (Value, Option<i32>) {
    let output = lab(args);
    let value = serde_json::from_slice(&output.stdout);
    (value.unwrap_or_else(|error| panic!("{args:?}: {error}, {output:?}")), output.status.code())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What `README.md` shows: a command, then lines of its output in order, and `...` for those left
/// out.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../../README.md");
    let blocks = readme.split("```console\n$ kogge lab ").skip(1);
    let shown: Vec<_> = blocks.map(|rest| rest.split_once("\n```").expect("an end").0).collect();
    assert!(!shown.is_empty());
    for block in shown {
        let (args, lines) = block.split_once('\n').expect("output");
        let output = lab(&args.split(' ').collect::<Vec<_>>());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        let mut rest = printed.lines();
        for part in lines.split("...\n") {
            let mut part = part.lines();
            let Some(first) = part.next() else { continue };
            assert!(rest.any(|line| line == first), "{args}: {first:?} is missing in\n{printed}");
            for line in part {
                assert_eq!(rest.next(), Some(line), "{args}:\n{printed}");
            }
        }
    }
}

const KERNEL: &str = "// Not written for the laboratory.
__device__ int offset = 100;
__global__ void scan(int *data, int *result, int n) {
  __shared__ int buf[64];
  int i = threadIdx.x;
  if (i < n) buf[i] = data[i];
  for (int s = 1; s < n; s <<= 1) {
    __syncthreads();
    int v = 0;
    if (i >= s) v = buf[i - s];
    __syncthreads();
    buf[i] += v;
  }
  result[i] = buf[i] + offset;
}
";

fn file(dir: &Path, text: &str) -> String {
    let path = dir.join("kernel.cu");
    std::fs::write(&path, text).expect("a file is written");
    path.to_string_lossy().into_owned()
}

#[test]
fn sessions() {
    trycmd::TestCases::new().case("tests/lab/*.trycmd");
}

#[test]
fn a_clean_run_exits_0_and_has_the_promised_fields() {
    let (report, code) =
        json(&["run", "kogge_stone_shared", "--n", "16", "--element", "int", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(report["arrays"]["y"][15], 120);
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    assert_eq!((&report["work"], &report["steps"]), (&49.into(), &4.into()));
}

#[test]
fn a_hazard_exits_3_with_kind_line_and_message() {
    let args = [
        "run",
        "kogge_stone_shared",
        "--mutant",
        "no-barrier-before-writes",
        "--n",
        "64",
        "--json",
    ];
    let (report, code) = json(&args);
    assert_eq!(code, Some(3));
    let finding = &report["findings"][0];
    assert_eq!(finding["kind"], "race");
    assert!(finding["line"].as_u64().is_some_and(|line| line > 20));
    assert!(finding["message"].as_str().is_some_and(|message| !message.is_empty()));
}

#[test]
fn a_result_shorter_than_its_input_is_no_scan() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = file(dir.path(), "__global__ void k(int *x, int *y) { y[0] = x[0]; }");
    let run = |x: &str, y: &str| {
        let (x, y) = (format!("x=int:iota({x})"), format!("y=int[{y}]"));
        let expect = ["--expect", "inclusive-sum:x:y"];
        lab(&[&["run", &first, "--block", "1", "--arg", &x, "--arg", &y], &expect[..]].concat())
    };
    let output = run("2", "1");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("`x` has 2 elements and `y` 1"), "{output:?}");
    assert_eq!(run("1", "2").status.code(), Some(0), "what lies behind isn't looked at");
}

#[test]
fn bad_input_exits_1_and_says_why() {
    let dir = tempfile::tempdir().expect("a folder");
    let bad = file(dir.path(), "__global__ void k(int *x) { x[0] = ; }");
    for (args, word) in [
        (vec!["run", "sklanski"], "sklansky"),
        (vec!["run", "nothing.cu"], "nothing.cu"),
        (vec!["run", &bad], "1:"),
        (vec!["run", "sklansky", "--order", "sideways"], "--order"),
        (vec!["run", "sklansky", "--arg", "x"], "NAME=VALUE"),
        (vec!["run", "sklansky", "--arg", "x=int:fibonacci(3)"], "--arg"),
        (vec!["run", "sklansky", "--arg", "x=int:1", "--arg", "x=int:2"], "x is given twice"),
        (vec!["run", "sklansky", "--operator", "and"], "it takes integers: --element int"),
        (vec!["run", "sklansky", "--operator", "affine"], "it takes --element unsigned"),
        (vec!["run", "sklansky", "--operator", "sums"], "operators are sum"),
        (vec!["run", "sklansky", "--element", "string"], "--element"),
        (vec!["run", "sklansky", "--mutant", "none"], "no-barrier"),
        (vec!["run", "sklansky", "--n", "0"], "--n"),
        (vec!["run", "sklansky", "--grid", "0"], "--grid"),
        (vec!["run", "sklansky", "--expect", "inclusive-sum:x"], "inclusive-sum"),
        (vec!["draw", "sklansky", "-o", "drawing.gif"], ".svg"),
        (vec!["bench", "--from", &bad], "no record"),
        (vec!["watch", "sklansky"], "terminal"),
        (vec!["run", "sklansky", "--resident", "many"], "--resident"),
        (vec!["run", "sklansky", "--sideways"], "--sideways"),
        (vec!["run", "sklansky", "--schedules", "0"], "--schedules"),
        #[cfg(unix)]
        (vec!["run", "/dev/zero", "--grid", "1"], "/dev/zero is no CUDA file"),
        (vec!["run", "sklansky", "--arg", "x=int:1,2", "--n", "3"], "--n: x has 2"),
        (vec!["run", "sklansky", "--arg", "x=int:1,2", "--element", "float"], "--element"),
        (vec!["run", "sklansky", "--block", "16", "--mutant", "none"], "no-barrier"),
        (vec!["run", "sklansky", "--block", "16", "--n", "16"], "--arg"),
        (vec!["run", "sklansky", "--block", "16", "--operator", "and"], "--operator"),
        (vec!["run"], "LESSON"),
    ] {
        let output = lab(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        assert!(stderr(&output).contains(word), "{args:?}: {}", stderr(&output));
    }
}

/// A launch by hand runs the text that was asked for, with its fault, operator and elements.
#[test]
fn a_lesson_launched_by_hand_is_the_one_asked_for() {
    let by_hand = ["--block", "16", "--shared", "128"];
    let arrays = |ty: &str| [format!("x={ty}:random(16,2)"), format!("y={ty}[16]"), "n=16".into()];
    let run = |command: &str, ty: &str, more: &[&str]| {
        let arrays = arrays(ty);
        let arrays = arrays.iter().flat_map(|array| ["--arg", array]);
        let first = [command, "kogge_stone_shared"].into_iter().chain(by_hand).chain(arrays);
        lab(&first.chain(more.iter().copied()).collect::<Vec<_>>()).status.code()
    };
    for command in ["run", "trace", "draw"] {
        assert_eq!(run(command, "float", &[]), Some(0), "{command}");
        assert_eq!(run(command, "float", &["--mutant", "no-temporary"]), Some(3), "{command}");
    }
    let host = ["--host", "scan<<<1, 16, 64>>>(x, y, N);", "--mutant", "no-temporary"];
    let given = ["run", "kogge_stone_shared", "--arg", "x=float[16]", "--arg", "y=float[16]"];
    assert_eq!(lab(&[&given[..], &host].concat()).status.code(), Some(3));
    for (ty, operator) in [("int", "sum"), ("double", "max"), ("u64", "xor")] {
        let expectation = format!("inclusive-{operator}:x:y");
        let asked = ["--operator", operator, "--expect", &expectation];
        assert_eq!(run("run", ty, &asked), Some(0), "{ty}, {operator}");
        assert_eq!(run("run", ty, &[&asked[..], &["--element", ty]].concat()), Some(0), "{ty}");
        assert_eq!(run("run", ty, &["--expect", "inclusive-min:x:y"]), Some(3), "{ty}");
    }
}

/// What only lessons have is refused for any other file, and not passed over.
#[test]
fn options_of_lessons_are_refused_for_other_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let kernel = file(dir.path(), KERNEL);
    let hosted = dir.path().join("hosted.cu").to_string_lossy().into_owned();
    std::fs::write(
        &hosted,
        format!("// Mine.\n//\n// host:\n//     scan<<<1, N>>>(data, result, N);\n{KERNEL}"),
    )
    .expect("a file is written");
    let arrays = ["--arg", "data=int:1,2", "--arg", "result=int[2]", "--arg", "n=2"];
    for command in ["run", "trace", "draw", "watch"] {
        for file in [&kernel, &hosted] {
            for (option, value) in
                [("--mutant", "foo"), ("--operator", "sum"), ("--element", "int"), ("--n", "2")]
            {
                let args = [&[command, file][..], &arrays, &[option, value]].concat();
                let output = lab(&args);
                assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
                let said = stderr(&output);
                assert!(said.contains(&format!("{option}: {file} is no lesson")), "{said}");
            }
        }
    }
    let output = lab(&[&["run", &kernel][..], &arrays, &["--mutant", "foo", "--n", "2"]].concat());
    assert!(stderr(&output).contains("--mutant, --n: "), "{}", stderr(&output));
    let launched = [&["run", &kernel][..], &arrays].concat();
    assert_eq!(lab(&launched).status.code(), Some(0));
}

/// A file that has a lesson's header is a lesson in every way but that it has no mutants.
#[test]
fn a_file_with_a_header_is_a_lesson() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = file(dir.path(), &String::from_utf8_lossy(&lab(&["show", "sklansky"]).stdout));
    let right = ["run", &path, "--n", "40", "--operator", "max", "--element", "int", "--json"];
    let (report, code) = json(&right);
    assert_eq!(
        (code, &report["results"]["right"][0]),
        (Some(0), &"y is the inclusive max of x".into())
    );
    let output = lab(&["run", &path, "--mutant", "no-barrier"]);
    assert!(stderr(&output).contains("it has none"), "{}", stderr(&output));
    let exclusive =
        std::fs::read_to_string(&path).expect("a file").replace("inclusive", "exclusive");
    std::fs::write(&path, exclusive).expect("a file is written");
    assert_eq!(json(&right).1, Some(3), "the header says which scan it is");
}

#[test]
fn the_result_of_a_lesson_is_checked() {
    let faulty = ["ladner_fischer", "--mutant", "no-last-step", "--n", "1000"];
    let (report, code) = json(&[&["run"], &faulty[..], &["--json"]].concat());
    assert_eq!((code, &report["findings"][0]["kind"]), (Some(3), &"wrong-result".into()));
    let said = report["results"]["wrong"][0].as_str().unwrap_or_default();
    assert!(said.contains("743 of 1000 elements differ from the inclusive sum of x"), "{said}");
    // Off by one among half a million, which a bound on rounding would let pass.
    let dropped = ["run", "sequential", "--n", "1000", "--arg", "n=999", "--json"];
    assert_eq!(
        json(&dropped).0["results"]["unchecked"].as_str().map(|r| r.starts_with("n is")),
        Some(true)
    );
    for (args, sentence) in [
        (vec!["kogge_stone_exclusive_load"], "y is the exclusive sum of x"),
        (vec!["hierarchical_exclusive", "--operator", "min"], "y is the exclusive min of x"),
        (
            vec!["look_back", "--operator", "affine", "--element", "u32", "--n", "700"],
            "y is the inclusive affine scan of x",
        ),
        (
            vec!["sklansky", "--arg", "x=float:0.1,0.2,0.3,0.4,1e-9,1e9,0.7"],
            "y is the inclusive sum of x",
        ),
        (vec!["sklansky", "--arg", "x=float:3e38,3e38,-3e38,-3e38"], "some orders of combination"),
        (vec!["sklansky", "-D", "COMBINE(a, b)=((a) * (b))"], "COMBINE is defined"),
        (vec!["sklansky", "-D", "ELEMENT=int"], "y is the inclusive sum of x"),
        (vec!["sklansky", "--arg", "y=float[16]"], "y is the inclusive sum of x"),
    ] {
        let output = lab(&[&["run"], &args[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(sentence), "{args:?}: {text}");
    }
}

/// What the list says shows a mutant is typed, and shows it.
#[test]
fn every_mutant_shows_as_the_list_says() {
    let (list, _) = json(&["list", "--json"]);
    let mut shown = 0;
    for lesson in list.as_array().expect("a list") {
        for mutant in lesson["mutants"].as_array().expect("mutants") {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            let mut args = vec!["run".to_owned(), text(&lesson["name"])];
            args.extend(["--json".to_owned(), "--mutant".to_owned(), text(&mutant["name"])]);
            args.extend(mutant["arguments"].as_array().expect("arguments").iter().map(text));
            let args: Vec<_> = args.iter().map(String::as_str).collect();
            let (report, code) = json(&args);
            assert_eq!(code, Some(3), "{args:?}");
            let findings = report["findings"].as_array().expect("findings");
            let found = findings.iter().any(|finding| finding["kind"] == mutant["finds"]);
            assert!(found, "{args:?}: {findings:?}");
            shown += 1;
        }
    }
    assert!(shown > 100, "{shown}");
    let table = lab(&["list", "--mutants"]).stdout;
    let table = String::from_utf8_lossy(&table);
    assert!(table.contains("race with --n 1024 --schedules 4 --strict-fences"), "{table}");
}

#[test]
fn a_lesson_says_where_its_hazard_shows() {
    let output = lab(&["run", "domino_static"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told =
        "the hazard shows as deadlock with --n 2048 --resident 2 --order reverse --schedules 4";
    assert!(text.ends_with(&format!("{told}\n")), "{text}");
}

#[test]
fn a_file_runs_with_arguments_and_device_variables() {
    let dir = tempfile::tempdir().expect("a folder");
    let kernel = file(dir.path(), KERNEL);
    let mut args =
        vec!["run", &kernel, "--arg", "data=int:1,2,3,4", "--arg", "result=int[4]", "--arg", "n=4"];
    args.extend(["--arg", "offset=10", "--json"]);
    let (report, code) = json(&args);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["arrays"]["result"], serde_json::json!([11, 13, 16, 20]));
}

#[test]
fn expectations_are_checked() {
    let dir = tempfile::tempdir().expect("a folder");
    let kernel = file(dir.path(), KERNEL);
    let mut args = vec![
        "run",
        &kernel,
        "--arg",
        "data=int:random(32,7)",
        "--arg",
        "result=int[32]",
        "--arg",
        "n=32",
    ];
    args.extend(["--expect", "inclusive-sum:data:result", "--json"]);
    let right = [args.clone(), vec!["--arg", "offset=0"]].concat();
    assert_eq!(json(&right).1, Some(0));
    let (report, code) = json(&args);
    assert_eq!(code, Some(3));
    assert_eq!(report["findings"][0]["kind"], "wrong-result");
}

/// Right only while blocks come in order, and without a race.
const ARRIVAL: &str = "__device__ int sum;
__global__ void scan(int *x, int *y) {
    y[blockIdx.x] = atomicAdd(&sum, x[blockIdx.x]) + x[blockIdx.x];
}
";

#[test]
fn the_result_of_every_schedule_is_checked() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = file(dir.path(), ARRIVAL);
    let run = |more: &[&str]| {
        let given = ["--arg", "x=int:1,2,3,4", "--arg", "y=int[4]", "--grid", "4", "--block", "1"];
        let expected = ["--expect", "inclusive-sum:x:y", "--json"];
        json(&[&["run", &path], &given[..], &expected, more].concat())
    };
    let right = "y is the inclusive sum of x";
    let (report, code) = run(&[]);
    assert_eq!((code, &report["results"]["right"][0]), (Some(0), &right.into()));

    let (report, code) = run(&["--schedules", "3"]);
    assert_eq!((code, report["results"]["right"].as_array().map(Vec::len)), (Some(3), Some(0)));
    assert_eq!(report["arrays"]["y"][3], 10, "the contents are those of the first schedule");
    let wrong = report["results"]["wrong"][0].as_str().expect("a sentence");
    assert!(wrong.starts_with("y[0] is 10, not 1: 4 of 4 elements differ"), "{wrong}");
    assert!(wrong.contains("under the reverse schedule (2 of 3 schedules go wrong)"), "{wrong}");
    assert!(wrong.ends_with("to repeat it: --order reverse"), "{wrong}");

    // What is said to repeat it does, whichever schedule it is.
    for first in ["random", "reverse"] {
        let (report, _) = run(&["--order", first, "--seed", "3", "--schedules", "5"]);
        let wrong = report["results"]["wrong"][0].as_str().expect("a sentence");
        let (found, _) = wrong.split_once(" differ").expect("elements differ");
        let (_, options) = wrong.split_once("to repeat it: ").expect("how to repeat it");
        let (alone, code) = run(&options.split(' ').collect::<Vec<_>>());
        assert_eq!(code, Some(3));
        assert!(alone["results"]["wrong"][0].as_str().unwrap_or("").starts_with(found), "{wrong}");
    }
}

#[test]
fn a_finding_says_which_schedule_shows_it() {
    let run = |more: &[&str]| {
        let given = ["run", "domino_static", "--n", "2048", "--resident", "2"];
        let output = lab(&[&given, more].concat());
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let (text, code) = run(&["--schedules", "2"]);
    assert_eq!(code, Some(3));
    assert!(text.contains("deadlock at line"), "{text}");
    assert!(text.contains("to repeat it: --order reverse"), "{text}");
    assert_eq!(run(&["--order", "forward"]).1, Some(0));
    let (text, code) = run(&["--order", "reverse"]);
    assert_eq!((code, text.contains("to repeat it")), (Some(3), false), "{text}");
}

#[test]
fn arrays_come_from_npy_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.npy");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
    bytes.extend(format!("{header:<117}\n").into_bytes());
    bytes.extend([5_i32, 6, 7].iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(&path, bytes).expect("a file is written");
    let value = format!("x=int:@{}", path.display());
    let (report, code) = json(&["run", "sequential", "--arg", &value, "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(report["arrays"]["y"], serde_json::json!([5, 11, 18]));
    let output = lab(&["run", "sequential", "--arg", &value.replace("int:", "float:")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("float"), "{}", stderr(&output));
}

#[test]
fn a_deadlock_is_found_and_depends_on_residency() {
    let args =
        ["run", "domino_static", "--n", "2048", "--resident", "2", "--order", "reverse", "--json"];
    let (report, code) = json(&args);
    assert_eq!(code, Some(3));
    assert_eq!(report["findings"][0]["kind"], "deadlock", "{}", report["findings"]);
    // What a run that stopped on its way has not written yet is no fault of its own.
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{}", report["findings"]);
    assert_eq!(report["results"]["unchecked"], "the run did not come to its end");
    assert_eq!(json(&["run", "domino_static", "--n", "2048", "--json"]).1, Some(0));
    assert_eq!(json(&[&["run", "domino"], &args[2..]].concat()).1, Some(0));
}

#[test]
fn runs_are_replayable_from_their_seed() {
    let run = |seed: &str| {
        lab(&["run", "look_back", "--n", "600", "--order", "random", "--seed", seed, "--json"])
            .stdout
    };
    assert_eq!(run("5"), run("5"));
}

#[test]
fn a_trace_has_every_application() {
    let (report, code) = json(&["trace", "brent_kung", "--n", "16"]);
    assert_eq!(code, Some(0));
    let events = report["trace"]["events"].as_array().expect("events");
    let combined = events.iter().filter(|event| event["event"] == "combine").count();
    assert_eq!(combined, 26);
}

#[test]
fn drawings_are_written() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, start) in [("a.svg", &b"<svg"[..]), ("a.png", b"\x89PNG")] {
        let path = dir.path().join(name);
        let output = lab(&["draw", "sklansky", "--n", "16", "-o", &path.to_string_lossy()]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(std::fs::read(&path).expect("a drawing").starts_with(start), "{name}");
    }
}

/// What can't be written whole leaves what was there, and nothing beside it.
#[cfg(unix)]
#[test]
fn outputs_appear_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, args) in [("S.json", "trace brent_kung -n 1024"), ("S.png", "draw brent_kung -n 64")]
    {
        let path = dir.path().join(name);
        std::fs::write(&path, "old").expect("a file is written");
        let script = format!("ulimit -f 8; exec \"$0\" lab {args} -o {name}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_kogge")]).current_dir(dir.path());
        let output = command.output().expect("a shell");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = stderr(&output);
        assert!(said.contains(&format!("cannot write '{name}': file too large")), "{said}");
        assert_eq!(std::fs::read(&path).expect("a file"), b"old", "{name}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 2);
}

#[test]
fn the_help_says_which_exit_codes_are_whose() {
    let help = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_kogge")).args(args).output();
        let text = String::from_utf8_lossy(&output.expect("kogge starts").stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let all = help(&["--help"]);
    assert!(all.contains("kogge lab has codes of its own"), "{all}");
    for args in [&["lab", "--help"][..], &["lab", "run", "--help"]] {
        let text = help(args);
        assert!(text.contains("other commands of kogge have codes of their own"), "{text}");
    }
}

#[test]
fn records_are_plotted() {
    let dir = tempfile::tempdir().expect("a folder");
    let (record, plot) = (dir.path().join("record.json"), dir.path().join("plot.svg"));
    let text = r#"{"device":"a GPU","repeats":1,"timings":[{"name":"domino","n":64,"median_us":2.0,"least_us":1.0,"right":true}]}"#;
    std::fs::write(&record, text).expect("a file is written");
    let output =
        lab(&["bench", "--from", &record.to_string_lossy(), "--plot", &plot.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(std::fs::read_to_string(&plot).expect("a plot").contains("domino"));
}

#[test]
fn comparisons_have_every_lesson_of_the_size() {
    let (list, code) = json(&["compare", "--n", "64", "--json"]);
    assert_eq!(code, Some(0));
    let list = list.as_array().expect("a list");
    assert_eq!(list.len(), json(&["list", "--json"]).0.as_array().expect("a list").len());
    for entry in list {
        assert_eq!(entry["clean"], true, "{entry}");
        if let Some(work) = entry["claimed_work"].as_i64() {
            assert_eq!(entry["counts"]["work"], work, "{entry}");
        }
    }
}

/// Two kernels, one after the other.
const TILES: &str = "
__global__ void tiles(const int *x, int *y, int *t, int n) {
  int sum = 0;
  for (int i = blockIdx.x * 4; i < blockIdx.x * 4 + 4 && i < n; i++) y[i] = sum += x[i];
  t[blockIdx.x] = sum;
}
__global__ void add(int *y, const int *t, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < i / 4; k++) if (i < n) y[i] += t[k];
}
";

#[test]
fn several_kernels_run_in_the_order_that_the_host_has() {
    let dir = tempfile::tempdir().expect("a folder");
    let host = "tiles<<<ceil(N / 4), 1>>>(x, y, t, N); add<<<1, N>>>(y, t, N);";
    let arrays = ["--arg", "x=int:random(11,3)", "--arg", "y=int[11]", "--arg", "t=int[3]"];
    let run = |file: &str, more: &[&str]| {
        let args =
            [&["run", file], &arrays[..], more, &["--expect", "inclusive-sum:x:y", "--json"]];
        json(&args.concat())
    };
    let bare = file(dir.path(), TILES);
    let (report, code) = run(&bare, &["--host", host]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["launches"].as_array().map(Vec::len), Some(2));
    let only_tiles = host.split_inclusive(';').next().expect("a launch");
    assert_eq!(run(&bare, &["--host", only_tiles]).1, Some(3));
    let told = file(dir.path(), &format!("// Tiles.\n//\n// host:\n//     {host}\n{TILES}"));
    assert_eq!(run(&told, &[]).1, Some(0));
    let output = lab(&["run", &told, "--host", "tiles<<<1, 1>>>(x, y, t)"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--host: line 1"), "{}", stderr(&output));
}

#[test]
fn a_header_with_a_fault_is_not_passed_over() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = "// Mine.\n//\n// scan:  inclusive\n// sizes: few\n// host:\n//     k<<<1, 1>>>(x);\n__global__ void k(int *x) {}";
    let path = file(dir.path(), text);
    let output = lab(&["run", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("kernel.cu:4: sizes"), "{}", stderr(&output));
}

#[test]
fn a_barrier_of_the_grid_makes_a_launch_cooperative() {
    let dir = tempfile::tempdir().expect("a folder");
    let kernel = "#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void turn(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[n - 1 - i];
  cg::this_grid().sync();
  x[i] = v;
}";
    let path = file(dir.path(), kernel);
    let args = [
        "run",
        &path,
        "-a",
        "x=int:iota(128)",
        "-a",
        "n=128",
        "--grid",
        "4",
        "--block",
        "32",
        "--json",
    ];
    let (report, code) = json(&args);
    assert_eq!((code, &report["arrays"]["x"][0]), (Some(0), &127.into()), "{}", report["findings"]);
    let (report, code) = json(&[&args[..], &["--resident", "3"]].concat());
    assert_eq!(code, Some(3));
    assert_eq!(report["findings"][0]["kind"], "limit");
}

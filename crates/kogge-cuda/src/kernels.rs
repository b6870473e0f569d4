//! The files of `kernels/`, each with those that it names something of: a kernel's text is made of
//! its own file and what that needs, and of nothing else.
//!
//! No file includes another, since the compiler is given one text. What isn't needed would be
//! parsed all the same, and a word changed in it would make a kernel stale (`archive`) that it has
//! no part in.

/// A file, and the files that it needs. All need [`DEVICE`].
#[derive(Debug)]
pub(crate) struct File {
    name: &'static str,
    text: &'static str,
    needs: &'static [&'static File],
}

macro_rules! files {
    ($($name:ident: $path:literal $([$($need:ident)+])?;)+) => {
        $(pub(crate) static $name: File = File {
            name: $path,
            text: include_str!(concat!("../kernels/", $path)),
            needs: &[$($(&$need),+)?],
        };)+
        #[cfg(test)]
        static ALL: &[&File] = &[$(&$name),+];
    };
}

files! {
    DEVICE: "device.cuh";
    ORDER: "order.cuh";
    VALUE: "value.cuh";
    CONVERT: "convert.cuh";
    CHUNK: "chunk.cuh" [ORDER CONVERT];
    MEMORY: "memory.cuh" [ORDER CHUNK];
    ROW: "row.cuh" [ORDER VALUE];
    SEGMENT: "segment.cuh" [ORDER VALUE CONVERT CHUNK MEMORY ROW];
    QUARTER_ROWS: "quarter_rows.cuh" [ORDER VALUE MEMORY ROW SEGMENT];
    SLOT: "slot.cuh";
    INITS: "inits.cuh" [VALUE CONVERT];
    CLUSTER: "cluster.cuh";
    DRAW: "draw.cuh";
    DRAWS: "draws.cuh" [SLOT DRAW];
    ARRIVALS: "arrivals.cuh" [ORDER];
    READABLE: "readable.cuh";
    LOAD_TILE: "load_tile.cuh" [ORDER ARRIVALS];
    LOOK_AHEAD: "look_ahead.cuh" [ORDER VALUE ROW SLOT];
    WIDE_LOOK_AHEAD: "wide_look_ahead.cuh" [ORDER VALUE ROW QUARTER_ROWS SLOT LOOK_AHEAD];
    ROUND_SCAN: "round_scan.cuh" [
        ORDER VALUE CHUNK MEMORY ROW SEGMENT QUARTER_ROWS SLOT DRAWS ARRIVALS READABLE LOAD_TILE
    ];

    // One sequence.
    ARGUMENTS: "arguments.cuh" [VALUE CONVERT SLOT];
    CLUSTER_SCAN: "cluster_scan.cuh" [ORDER VALUE MEMORY ROW SEGMENT CLUSTER ARGUMENTS];
    SEGMENT_SCAN: "segment_scan.cuh" [ORDER VALUE MEMORY ROW SEGMENT SLOT ARGUMENTS];
    TILE_SCAN: "tile_scan.cuh" [ORDER VALUE CHUNK MEMORY ROW SEGMENT SLOT ARGUMENTS];
    SEQUENCE: "sequence.cuh" [ORDER VALUE MEMORY SLOT READABLE WIDE_LOOK_AHEAD ROUND_SCAN ARGUMENTS];

    // Contiguous lines.
    CONTIGUOUS: "contiguous.cuh" [SLOT INITS READABLE];
    STAGE: "stage.cuh" [CHUNK MEMORY];
    LINE_SCAN: "line_scan.cuh" [ORDER VALUE CONVERT CHUNK MEMORY ROW SEGMENT INITS DRAW CONTIGUOUS STAGE];
    SHORT_LINES: "short_lines.cuh" [ORDER VALUE CONVERT CHUNK MEMORY ROW SEGMENT CONTIGUOUS];
    LINE_TILES: "line_tiles.cuh" [ORDER VALUE MEMORY SLOT READABLE WIDE_LOOK_AHEAD ROUND_SCAN CONTIGUOUS];

    // Other lines.
    COLUMNS: "columns.cuh" [SLOT INITS];
    DESCENT: "descent.cuh" [ORDER VALUE CONVERT COLUMNS];
    COLUMN_FETCH: "column_fetch.cuh" [ORDER COLUMNS];
    COLUMN_SCAN: "column_scan.cuh" [ORDER VALUE DRAWS COLUMNS DESCENT COLUMN_FETCH];
    SHORT_COLUMNS: "short_columns.cuh" [ORDER CHUNK INITS COLUMNS DESCENT];
    COLUMN_ROW: "column_row.cuh" [ORDER VALUE COLUMNS DESCENT COLUMN_FETCH];
    TEAM: "team.cuh" [ORDER VALUE SLOT COLUMNS];
    TEAM_CLUSTER: "team_cluster.cuh" [ORDER VALUE CLUSTER];
    COLUMN_TEAMS: "column_teams.cuh" [
        ORDER VALUE SLOT DRAWS ARRIVALS CLUSTER COLUMNS DESCENT COLUMN_FETCH COLUMN_ROW TEAM TEAM_CLUSTER
    ];
    COLUMN_ROUNDS: "column_rounds.cuh" [ORDER VALUE SLOT COLUMNS DESCENT COLUMN_FETCH COLUMN_ROW];

    // Segments.
    LAUNCHES: "launches.cuh";
    RUN_LIST: "run_list.cuh";
    TALLY: "tally.cuh";
    LISTING: "listing.cuh" [ORDER VALUE TALLY RUN_LIST];
    HEADS: "heads.cuh" [ORDER VALUE SLOT LAUNCHES RUN_LIST LISTING];
    SHARED_BITS: "shared_bits.cuh";
    OFFSET_HEADS: "offset_heads.cuh" [ORDER LAUNCHES HEADS SHARED_BITS];
    OFFSET_LISTS: "offset_lists.cuh" [LAUNCHES RUN_LIST LISTING HEADS OFFSET_HEADS];
    SEGMENTED_ARGUMENTS: "segmented_arguments.cuh" [SLOT INITS RUN_LIST HEADS];
    CELLS: "cells.cuh" [ORDER VALUE CHUNK MEMORY ROW SEGMENT RUN_LIST HEADS];
    SEGMENTED_WINDOW: "segmented_window.cuh" [
        ORDER VALUE MEMORY INITS RUN_LIST HEADS SEGMENTED_ARGUMENTS CELLS
    ];
    RUN_EXCHANGE: "run_exchange.cuh" [ORDER VALUE SLOT];
    WINDOW_HEADS: "window_heads.cuh" [ORDER SLOT DRAW HEADS SEGMENTED_ARGUMENTS RUN_EXCHANGE];
    WINDOW_EXCHANGE: "window_exchange.cuh" [
        ORDER VALUE ROW HEADS SEGMENTED_ARGUMENTS CELLS SEGMENTED_WINDOW RUN_EXCHANGE
    ];
    PLAIN_STEPS: "plain_steps.cuh" [ORDER VALUE CHUNK ROW SEGMENT CELLS SEGMENTED_WINDOW];
    SEGMENTED_SCAN: "segmented_scan.cuh" [
        ORDER VALUE CHUNK MEMORY ROW SEGMENT INITS ARRIVALS LAUNCHES RUN_LIST HEADS SEGMENTED_ARGUMENTS CELLS
        SEGMENTED_WINDOW WINDOW_HEADS WINDOW_EXCHANGE PLAIN_STEPS
    ];
    STRETCH_HEADS: "stretch_heads.cuh" [ORDER RUN_LIST SHARED_BITS OFFSET_HEADS SEGMENTED_ARGUMENTS];
    BULK_STORE: "bulk_store.cuh";
    STRETCH_RING: "stretch_ring.cuh" [ORDER MEMORY DRAW READABLE BULK_STORE RUN_LIST SEGMENTED_ARGUMENTS STRETCH_HEADS];
    STRETCH_SCAN: "stretch_scan.cuh" [
        ORDER VALUE CHUNK MEMORY ROW SEGMENT INITS LAUNCHES BULK_STORE SEGMENTED_ARGUMENTS STRETCH_RING
    ];
    RUN_TILES: "run_tiles.cuh" [
        ORDER VALUE CHUNK MEMORY ROW SEGMENT QUARTER_ROWS SLOT INITS WIDE_LOOK_AHEAD ROUND_SCAN LAUNCHES RUN_LIST
        SEGMENTED_ARGUMENTS
    ];
    TAILS: "tails.cuh" [ORDER VALUE CHUNK MEMORY ROW SEGMENT HEADS];
    MARKERS: "markers.cuh" [ORDER LOAD_TILE SEGMENTED_ARGUMENTS TAILS];
    EXACT_ROUNDS: "exact_rounds.cuh" [
        ORDER VALUE CHUNK MEMORY ROW SEGMENT SLOT WIDE_LOOK_AHEAD ARRIVALS LOAD_TILE ROUND_SCAN LAUNCHES HEADS
        SEGMENTED_ARGUMENTS TAILS MARKERS
    ];
}

/// Whether kernels are compiled for compute-sanitizer: with lines of their files, and so that its
/// racecheck can follow what is ordered (arrivals.cuh). Such a text is in no archive, and in the
/// cache by itself.
pub(crate) fn for_racecheck() -> bool {
    std::env::var_os("KOGGE_RACECHECK").is_some()
}

/// The text of these files and of all that they need, each once and behind what it needs.
pub(crate) fn text_of(files: &[&'static File]) -> String {
    let mut taken = Vec::new();
    take(&DEVICE, &mut taken);
    files.iter().for_each(|file| take(file, &mut taken));
    if for_racecheck() {
        let named = |file: &File| format!("#line 1 \"{}\"\n{}", file.name, file.text);
        let define = "#define KOGGE_EVERY_LANE_ARRIVES\n".to_string();
        return std::iter::once(define).chain(taken.into_iter().map(named)).collect();
    }
    taken.into_iter().map(|file| file.text).collect()
}

fn take(file: &'static File, taken: &mut Vec<&'static File>) {
    if taken.iter().any(|other| other.name == file.name) {
        return;
    }
    file.needs.iter().for_each(|need| take(need, taken));
    taken.push(file);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_file_of_the_folder_is_known_once() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
        let entries =
            std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file"));
        let there: HashSet<String> =
            entries.map(|entry| entry.file_name().into_string().expect("a name")).collect();
        let known: HashSet<String> = ALL.iter().map(|file| file.name.to_string()).collect();
        assert_eq!(there, known);
        assert_eq!(known.len(), ALL.len());
    }

    #[test]
    fn files_stand_behind_what_they_need() {
        for (i, file) in ALL.iter().enumerate() {
            for need in file.needs {
                assert!(
                    ALL[..i].iter().any(|other| other.name == need.name),
                    "{} before {}",
                    file.name,
                    need.name
                );
            }
            let text = text_of(&[file]);
            assert!(text.starts_with(DEVICE.text) && text.ends_with(file.text), "{}", file.name);
            for need in file.needs {
                assert_eq!(text.matches(need.text).count(), 1, "{} for {}", need.name, file.name);
            }
        }
    }

    /// That nothing is missing NVRTC tells (`tests/nvrtc`).
    #[test]
    fn files_need_only_what_they_name_something_of() {
        for file in ALL {
            let words: HashSet<&str> = words(file.text).collect();
            for need in file.needs {
                let defined = defined(need.text);
                assert!(!defined.is_empty(), "{} defines nothing", need.name);
                let named = defined.iter().any(|name| words.contains(name));
                assert!(named, "{} names none of {defined:?} of {}", file.name, need.name);
            }
        }
    }

    fn words(text: &str) -> impl Iterator<Item = &str> {
        let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
        code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
    }

    /// What a file defines for others: types, functions, and constants of an `enum` without a name.
    fn defined(text: &str) -> Vec<&str> {
        let mut names = Vec::new();
        let mut in_enum = false;
        for line in text.lines() {
            let name_before = |ends: &[char]| {
                let before = line.split(ends).next().unwrap_or("").trim_end();
                words(before).last()
            };
            in_enum = line.starts_with("enum") || in_enum && line.starts_with(' ');
            if in_enum {
                let list = line.split_once('{').map_or(line, |(_, list)| list);
                names.extend(
                    list.split(',').filter_map(|one| words(one).find(|word| !word.is_empty())),
                );
            } else if line.starts_with("struct") {
                names.extend(name_before(&['<', '{', ':', ';']));
            } else if line.starts_with("using") {
                names.extend(name_before(&['=']));
            } else if line.starts_with(|c: char| c.is_alphabetic()) && line.contains('(') {
                names.extend(name_before(&['(']));
            }
        }
        names
    }
}

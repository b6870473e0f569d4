//! Arrow and Parquet files of which some bytes are others, or missing.

use crate::place;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use std::fs;
use std::sync::Arc;

#[test]
fn damaged_arrow() {
    let place = place();
    place.stdout("x.csv --column precipitation -o x.arrow");
    let whole = place.read("x.arrow");
    let mut errors = 0;
    for at in (0..whole.len()).step_by(17) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        place.write("damaged.arrow", damaged);
        let output = place.scan("damaged.arrow --column precipitation --as s").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 4 | 5)), "{at}: {stderr}");
        assert!(!stderr.contains("panicked"), "{at}: {stderr}");
        errors += usize::from(output.status.code() == Some(4));
    }
    assert!(errors > 0, "no damage was found");
    for len in 6..whole.len().min(200) {
        place.write("short.arrow", &whole[..len]);
        let said = "does not end with a footer: it is truncated";
        place.fails("short.arrow --column precipitation --as s", 4, &[said]);
    }
    place.stdout("x.csv --column precipitation -o x.arrows");
    let whole = place.read("x.arrows");
    let end = whole.len() - 8;
    for len in [end - 1, end + 1, end + 3, end + 5] {
        place.write("cut.arrows", &whole[..len]);
        place.fails("cut.arrows --column precipitation --as s -o y.csv", 4, &["truncated"]);
        let scan = "- --column precipitation --as s -o y.csv";
        let piped = place.scan(scan).write_stdin(&whole[..len]).output().unwrap();
        assert_eq!(piped.status.code(), Some(4), "{len}");
    }
    place.write("cut.arrows", &whole[..end]);
    assert_eq!(place.last_column("cut.arrows --column precipitation --as s"), ["1.5", "3.5"]);
}

#[test]
fn damaged_compression() {
    let place = place();
    let x: ArrayRef = Arc::new(Int64Array::from_iter_values((0..5_000).map(|i| i / 7)));
    let batch = RecordBatch::try_from_iter([("x", x)]).unwrap();
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let whole = writer.into_inner().unwrap();
        let mut said_so = 0;
        for at in (whole.len() / 4..whole.len() * 3 / 4).step_by(29) {
            let mut damaged = whole.clone();
            damaged[at..][..16].fill(0xff);
            place.write("damaged.arrow", damaged);
            let output = place.scan("damaged.arrow").output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(matches!(output.status.code(), Some(0 | 4)), "{codec:?} {at}: {said}");
            said_so += usize::from(said.contains("is damaged: its compressed parts"));
        }
        assert!(said_so > 0, "{codec:?}: no damage was found");
        // What each compressed buffer starts with: of that the decompressors' own words tell nobody
        // anything.
        let magic: [u8; 4] = match codec {
            CompressionType::ZSTD => [0x28, 0xb5, 0x2f, 0xfd],
            _ => [0x04, 0x22, 0x4d, 0x18],
        };
        let at = whole.windows(4).position(|bytes| bytes == magic).unwrap();
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        place.write("damaged.arrow", damaged);
        place.fails("damaged.arrow", 4, &["is damaged: its compressed parts cannot be unpacked"]);
    }
}

#[test]
fn damaged_parquet() {
    let place = place();
    place.stdout("x.csv --column precipitation -o x.parquet");
    let (whole, names) = (place.read("x.parquet"), place.names().len() + 1);
    let mut contained = 0;
    for at in (0..whole.len()).step_by(5) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        place.write("damaged.parquet", damaged);
        let scan = "damaged.parquet --column precipitation --by weather --as s -o y.csv";
        let output = place.scan(scan).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 4 | 5)), "{at}: {stderr}");
        assert!(!stderr.contains("panicked"), "{at}: {stderr}");
        contained += usize::from(stderr.contains("it is damaged: what it says"));
        if output.status.success() {
            assert_eq!(place.text("y.csv").lines().count(), 3, "{at}");
            fs::remove_file(place.path("y.csv")).unwrap();
        } else {
            assert!(stderr.starts_with("error: "), "{at}: {stderr}");
        }
        assert_eq!(place.names().len(), names, "{at}");
    }
    assert!(contained > 0, "no damage made the reader panic");
}

/// It begins and ends with other letters.
#[test]
fn encrypted_parquet() {
    let place = place();
    let footer = [&[0; 20][..], &20u32.to_le_bytes()].concat();
    place.write("x.parquet", [b"PARE", &footer[..], b"PARE"].concat());
    let output = place.scan("x.parquet -o y.csv").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("x.parquet' is encrypted\n  hint: decrypt it first"), "{stderr}");
}

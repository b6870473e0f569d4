//! Scans of arrays: `.npy` and raw files, along an axis, in constant memory.

mod c_order;
mod open;
mod read;
mod stage;
mod text_order;
mod walk;
mod write;

pub use open::open;
pub use read::ArrayReader;
pub use walk::Window;

use crate::error::{Error, Result};
use crate::format::npy::Header;
use crate::job::Job;
use crate::pipeline;
use crate::summary::Scanned;
use kogge_erased::Spec;
use stage::{Piece, Stage};
use std::sync::mpsc::{Receiver, channel};
use walk::{Layout, Limits};
use write::ArrayWriter;

/// Bytes of the largest slab that is scanned whole.
const SLAB_BYTES: usize = 32 << 20;

/// Bytes of the states of a band of lines.
const BAND_BYTES: usize = 128 << 20;

/// Bytes of a run of neighbours that is worth a seek.
const RUN_BYTES: usize = 64 << 10;

/// Pieces on their way at a time: one at each stage, one between.
const PIECES: usize = 4;

/// Scans an array into an array, or into lines of text.
pub fn scan(job: &Job, mut reader: ArrayReader) -> Result<()> {
    if reader.endless && job.args.reverse {
        // The end of a pipe must be known before its windows are.
        reader = reader.into_positioned()?;
    }
    let spec = job.spec(reader.header.dtype, None)?;
    let (layout, shape) = layout(&reader.header, job.args.axis)?;
    let limits = limits(&spec, reader.header.dtype.size(), job.buffer);
    let way = layout.way(limits);
    let sequential = layout.is_sequential(way, spec.reversed());
    let mut c_order = None;
    if job.args.axis.is_none() {
        (reader, c_order) = reader.in_c_order(spec.reversed(), SLAB_BYTES.min(4 * job.buffer))?;
    }
    if reader.is_stream() && !sequential {
        reader = reader.into_positioned()?;
    }
    let endless = reader.endless;
    let flat = shape.len() == 1;
    let fortran_order = reader.header.fortran_order && !flat;
    let mut header = Header::new(spec.types().output, shape, fortran_order);

    let output = job.create_output()?;
    let mut writer = ArrayWriter::new(&output, job.output_format, &header, sequential, endless)?;
    let progress = job.progress((!endless).then(|| reader.header.bytes()), &output);
    let (recycle, pool) = channel();
    for _ in 0..PIECES {
        recycle.send(Piece::default()).expect("the pool is there");
    }
    let mut stage = Stage::new(&spec, way, layout, &reader);
    let file_size = reader.header.dtype.size() as u64;
    let mut windows = c_order.unwrap_or_else(|| layout.windows(way, limits, spec.reversed()));
    let mut read = 0;
    // Each end of the pool belongs to its thread, so that neither waits for one that has failed.
    let source = {
        let (reader, read, progress) = (&mut reader, &mut read, &progress);
        move || {
            let piece = next_piece(reader, &mut windows, &pool)?;
            if let Some(piece) = &piece {
                *read += piece.window.len();
                progress.advance(piece.window.len() * file_size);
            }
            Ok(piece)
        }
    };
    let sink = {
        let writer = &mut writer;
        move |piece: Piece| {
            writer.write(&piece.window, piece.data.bytes())?;
            // The pool is gone when the reader has come to the end.
            let _ = recycle.send(piece);
            Ok(())
        }
    };
    pipeline::run(source, |piece| stage.scan(piece), sink)?;
    if endless {
        header.shape = vec![read];
    }
    writer.finish(&output, &header)?;
    let total =
        (layout.outer * layout.inner == 1).then(|| job.total(&spec, stage.total(), read > 0));
    let scanned = Scanned {
        columns: Vec::new(),
        name: None,
        input_dtype: reader.header.dtype.to_string(),
        dtype: spec.types().output.to_string(),
        total,
        shape: Some(header.shape),
    };
    job.finish(output, read, &[scanned], &progress)
}

/// The next window with its elements; `None` at the end of the array.
fn next_piece(
    reader: &mut ArrayReader,
    windows: &mut (dyn Iterator<Item = Window> + Send),
    pool: &Receiver<Piece>,
) -> Result<Option<Piece>> {
    let Some(window) = windows.next() else {
        reader.expect_end()?;
        return Ok(None);
    };
    // The pool is closed when the writer has failed, and says why itself.
    let Ok(mut piece) = pool.recv() else { return Ok(None) };
    let read = reader.read(&window, &mut piece.data)?;
    piece.window = window;
    if read < window.len() {
        piece.window = Window { width: read, stride: read, ..window };
    }
    Ok((read > 0).then_some(piece))
}

/// Checks that an array has such an axis.
pub fn check_axis(header: &Header, axis: Option<i64>) -> Result<()> {
    layout(header, axis).map(drop)
}

/// The layout in memory of a scan along an axis, and the shape of its result.
fn layout(header: &Header, axis: Option<i64>) -> Result<(Layout, Vec<u64>)> {
    let shape = &header.shape;
    let Some(axis) = axis else {
        let n = header.elements();
        return Ok((Layout { outer: 1, n, inner: 1 }, vec![n]));
    };
    let rank = shape.len() as i64;
    let index = if axis < 0 { axis + rank } else { axis };
    let Some(index) = usize::try_from(index).ok().filter(|&index| index < shape.len()) else {
        let what = format!("there is no axis {axis} in the shape {shape:?}");
        let hint = match rank {
            0 => "a single number has no axes: leave --axis out".to_owned(),
            _ => format!("axes go from {} to {}", -rank, rank - 1),
        };
        return Err(Error::mismatch(what).hint(hint));
    };
    let product = |axes: &[u64]| axes.iter().product::<u64>();
    let (before, after) = (product(&shape[..index]), product(&shape[index + 1..]));
    let (outer, inner) = if header.fortran_order { (after, before) } else { (before, after) };
    Ok((Layout { outer, n: shape[index], inner }, shape.clone()))
}

/// Pieces of `buffer` bytes of whatever is widest, cut at tiles of the order of combination, which
/// the engine takes whole.
fn limits(spec: &Spec, file_size: usize, buffer: usize) -> Limits {
    let widest = file_size.max(spec.input_size()).max(spec.output_size());
    let tile = kogge::Order::of_size(spec.input_size()).tile();
    let piece = (buffer / widest).max(1);
    let piece = if piece > tile { piece - piece % tile } else { piece };
    Limits {
        piece: piece as u64,
        slab: (SLAB_BYTES.min(4 * buffer) / widest) as u64,
        band: (BAND_BYTES / spec.state_size()).max(1) as u64,
        run: (RUN_BYTES.min(buffer) / widest).max(1) as u64,
    }
}

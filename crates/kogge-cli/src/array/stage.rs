//! What happens to a piece of an array between reading and writing.

use super::read::ArrayReader;
use super::walk::{Layout, Way, Window};
use crate::buffer::Buffer;
use crate::convert::{convert, misfit};
use crate::error::Result;
use kogge_erased::{ColumnsScan, Dtype, LineScan, Spec};

/// A window and its elements: the file's, then the scanned ones.
#[derive(Default)]
pub struct Piece {
    /// Which elements.
    pub window: Window,
    /// The elements.
    pub data: Buffer,
    /// Room for the other side of a step that isn't done in place.
    spare: Buffer,
}

/// The scan of one array.
pub struct Stage<'a> {
    spec: &'a Spec,
    way: Way,
    layout: Layout,
    element_name: Box<dyn Fn(u64) -> String>,
    file: Dtype,
    line: Box<dyn LineScan>,
    columns: Option<(u64, Box<dyn ColumnsScan>)>,
}

impl<'a> Stage<'a> {
    /// The state before the first piece.
    pub fn new(spec: &'a Spec, way: Way, layout: Layout, reader: &ArrayReader) -> Self {
        Self {
            spec,
            way,
            layout,
            element_name: Box::new(reader.element_name()),
            file: reader.header.dtype,
            line: spec.line(),
            columns: None,
        }
    }

    /// Everything combined, if the array was one line.
    pub fn total(&self) -> Vec<u8> {
        self.line.total()
    }

    /// Scans a piece.
    pub fn scan(&mut self, mut piece: Piece) -> Result<Piece> {
        self.convert(&mut piece)?;
        match self.way {
            Way::Lines => self.scan_line(&mut piece)?,
            Way::Slabs => {
                let Layout { n, inner, .. } = self.layout;
                let slabs = piece.window.len() / (n * inner);
                self.scan_whole(&mut piece, [slabs, n, inner])?;
            }
            Way::Bands(_) => {
                let Window { rows, width, .. } = piece.window;
                self.scan_whole(&mut piece, [1, rows, width])?;
            }
            Way::Columns(_) => {
                let window = piece.window;
                self.start_columns(&window);
                self.through_spare(&mut piece, |stage, input, output| {
                    let (_, columns) = stage.columns.as_mut().expect("started before");
                    Ok(columns.scan_rows(window.index, input, output)?)
                })?;
            }
        }
        Ok(piece)
    }

    /// From the file's elements to those of the type to be scanned.
    fn convert(&self, piece: &mut Piece) -> Result<()> {
        let element = self.spec.types().element;
        if self.file == element {
            return Ok(());
        }
        let elements = piece.data.len() / self.file.size();
        piece.spare.resize(elements * element.size());
        convert(self.file, piece.data.bytes(), element, piece.spare.bytes_mut()).map_err(|at| {
            let row = at as u64 / piece.window.width;
            let place =
                piece.window.start + row * piece.window.stride + at as u64 % piece.window.width;
            misfit(&(self.element_name)(place), self.file, self.spec)
        })?;
        std::mem::swap(&mut piece.data, &mut piece.spare);
        Ok(())
    }

    fn scan_line(&mut self, piece: &mut Piece) -> Result<()> {
        let Window { fresh, index, .. } = piece.window;
        if fresh {
            self.line.restart();
        }
        if self.spec.in_place() {
            return Ok(self.line.scan_in_place(&[], piece.data.bytes_mut())?);
        }
        self.through_spare(piece, |stage, input, output| {
            Ok(stage.line.scan_into(index, &[], input, output)?)
        })
    }

    /// Scans a piece with whole lines in it.
    fn scan_whole(&mut self, piece: &mut Piece, shape: [u64; 3]) -> Result<()> {
        let shape = shape.map(|axis| axis as usize);
        self.through_spare(piece, |stage, input, output| {
            Ok(stage.line.scan_slabs(shape, input, output)?)
        })
    }

    fn start_columns(&mut self, window: &Window) {
        match &mut self.columns {
            Some((width, columns)) if *width == window.width => {
                if window.fresh {
                    columns.restart();
                }
            }
            columns => {
                let width = window.width as usize;
                *columns = Some((window.width, self.spec.columns(width)));
            }
        }
    }

    /// Runs a step from `data` to `spare`, and makes its output the data.
    fn through_spare(
        &mut self,
        piece: &mut Piece,
        step: impl FnOnce(&mut Self, &[u8], &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let elements = piece.data.len() / self.spec.input_size();
        piece.spare.resize(elements * self.spec.output_size());
        step(self, piece.data.bytes(), piece.spare.bytes_mut())?;
        std::mem::swap(&mut piece.data, &mut piece.spare);
        Ok(())
    }
}

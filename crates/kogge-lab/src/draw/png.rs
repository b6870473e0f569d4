//! The network as PNG: the SVG, rendered with the typeface that comes with the crate.

use resvg::{tiny_skia, usvg};

use super::FONT;

/// Why a drawing could not be made a picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG is not well-formed.
    #[error("the drawing is no SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// The picture would be larger than memory allows.
    #[error("a picture of {0} by {1} pixels is too large")]
    TooLarge(u32, u32),
    /// The picture could not be written as PNG.
    #[error("the picture can't be written: {0}")]
    Encode(String),
}

/// The largest picture, in pixels.
const PIXELS: u64 = 1 << 28;

/// Renders an SVG document at `scale` pixels to its unit. Needs no fonts of the system.
///
/// # Errors
///
/// An SVG that can't be read, or a picture of more than 2^28 pixels.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let mut options =
        usvg::Options { font_family: "Noto Sans".to_owned(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    options.fontdb_mut().set_sans_serif_family("Noto Sans");
    let tree = usvg::Tree::from_str(svg, &options)?;
    let (width, height) =
        ((tree.size().width() * scale).ceil() as u32, (tree.size().height() * scale).ceil() as u32);
    let fits = u64::from(width) * u64::from(height) <= PIXELS;
    let canvas = fits.then(|| tiny_skia::Pixmap::new(width, height)).flatten();
    let mut canvas = canvas.ok_or(PngError::TooLarge(width, height))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut canvas.as_mut());
    canvas.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

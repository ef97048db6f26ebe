//! SVG to PNG, without fonts or libraries of the host: the same pixels everywhere.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Why a picture has no pixels.
#[derive(Debug, thiserror::Error)]
#[error("the picture can't be rasterised: {problem}")]
pub struct RasterError {
    problem: String,
}

/// The family of the font that is carried along, as its file names it.
pub(super) const FONT_FAMILY: &str = "Ubuntu";

/// Draws an SVG document at its own size.
pub(super) fn rasterise(svg: &str) -> Result<Vec<u8>, RasterError> {
    let failed = |problem: &dyn std::fmt::Display| RasterError { problem: problem.to_string() };
    let mut fonts = Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    fonts.set_sans_serif_family(FONT_FAMILY);
    let options =
        Options { fontdb: Arc::new(fonts), font_family: FONT_FAMILY.to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| failed(&"it has no size"))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(&error))
}

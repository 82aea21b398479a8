//! Figures as pictures for papers and slides: PNG and PDF from the SVG (feature `figures`).
//!
//! Text becomes paths of DejaVu Sans first: the same picture on every machine, with no font installed.

use std::path::Path;

use mustlink_core::{Error, Result};

use mustlink_experiments::Format;
use mustlink_experiments::{io, write_whole};

/// Writes the figure `name` into `folder`: as SVG, with the numbers that it shows as CSV, and in each of
/// the other `formats`.
///
/// # Errors
/// A file that cannot be written; a format that this build does not make.
pub fn save_figure(
    folder: &Path,
    name: &str,
    svg: &str,
    numbers: &[u8],
    formats: &[Format],
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(io(folder))?;
    let file = |end: &str| folder.join(format!("{name}.{end}"));
    write_whole(&file("svg"), ".part", svg.as_bytes())?;
    write_whole(&file("csv"), ".part", numbers)?;
    for format in formats.iter().filter(|f| **f != Format::Svg) {
        let path = file(format.ending());
        let made = render(svg, *format)
            .map_err(|message| Error::Data { place: path.display().to_string(), message })?;
        write_whole(&path, ".part", &made)?;
    }
    Ok(())
}

/// Which command builds what makes every format.
const BUILD: &str = "cargo build --release --package mustlink-cli --features figures makes them, or ask for \
                     svg alone";

/// Checks that this build can make figures in these formats.
///
/// # Errors
/// `Usage` with the command for a build that can.
pub fn check_formats(formats: &[Format]) -> Result<()> {
    let refused = |format: &&Format| !cfg!(feature = "figures") && **format != Format::Svg;
    let Some(format) = formats.iter().find(refused) else { return Ok(()) };
    Err(Error::Usage(format!("this build makes no {}; {BUILD}", format.ending())))
}

/// Pixels of a PNG per pixel of the SVG: 288 per inch.
#[cfg(feature = "figures")]
const SCALE: f32 = 3.0;

/// A figure in another format.
///
/// # Errors
/// The SVG is invalid, or this build has no such format.
#[cfg(feature = "figures")]
fn render(svg: &str, format: Format) -> std::result::Result<Vec<u8>, String> {
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Tree, WriteOptions};
    use std::sync::{Arc, LazyLock};

    static OPTIONS: LazyLock<resvg::usvg::Options<'static>> = LazyLock::new(|| {
        let mut options = resvg::usvg::Options::default();
        let fonts = Arc::make_mut(&mut options.fontdb);
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        options.font_family = "DejaVu Sans".into();
        options
    });
    let parse = |text: &str| Tree::from_str(text, &OPTIONS).map_err(|e| e.to_string());
    match format {
        Format::Svg => Ok(svg.as_bytes().to_vec()),
        Format::Png => {
            let tree = parse(svg)?;
            let size = tree.size();
            let pixels = |length: f32| (length * SCALE).ceil() as u32;
            let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
                .ok_or("the figure is too large for a PNG")?;
            resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
            picture.encode_png().map_err(|e| e.to_string())
        }
        Format::Pdf => {
            let paths = WriteOptions { preserve_text: false, ..WriteOptions::default() };
            let flat = parse(&parse(svg)?.to_string(&paths))?;
            // Pixels of SVG are 96 to the inch.
            let page = svg2pdf::PageOptions { dpi: 96.0 };
            svg2pdf::to_pdf(&flat, svg2pdf::ConversionOptions::default(), page)
                .map_err(|e| e.to_string())
        }
    }
}

/// A figure in another format.
///
/// # Errors
/// This build has no such format.
#[cfg(not(feature = "figures"))]
fn render(svg: &str, format: Format) -> std::result::Result<Vec<u8>, String> {
    check_formats(&[format]).map_err(|e| e.to_string())?;
    Ok(svg.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\" \
                       font-family=\"system-ui, sans-serif\"><text x=\"2\" y=\"15\">χ² ±</text></svg>";

    #[test]
    fn pictures_are_made_or_refused() {
        assert_eq!(render(SVG, Format::Svg).unwrap(), SVG.as_bytes());
        let (png, pdf) = (render(SVG, Format::Png), render(SVG, Format::Pdf));
        if !cfg!(feature = "figures") {
            assert!(png.unwrap_err().contains("--features figures"));
            return;
        }
        let (png, pdf) = (png.unwrap(), pdf.unwrap());
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        // Width and height stand behind the name of the first chunk.
        assert_eq!((&png[16..20], &png[20..24]), (&[0, 0, 0, 120][..], &[0, 0, 0, 60][..]));
        assert_eq!(&pdf[..5], b"%PDF-");
        // The letters are there: without them the picture is another.
        let empty = SVG.replace("χ² ±", "");
        assert_ne!(render(&empty, Format::Png).unwrap(), png);
        assert_eq!(render(SVG, Format::Png).unwrap(), png);
    }
}

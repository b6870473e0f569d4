//! A record as a plot: time over length, both logarithmic, a line for each lesson.

use std::collections::BTreeMap;
use std::path::Path;

use kogge_lab::Diagnostic;
use kogge_lab::draw::png;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::record::{COPY, KOGGE, Record};

const SIZE: (u32, u32) = (1100, 760);
const FONT: &str = "Noto Sans, DejaVu Sans, Verdana, sans-serif";

/// Twelve hues that can be told apart, and from kogge's red; lines that share one differ in their
/// marks.
const COLOURS: [RGBColor; 12] = [
    RGBColor(31, 119, 180),
    RGBColor(90, 90, 90),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(255, 127, 14),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(23, 155, 170),
    RGBColor(168, 158, 28),
    RGBColor(57, 59, 121),
    RGBColor(99, 121, 57),
    RGBColor(132, 60, 57),
];

type Lines<'a> = BTreeMap<&'a str, Vec<(f64, f64)>>;

/// The plot in the format that the file's extension names.
///
/// # Errors
///
/// Another extension, or a record without timings.
pub fn picture(record: &Record, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let svg =
        svg(record).map_err(|error| Diagnostic::general(format!("the plot failed: {error}")))?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(svg.into_bytes()),
        Some("png") => png(&svg, 1.5).map_err(|error| Diagnostic::general(error.to_string())),
        _ => Err(Diagnostic::general(format!("{}: plots are .svg or .png", path.display()))),
    }
}

fn svg(record: &Record) -> Result<String, Box<dyn std::error::Error>> {
    let mut lines = Lines::new();
    for timing in &record.timings {
        lines.entry(&timing.name).or_default().push((timing.n as f64, timing.median_us));
    }
    lines.values_mut().for_each(|line| line.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (left, right) = area.split_horizontally(SIZE.0 - 270);
        chart(&left, record, &lines)?;
        legend(&right, &lines)?;
        area.present()?;
    }
    Ok(out)
}

/// The smallest and the largest of some numbers, a little apart.
fn range(numbers: impl Iterator<Item = f64> + Clone) -> Option<std::ops::Range<f64>> {
    let low = numbers.clone().min_by(f64::total_cmp)?;
    let high = numbers.max_by(f64::total_cmp)?;
    Some(low / 1.4..high * 1.4)
}

fn chart<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    record: &Record,
    lines: &Lines,
) -> Result<(), Box<dyn std::error::Error>>
where
    B::ErrorType: 'static,
{
    let points = lines.values().flatten();
    let sizes = range(points.clone().map(|point| point.0)).ok_or("the record is empty")?;
    let times = range(points.map(|point| point.1)).ok_or("the record is empty")?;
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .caption(
            format!("Lessons on {}: median of {} runs", record.device, record.repeats),
            (FONT, 20),
        )
        .build_cartesian_2d(sizes.log_scale(), times.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("elements (int)")
        .y_desc("microseconds")
        .x_label_formatter(&|n| format!("{n:.0}"))
        .y_label_formatter(&|t| if *t < 1.0 { format!("{t:.1}") } else { format!("{t:.0}") })
        .axis_desc_style((FONT, 15))
        .label_style((FONT, 13))
        .light_line_style(RGBColor(238, 241, 244))
        .bold_line_style(RGBColor(218, 224, 230))
        .draw()?;
    for (at, (name, line)) in lines.iter().enumerate() {
        let colour = colour(at, name);
        let width = match *name {
            KOGGE => 5,
            COPY => 3,
            _ => 2,
        };
        chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(width)))?;
        for &point in line {
            if at >= COLOURS.len() {
                chart.draw_series([TriangleMarker::new(point, 5, colour.filled())])?;
            } else {
                chart.draw_series([Circle::new(point, 3, colour.filled())])?;
            }
        }
    }
    Ok(())
}

fn colour(at: usize, name: &str) -> RGBColor {
    match name {
        COPY => BLACK,
        KOGGE => RGBColor(208, 28, 44),
        _ => COLOURS[at % COLOURS.len()],
    }
}

/// The names beside their colours, slowest first at the greatest length of each.
fn legend<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    lines: &Lines,
) -> Result<(), Box<dyn std::error::Error>>
where
    B::ErrorType: 'static,
{
    let mut entries: Vec<_> = lines.iter().enumerate().collect();
    let end = |line: &Vec<(f64, f64)>| line.last().copied().unwrap_or_default();
    entries.sort_by(|a, b| {
        let (x, y) = (end(a.1.1), end(b.1.1));
        y.0.total_cmp(&x.0).then(y.1.total_cmp(&x.1))
    });
    for (row, (at, (name, _))) in entries.into_iter().enumerate() {
        let y = 64 + 24 * row as i32;
        let colour = colour(at, name);
        area.draw(&PathElement::new([(6, y), (34, y)], colour.stroke_width(3)))?;
        if at >= COLOURS.len() {
            area.draw(&TriangleMarker::new((20, y), 5, colour.filled()))?;
        } else {
            area.draw(&Circle::new((20, y), 4, colour.filled()))?;
        }
        area.draw(&Text::new((*name).to_owned(), (42, y - 8), (FONT, 14).into_font()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::record::Timing;
    use super::*;

    #[test]
    fn every_lesson_of_a_record_is_named() {
        let timing = |name: &str, n: u64| Timing {
            name: name.into(),
            n,
            median_us: n as f64 / 7.0,
            least_us: 1.0,
            right: true,
        };
        let timings = vec![timing("copy", 64), timing("domino", 64), timing("domino", 1024)];
        let record = Record { device: "a GPU".into(), repeats: 1, timings };
        let svg = String::from_utf8(picture(&record, Path::new("a.svg")).unwrap()).unwrap();
        assert!(svg.contains("domino") && svg.contains("copy") && svg.contains("a GPU"));
        assert!(picture(&record, Path::new("a.gif")).is_err());
        let empty = Record { timings: Vec::new(), ..record };
        assert!(picture(&empty, Path::new("a.svg")).is_err());
    }
}

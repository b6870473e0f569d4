//! Plots, made from records alone: bytes moved in a second over the length, a line a contender.

use crate::contender::{Mode, Role};
use crate::record::{Cell, Record};
use crate::table::length;
use plotters::coord::Shift;
use plotters::prelude::*;
use resvg::{tiny_skia, usvg};
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

mod bars;

const SIZE: (u32, u32) = (1200, 720);
/// Width of the legend.
const LEGEND: u32 = 300;
const FONT: &str = "Noto Sans, DejaVu Sans, Verdana, sans-serif";
const TYPEFACE: &[u8] = include_bytes!("../../crates/kogge-lab/assets/NotoSans-subset.ttf");
/// Pixels of a PNG to a unit of the SVG.
const SCALE: f32 = 1.5;

const KOGGE: RGBColor = RGBColor(208, 28, 44);
/// Hues that can be told apart on white, and from kogge's.
const COLOURS: [RGBColor; 10] = [
    RGBColor(31, 119, 180),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(230, 126, 20),
    RGBColor(140, 86, 75),
    RGBColor(214, 100, 180),
    RGBColor(23, 155, 170),
    RGBColor(160, 150, 20),
    RGBColor(57, 59, 121),
    RGBColor(110, 130, 90),
];
const BEST_COPY: &str = "best copy";

type Point = (f64, f64);

/// A contender over all lengths.
struct Line {
    name: String,
    style: Style,
    points: Vec<Point>,
}

struct Style {
    colour: RGBColor,
    width: u32,
    /// Whether points are triangles: the hues have come round.
    second: bool,
}

/// Draws a plot for each type and mode of a record, as SVG and PNG beside it. Gives their paths.
///
/// # Errors
///
/// A plot that can't be drawn or written.
pub fn draw(record: &Record, path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut groups: BTreeMap<(String, &str), Vec<&Cell>> = BTreeMap::new();
    for cell in record.cells().into_iter().filter(|cell| cell.shape.is_none()) {
        groups.entry((cell.dtype.clone(), cell.mode.name())).or_default().push(cell);
    }
    let mut written = Vec::new();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for ((dtype, mode), cells) in groups {
        // A record of one type is named after it already.
        let dtype = dtype.replace(' ', "-");
        let tail = if stem.split('-').any(|word| dtype.split('-').any(|part| part == word)) {
            mode.to_owned()
        } else {
            format!("{dtype}-{mode}")
        };
        let svg = svg(record, &cells).map_err(|error| io::Error::other(error.to_string()))?;
        written.extend(write(&svg, path, &format!("{stem}-{tail}"))?);
    }
    for (dtype, cells) in bars::groups(record) {
        let svg = bars::svg(record, &dtype, &cells);
        let svg = svg.map_err(|error| io::Error::other(error.to_string()))?;
        let tail = if stem.contains("shapes") { "" } else { "-shapes" };
        written.extend(write(&svg, path, &format!("{stem}-{dtype}{tail}"))?);
    }
    Ok(written)
}

/// Writes a picture as SVG and PNG beside a record.
fn write(svg: &str, record: &Path, stem: &str) -> io::Result<[PathBuf; 2]> {
    let png = png(svg).map_err(|error| io::Error::other(error.to_string()))?;
    let to = ["svg", "png"].map(|extension| record.with_file_name(format!("{stem}.{extension}")));
    fs::write(&to[0], svg)?;
    fs::write(&to[1], png)?;
    Ok(to)
}

fn svg(record: &Record, cells: &[&Cell]) -> Result<String, Box<dyn Error>> {
    let lines = lines(cells);
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (left, right) = area.split_horizontally(SIZE.0 - LEGEND);
        chart(&left, &title(record, cells[0]), &lines)?;
        legend(&right, &lines)?;
        area.present()?;
    }
    Ok(out)
}

fn title(record: &Record, cell: &Cell) -> String {
    let mode = match cell.mode {
        Mode::Into => "into another buffer",
        Mode::InPlace => "in place",
    };
    let scan = if cell.dtype.starts_with("affine") { "scan" } else { "sum" };
    format!("Inclusive {scan} of {}, {mode}; {}", cell.dtype, machine(record))
}

/// The machine's name.
fn machine(record: &Record) -> String {
    match &record.machine.gpu {
        Some(gpu) => gpu.name.clone(),
        None => {
            let cpu = record.machine.cpu.split(" (").next().unwrap_or_default();
            format!("{cpu}, {} CPUs", record.machine.cpus)
        }
    }
}

/// The lines of a plot, fastest at the greatest length first.
fn lines(cells: &[&Cell]) -> Vec<Line> {
    let mut points: BTreeMap<(&str, Option<Role>), Vec<Point>> = BTreeMap::new();
    for cell in cells {
        for series in &cell.series {
            if series.role != Role::Copy {
                let point = (cell.len as f64, cell.gigabytes_per_second(series));
                points.entry((&series.name, Some(series.role))).or_default().push(point);
            }
        }
        if let Some(copy) = cell.fastest(Role::Copy) {
            let point = (cell.len as f64, cell.gigabytes_per_second(copy));
            points.entry((BEST_COPY, None)).or_default().push(point);
        }
    }
    let mut others = 0;
    let mut lines: Vec<_> = points
        .into_iter()
        .map(|((name, role), points)| {
            let style = match role {
                None => Style { colour: BLACK, width: 2, second: false },
                Some(Role::Kogge) => Style { colour: KOGGE, width: 5, second: false },
                _ => {
                    others += 1;
                    let (turn, hue) = ((others - 1) / COLOURS.len(), (others - 1) % COLOURS.len());
                    Style { colour: COLOURS[hue], width: 2, second: turn > 0 }
                }
            };
            Line { name: name.to_owned(), style, points }
        })
        .collect();
    let end = |line: &Line| line.points.last().copied().unwrap_or_default();
    lines.sort_by(|a, b| end(b).partial_cmp(&end(a)).unwrap_or(std::cmp::Ordering::Equal));
    lines
}

/// From the smallest to the largest of some numbers, a little apart.
fn range(numbers: impl Iterator<Item = f64> + Clone, margin: f64) -> Option<Range<f64>> {
    let low = numbers.clone().min_by(f64::total_cmp)?;
    let high = numbers.max_by(f64::total_cmp)?;
    Some(low / margin..high * margin)
}

fn chart<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    lines: &[Line],
) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    let points = lines.iter().flat_map(|line| &line.points);
    let lengths = range(points.clone().map(|point| point.0), 1.3).ok_or("nothing to plot")?;
    let speeds = range(points.map(|point| point.1), 1.3).ok_or("nothing to plot")?;
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(52)
        .y_label_area_size(64)
        .caption(title, (FONT, 21))
        .build_cartesian_2d(lengths.log_scale().base(2.0), speeds.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("elements")
        .y_desc("GB/s, read and written")
        .x_labels(10)
        .x_label_formatter(&|n| length(n.round() as usize))
        .y_label_formatter(&|speed| format!("{speed}"))
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 14))
        .light_line_style(RGBColor(240, 242, 245))
        .bold_line_style(RGBColor(220, 225, 231))
        .draw()?;
    // The last ones lie on top: kogge, and before it what it is compared with.
    let mut order: Vec<_> = lines.iter().collect();
    order.sort_by_key(|line| line.style.width);
    for line in order {
        let style = line.style.colour.stroke_width(line.style.width);
        if line.name == BEST_COPY {
            let dashes = DashedLineSeries::new(line.points.iter().copied(), 8, 5, style);
            chart.draw_series(dashes)?;
        } else {
            chart.draw_series(LineSeries::new(line.points.iter().copied(), style))?;
        }
        let (size, fill) = (line.style.width as i32 + 2, line.style.colour.filled());
        for &point in &line.points {
            if line.style.second {
                chart.draw_series([TriangleMarker::new(point, size + 1, fill)])?;
            } else {
                chart.draw_series([Circle::new(point, size - 1, fill)])?;
            }
        }
    }
    Ok(())
}

/// The names beside their colours, in the order of the lines' ends.
fn legend<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    lines: &[Line],
) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    for (row, line) in lines.iter().enumerate() {
        let y = 66 + 26 * row as i32;
        let colour = line.style.colour;
        let ends: &[(i32, i32)] =
            if line.name == BEST_COPY { &[(6, 14), (19, 27), (32, 36)] } else { &[(6, 36)] };
        for &(from, to) in ends {
            let stroke = colour.stroke_width(line.style.width);
            area.draw(&PathElement::new([(from, y), (to, y)], stroke))?;
        }
        if line.style.second {
            area.draw(&TriangleMarker::new((21, y), 6, colour.filled()))?;
        } else {
            area.draw(&Circle::new((21, y), line.style.width as i32 + 1, colour.filled()))?;
        }
        let text = (FONT, if line.style.colour == KOGGE { 17 } else { 15 }).into_font();
        area.draw(&Text::new(line.name.clone(), (46, y - 9), text))?;
    }
    Ok(())
}

/// Renders an SVG with the typeface of the laboratory's drawings.
fn png(svg: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut options = usvg::Options { font_family: "Noto Sans".to_owned(), ..Default::default() };
    options.fontdb_mut().load_font_data(TYPEFACE.to_vec());
    options.fontdb_mut().set_sans_serif_family("Noto Sans");
    let tree = usvg::Tree::from_str(svg, &options)?;
    let pixels = |units: f32| (units * SCALE).ceil() as u32;
    let canvas = tiny_skia::Pixmap::new(pixels(tree.size().width()), pixels(tree.size().height()));
    let mut canvas = canvas.ok_or("a picture without pixels")?;
    let scale = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut canvas.as_mut());
    Ok(canvas.encode_png()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Series;

    fn series(name: &str, role: Role, median_ns: f64) -> Series {
        Series {
            name: name.to_owned(),
            role,
            threads: 1,
            runs: 1,
            calls_per_run: 1,
            median_ns,
            min_ns: median_ns,
            p25_ns: median_ns,
            p75_ns: median_ns,
            scratch_bytes: None,
        }
    }

    #[test]
    fn lines_follow_the_record_and_copies_become_their_best() {
        let cell = |len| Cell {
            dtype: "f32".to_owned(),
            element_bytes: 4,
            mode: Mode::Into,
            len,
            shape: None,
            beside_bytes: 0,
            word_ns: None,
            series: vec![
                series("memcpy", Role::Copy, 8.0),
                series("streams", Role::Copy, 4.0),
                series("kogge", Role::Kogge, 16.0),
                series("a loop", Role::Peer, 32.0),
            ],
        };
        let cells = [cell(16), cell(64)];
        let lines = lines(&cells.each_ref());
        let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, [BEST_COPY, "kogge", "a loop"]);
        assert_eq!(lines[0].points, [(16.0, 32.0), (64.0, 128.0)]);
        assert_eq!(lines[2].points, [(16.0, 4.0), (64.0, 16.0)]);
    }
}

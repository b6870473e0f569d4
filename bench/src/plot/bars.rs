//! Shapes beside each other: a group of bars a shape, a bar a contender, as a share of a copy's
//! speed.

use super::{COLOURS, FONT, KOGGE, machine};
use crate::contender::Role;
use crate::record::{Cell, Record};
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::error::Error;

const WIDTH: i32 = 1200;
/// Left of the bars stand the shapes' names; right of them there is room for a number.
const BARS: (i32, i32) = (300, 1130);
const HEAD: i32 = 96;
const BAR: i32 = 18;
const GAP: i32 = 16;
const FOOT: i32 = 40;
const GRID: RGBColor = RGBColor(225, 229, 235);
const TEXT: RGBColor = RGBColor(40, 44, 52);

/// The cells of shapes, type by type.
pub(super) fn groups(record: &Record) -> BTreeMap<String, Vec<&Cell>> {
    let mut groups: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    for cell in record.cells().into_iter().filter(|cell| cell.shape.is_some()) {
        groups.entry(cell.dtype.clone()).or_default().push(cell);
    }
    groups
}

/// A contender's share of a copy's speed in a cell, in percent.
fn share(cell: &Cell, name: &str) -> Option<f64> {
    let copy = cell.fastest(Role::Copy)?;
    let series = cell.series.iter().find(|series| series.name == name)?;
    Some(100.0 * copy.median_ns / series.median_ns)
}

/// The contenders of some cells: kogge first, then as they come; copies are the measure.
fn names<'a>(cells: &[&'a Cell]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let series = || cells.iter().flat_map(|cell| &cell.series);
    let kogge = series().filter(|one| one.role == Role::Kogge);
    let others = series().filter(|one| matches!(one.role, Role::Peer | Role::Probe));
    for one in kogge.chain(others) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    names
}

fn colour(index: usize) -> RGBColor {
    if index == 0 { KOGGE } else { COLOURS[(index - 1) % COLOURS.len()] }
}

/// The picture of one type.
pub(super) fn svg(record: &Record, dtype: &str, cells: &[&Cell]) -> Result<String, Box<dyn Error>> {
    let names = names(cells);
    let bars = |cell: &Cell| names.iter().filter(|name| share(cell, name).is_some()).count() as i32;
    let rows: i32 = cells.iter().map(|cell| bars(cell) * BAR + GAP).sum();
    let height = HEAD + rows + FOOT;
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, (WIDTH as u32, height as u32));
        let area = area.into_drawing_area();
        area.fill(&WHITE)?;
        let title = format!("Inclusive sums of {dtype}, % of a copy; {}", machine(record));
        area.draw(&Text::new(title, (16, 14), (FONT, 21).into_font().color(&TEXT)))?;
        legend(&area, &names)?;
        scale(&area, cells, &names, height)?;
        let mut top = HEAD;
        for cell in cells {
            let shape = cell.shape.clone().unwrap_or_default();
            let middle = top + bars(cell) * BAR / 2 - 8;
            area.draw(&Text::new(shape, (16, middle), (FONT, 15).into_font().color(&TEXT)))?;
            for (i, name) in names.iter().enumerate() {
                let Some(share) = share(cell, name) else { continue };
                let end = place(share, most(cells, &names));
                let bar = Rectangle::new([(BARS.0, top), (end, top + BAR - 3)], colour(i).filled());
                area.draw(&bar)?;
                let number =
                    if share < 10.0 { format!("{share:.1}") } else { format!("{share:.0}") };
                let style = (FONT, 13).into_font().color(&TEXT);
                area.draw(&Text::new(number, (end + 5, top), style))?;
                top += BAR;
            }
            top += GAP;
        }
        area.present()?;
    }
    Ok(out)
}

/// The largest share, at least 100.
fn most(cells: &[&Cell], names: &[&str]) -> f64 {
    let shares = cells.iter().flat_map(|cell| names.iter().filter_map(|name| share(cell, name)));
    shares.fold(100.0, f64::max)
}

fn place(share: f64, most: f64) -> i32 {
    BARS.0 + (f64::from(BARS.1 - BARS.0) * share / most).round() as i32
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A line every 25 %, named below.
fn scale(
    area: &Area<'_>,
    cells: &[&Cell],
    names: &[&str],
    height: i32,
) -> Result<(), Box<dyn Error>> {
    let most = most(cells, names);
    for percent in (0..=most as i32).step_by(25) {
        let x = place(f64::from(percent), most);
        let line = PathElement::new([(x, HEAD - 8), (x, height - FOOT)], GRID.stroke_width(1));
        area.draw(&line)?;
        let style = (FONT, 14).into_font().color(&TEXT);
        area.draw(&Text::new(format!("{percent} %"), (x - 12, height - FOOT + 8), style))?;
    }
    Ok(())
}

fn legend(area: &Area<'_>, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut x = 16;
    for (i, name) in names.iter().enumerate() {
        area.draw(&Rectangle::new([(x, 52), (x + 14, 66)], colour(i).filled()))?;
        let style = (FONT, 15).into_font().color(&TEXT);
        area.draw(&Text::new((*name).to_owned(), (x + 20, 50), style))?;
        x += 44 + 8 * name.chars().count() as i32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Mode;
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
    fn shares_are_of_the_best_copy_and_kogge_comes_first() {
        let cell = Cell {
            dtype: "f32".to_owned(),
            element_bytes: 4,
            mode: Mode::Into,
            len: 8,
            shape: Some("2×4, first axis".to_owned()),
            beside_bytes: 0,
            word_ns: None,
            series: vec![
                series("memcpy", Role::Copy, 9.0),
                series("streams", Role::Copy, 6.0),
                series("a loop", Role::Peer, 24.0),
                series("kogge", Role::Kogge, 8.0),
            ],
        };
        assert_eq!(names(&[&cell]), ["kogge", "a loop"]);
        assert_eq!((share(&cell, "kogge"), share(&cell, "a loop")), (Some(75.0), Some(25.0)));
        assert_eq!(share(&cell, "absent"), None);
    }
}

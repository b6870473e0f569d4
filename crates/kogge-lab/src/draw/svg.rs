//! The network as SVG.

use std::fmt::Write;

use super::network::{Combination, Network, Output, Row};

const FONT: &str = "Noto Sans, DejaVu Sans, Verdana, sans-serif";

const INK: &str = "#1f2933";
const FAINT: &str = "#9aa5b1";
const WIRE: &str = "#d5dbe1";
const ARROW: &str = "#3b6ea8";
const BOX: &str = "#e3eefa";
const DONE: &str = "#d9f2df";
const DONE_EDGE: &str = "#2f8f4e";
const RED: &str = "#c81e1e";
const RED_FILL: &str = "#fde2e2";

/// The measures of a drawing, in pixels.
struct Layout {
    /// From one column to the next.
    pitch: f64,
    /// The height of a box.
    height: f64,
    /// The size of the labels.
    font: f64,
    /// Whether a label stands on two lines.
    stacked: bool,
    /// The middle of the first column.
    left: f64,
    /// The upper edge of the boxes of each row: the input, the rows, the output.
    tops: Vec<f64>,
    width: f64,
    bottom: f64,
}

impl Layout {
    fn of(network: &Network) -> Self {
        let n = network.columns;
        let digits = n.saturating_sub(1).max(1).ilog10() as usize + 1;
        let name = network.input.chars().count();
        let stacked = n > 24;
        let characters = if stacked { name + digits + 1 } else { 2 * (name + digits) + 2 };
        let font = if stacked { 11.0 } else { 12.0 };
        let pitch = (characters as f64 * font * 0.56 + 14.0).max(34.0);
        let height = if stacked { 34.0 } else { 22.0 };
        let mut tops = vec![84.0];
        for row in &network.rows {
            tops.push(tops[tops.len() - 1] + height + gap(row, pitch));
        }
        if !network.outputs.is_empty() {
            tops.push(tops[tops.len() - 1] + height + 26.0);
        }
        let left = 92.0 + pitch / 2.0;
        let width = left + (n.max(1) - 1) as f64 * pitch + pitch / 2.0 + 24.0;
        let bottom = tops[tops.len() - 1] + height + 20.0;
        Self { pitch, height, font, stacked, left, tops, width: width.max(560.0), bottom }
    }

    fn x(&self, column: usize) -> f64 {
        self.left + column as f64 * self.pitch
    }

    /// The upper edge of the boxes of a row; row 0 is the input.
    fn y(&self, row: usize) -> f64 {
        self.tops[row]
    }

    /// The lower edge of the boxes above a row, where its arrows begin.
    fn above(&self, row: usize) -> f64 {
        self.tops[row - 1] + self.height
    }
}

/// The room for the arrows of a row: the longer they are, the more it takes to tell them apart.
fn gap(row: &Row, pitch: f64) -> f64 {
    let longest = row.combinations.iter().filter_map(span).max().unwrap_or(0);
    (longest as f64 * pitch * 0.14).clamp(38.0, 240.0)
}

fn span(combination: &Combination) -> Option<usize> {
    combination.left.map(|left| combination.column.abs_diff(left))
}

/// The network as an SVG document.
pub fn svg(network: &Network) -> String {
    let layout = Layout::of(network);
    let hazards = wrapped(&network.hazards, ((layout.width - 48.0) / 6.6) as usize);
    let height = layout.bottom + 16.0 + 18.0 * hazards.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {w:.0} {height:.0}\" \
         font-family=\"{FONT}\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        w = layout.width,
    );
    caption(&mut out, network);
    wires(&mut out, network, &layout);
    for (at, row) in network.rows.iter().enumerate() {
        let first_of_step = at == 0 || network.rows[at - 1].step != row.step;
        if first_of_step {
            step(&mut out, &layout, at + 1, row.step);
        }
        row.combinations
            .iter()
            .for_each(|combination| arrow(&mut out, &layout, at + 1, combination));
    }
    boxes(&mut out, network, &layout);
    for (line, hazard) in hazards.iter().enumerate() {
        let y = layout.bottom + 12.0 + 18.0 * line as f64;
        text(&mut out, 24.0, y, 12.0, "start", RED, hazard);
    }
    out.push_str("</svg>\n");
    out
}

fn caption(out: &mut String, network: &Network) {
    let caption = &network.caption;
    let title = format!("{}, N = {}", caption.title, network.columns);
    text(out, 24.0, 34.0, 19.0, "start", INK, &title);
    let counts = format!("work {}, steps {}", caption.work, caption.steps);
    text(out, 24.0, 58.0, 13.0, "start", "#52606d", &counts);
}

fn wires(out: &mut String, network: &Network, layout: &Layout) {
    let last = network.rows.len() + usize::from(!network.outputs.is_empty());
    let (top, bottom) = (layout.y(0), layout.y(last));
    for column in 0..network.columns {
        line(out, (layout.x(column), top), (layout.x(column), bottom), WIRE, 1.5, "");
    }
}

/// The number of a step beside its first row, and the barrier before it.
fn step(out: &mut String, layout: &Layout, row: usize, number: usize) {
    let y = layout.y(row);
    let label = format!("step {number}");
    text(out, 24.0, y + layout.height / 2.0 + 4.5, 13.0, "start", INK, &label);
    if number > 1 {
        let y = layout.above(row) + 5.0;
        line(out, (24.0, y), (layout.width - 24.0, y), FAINT, 1.0, " stroke-dasharray=\"3 4\"");
    }
}

/// From the left operand's wire to the box.
fn arrow(out: &mut String, layout: &Layout, row: usize, combination: &Combination) {
    let Some(left) = combination.left else { return };
    let colour = if combination.hazard { RED } else { ARROW };
    let width = if combination.hazard { 2.2 } else { 1.4 };
    let from = (layout.x(left), layout.above(row));
    let aside = if left < combination.column { -0.22 } else { 0.22 };
    let to = (layout.x(combination.column) + aside * layout.pitch, layout.y(row) - 1.0);
    line(out, from, to, colour, width, "");
    head(out, from, to, colour);
    let _ = writeln!(
        out,
        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"{colour}\"/>",
        from.0, from.1
    );
}

fn head(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let (bx, by) = (to.0 - 8.0 * ux, to.1 - 8.0 * uy);
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{colour}\"/>",
        to.0,
        to.1,
        bx - 3.2 * uy,
        by + 3.2 * ux,
        bx + 3.2 * uy,
        by - 3.2 * ux,
    );
}

struct Style {
    fill: &'static str,
    edge: &'static str,
    dashed: bool,
}

const INPUT: Style = Style { fill: "#f1f4f7", edge: "#7b8794", dashed: false };

fn boxes(out: &mut String, network: &Network, layout: &Layout) {
    for column in 0..network.columns {
        cell(out, layout, 0, column, &format!("{}{column}", network.input), &INPUT, 1);
    }
    text(out, 24.0, layout.y(0) + layout.height / 2.0 + 4.5, 13.0, "start", "#52606d", "input");
    for (at, row) in network.rows.iter().enumerate() {
        for combination in &row.combinations {
            let label = combination.label(&network.input);
            cell(
                out,
                layout,
                at + 1,
                combination.column,
                &label,
                &style(combination),
                combination.times,
            );
        }
    }
    if !network.outputs.is_empty() {
        let row = network.rows.len() + 1;
        text(
            out,
            24.0,
            layout.y(row) + layout.height / 2.0 + 4.5,
            13.0,
            "start",
            "#52606d",
            "output",
        );
        for (column, output) in network.outputs.iter().enumerate() {
            if *output != Output::Nothing {
                cell(
                    out,
                    layout,
                    row,
                    column,
                    &output.label(&network.input),
                    &output_style(*output),
                    1,
                );
            }
        }
    }
}

fn style(combination: &Combination) -> Style {
    match combination.covers {
        _ if combination.hazard => Style { fill: RED_FILL, edge: RED, dashed: false },
        Some((0, _)) => Style { fill: DONE, edge: DONE_EDGE, dashed: combination.left.is_none() },
        _ => Style { fill: BOX, edge: ARROW, dashed: combination.left.is_none() },
    }
}

fn output_style(output: Output) -> Style {
    match output {
        Output::Covers(0, _) => Style { fill: DONE, edge: DONE_EDGE, dashed: false },
        Output::Identity => INPUT,
        _ => Style { fill: RED_FILL, edge: RED, dashed: false },
    }
}

/// A box with its label, in one line or two, and a count where several threads do the same.
fn cell(
    out: &mut String,
    layout: &Layout,
    row: usize,
    column: usize,
    label: &str,
    style: &Style,
    times: usize,
) {
    let (x, y, width) = (layout.x(column), layout.y(row), layout.pitch - 8.0);
    let dash = if style.dashed { " stroke-dasharray=\"4 3\"" } else { "" };
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"4\" fill=\"{}\" stroke=\"{}\"{dash}/>",
        x - width / 2.0,
        layout.height,
        style.fill,
        style.edge,
    );
    let middle = y + layout.height / 2.0 + 0.36 * layout.font;
    match label.split_once("..") {
        Some((first, last)) if layout.stacked => {
            text(out, x, middle - 7.0, layout.font, "middle", INK, &format!("{first}.."));
            text(out, x, middle + 7.0, layout.font, "middle", INK, last);
        }
        _ => text(out, x, middle, layout.font, "middle", INK, label),
    }
    if times > 1 {
        text(out, x + width / 2.0, y - 3.0, 10.0, "end", "#52606d", &format!("×{times}"));
    }
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, more: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"{more}/>",
        from.0, from.1, to.0, to.1,
    );
}

fn text(out: &mut String, x: f64, y: f64, size: f64, anchor: &str, colour: &str, what: &str) {
    let mut safe = String::with_capacity(what.len());
    for c in what.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{safe}</text>",
    );
}

/// Sentences cut into lines of at most `width` characters, at blanks.
fn wrapped(sentences: &[String], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for sentence in sentences {
        let mut current = String::new();
        for word in sentence.split_whitespace() {
            if !current.is_empty() && current.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

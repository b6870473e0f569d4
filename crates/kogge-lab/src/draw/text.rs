//! The network as text, for a terminal.

use std::fmt::Write;

use super::network::{Combination, Network};

/// How wide a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Every label is written out.
    Labels,
    /// One sign to a column.
    Signs,
    /// Labels if they fit in so many characters, signs otherwise.
    Fit(usize),
}

/// What stands before the columns.
const MARGIN: usize = 9;

/// The network as lines of text: a line to each row of combinations and, where labels are written
/// out, a line above it with the column that each takes in, `x3 ↘`. With signs, `●` is a
/// combination, `◆` one that completes a prefix, `│` an element at rest. `colour` puts hazards in
/// red; without it they are marked with `!`.
pub fn text(network: &Network, width: Width, colour: bool) -> String {
    let cell = label_width(network) + 1;
    let labels = match width {
        Width::Labels => true,
        Width::Signs => false,
        Width::Fit(columns) => MARGIN + cell * network.columns <= columns,
    };
    let painter = Painter { network, cell: if labels { cell } else { 2 }, labels, colour };
    painter.draw()
}

fn label_width(network: &Network) -> usize {
    let combined =
        network.rows.iter().flat_map(|row| &row.combinations).map(|c| c.label(&network.input));
    let outputs = network.outputs.iter().map(|output| output.label(&network.input));
    combined.chain(outputs).map(|label| label.chars().count()).max().unwrap_or(2).max(4)
}

struct Painter<'a> {
    network: &'a Network,
    cell: usize,
    labels: bool,
    colour: bool,
}

impl Painter<'_> {
    fn draw(&self) -> String {
        let network = self.network;
        let caption = &network.caption;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{}, N = {}: work {}, steps {}",
            caption.title, network.columns, caption.work, caption.steps
        );
        let inputs = (0..network.columns)
            .map(|i| if self.labels { format!("{}{i}", network.input) } else { "○".into() });
        self.line(&mut out, "input", inputs);
        let mut step = 0;
        for row in &network.rows {
            let name = if row.step == step { String::new() } else { format!("step {}", row.step) };
            step = row.step;
            let at = |column: usize| row.combinations.iter().find(|c| c.column == column);
            if self.labels {
                self.line(&mut out, "", (0..network.columns).map(|column| self.source(at(column))));
            }
            self.line(&mut out, &name, (0..network.columns).map(|column| self.result(at(column))));
        }
        if self.labels && !network.outputs.is_empty() {
            self.line(
                &mut out,
                "output",
                network.outputs.iter().map(|output| output.label(&network.input)),
            );
        }
        for hazard in &network.hazards {
            let _ = writeln!(out, "{}", self.red(hazard));
        }
        out
    }

    fn line(&self, out: &mut String, name: &str, cells: impl Iterator<Item = String>) {
        let mut line = format!("{name:<MARGIN$}");
        for cell in cells {
            let shown = cell.chars().filter(|c| !c.is_control()).count()
                - 7 * cell.matches("\u{1b}[31m").count();
            line.push_str(&cell);
            line.push_str(&" ".repeat(self.cell.saturating_sub(shown)));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }

    fn source(&self, combination: Option<&Combination>) -> String {
        match combination {
            Some(Combination { left: Some(left), .. }) => format!("{}{left} ↘", self.network.input),
            Some(_) => String::new(),
            None => "│".to_owned(),
        }
    }

    fn result(&self, combination: Option<&Combination>) -> String {
        let Some(combination) = combination else { return "│".to_owned() };
        let sign = match combination.covers {
            _ if self.labels => combination.label(&self.network.input),
            Some((0, _)) => "◆".to_owned(),
            _ => "●".to_owned(),
        };
        if combination.hazard { self.red(&sign) } else { sign }
    }

    fn red(&self, what: &str) -> String {
        if self.colour { format!("\u{1b}[31m{what}\u{1b}[0m") } else { format!("{what}!") }
    }
}

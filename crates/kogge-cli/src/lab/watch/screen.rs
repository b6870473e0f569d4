//! What the viewer sees: the source, the arrays, and what happened last.

use kogge_lab::Place;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use super::player::{Cell, Player};

const KEYS: &str = "→ event  ↓ step  ← ↑ back  Home End  q quit";

/// Draws the whole screen.
pub fn draw(frame: &mut Frame, player: &Player) {
    let hazards = player.hazards.len().min(4) as u16;
    let [top, middle, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(4),
        Constraint::Length(3 + hazards),
    ])
    .areas(frame.area());
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).areas(middle);
    title(frame, top, player);
    source(frame, left, player);
    arrays(frame, right, player);
    status(frame, bottom, player);
}

fn title(frame: &mut Frame, area: Rect, player: &Player) {
    let (at, of) = player.position();
    let (launch, level, _) = player.moment();
    let text = format!("{}   launch {launch}, interval {level}, event {at} of {of}", player.title);
    frame.render_widget(Line::from(text).style(Style::new().add_modifier(Modifier::BOLD)), area);
}

fn source(frame: &mut Frame, area: Rect, player: &Player) {
    let line = (player.moment().2 as usize).saturating_sub(1);
    let height = usize::from(area.height.saturating_sub(2));
    let first = line.saturating_sub(height / 2).min(player.source.len().saturating_sub(height));
    let lines = player.source.iter().enumerate().skip(first).take(height).map(|(number, text)| {
        let style = if number == line && player.event().is_some() {
            Style::new().bg(Color::Blue).fg(Color::White)
        } else {
            Style::new()
        };
        Line::from(format!("{:>4} {}", number + 1, text)).style(style)
    });
    let paragraph =
        Paragraph::new(lines.collect::<Vec<_>>()).block(Block::bordered().title("source"));
    frame.render_widget(paragraph, area);
}

fn arrays(frame: &mut Frame, area: Rect, player: &Player) {
    let written = player.written();
    let mut lines = Vec::new();
    for ((array, block), elements) in player.contents() {
        let Some(info) = player.trace.arrays.get(array as usize) else { continue };
        let owner = if info.shared { format!(" of block {block}") } else { String::new() };
        lines.push(
            Line::from(format!("{}{owner}", info.name))
                .style(Style::new().add_modifier(Modifier::BOLD)),
        );
        let spans = elements.iter().flat_map(|(&index, &cell)| {
            let now = written.contains(&Place::Element { array, block, index });
            [Span::styled(label(player, cell), style(cell, now)), Span::raw("  ")]
        });
        lines.push(Line::from(spans.collect::<Vec<_>>()));
    }
    let paragraph =
        Paragraph::new(lines).wrap(Wrap { trim: true }).block(Block::bordered().title("arrays"));
    frame.render_widget(paragraph, area);
}

fn label(player: &Player, cell: Cell) -> String {
    match cell {
        Cell::Covers(interval) => player.label(interval),
        Cell::Constant => "e".to_owned(),
        Cell::Unknown => "?".to_owned(),
    }
}

/// Green for a finished prefix, red for what is no run; the element just written stands out.
fn style(cell: Cell, now: bool) -> Style {
    let style = match cell {
        Cell::Covers(interval) if interval.first == 0 => Style::new().fg(Color::Green),
        Cell::Unknown => Style::new().fg(Color::Red),
        _ => Style::new(),
    };
    if now { style.add_modifier(Modifier::REVERSED) } else { style }
}

fn status(frame: &mut Frame, area: Rect, player: &Player) {
    let mut lines = vec![Line::from(player.sentence())];
    let red = Style::new().fg(Color::Red);
    lines.extend(player.hazards.iter().take(4).map(|hazard| Line::from(hazard.clone()).style(red)));
    let block = Block::bordered().title_bottom(KEYS);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

#[cfg(test)]
mod tests {
    use kogge_lab::catalogue::{Operator, lesson};
    use kogge_lab::{ScalarType, Values, run};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    #[test]
    fn the_screen_follows_the_run() {
        let lesson = lesson("kogge_stone_shared").expect("a lesson");
        let sum = Operator::named("sum", ScalarType::I32).expect("ints have sums");
        let mut setup = lesson.setup(Values::from(vec![1; 4]), &sum, &[]).expect("a lesson runs");
        setup.options.trace = true;
        let report = run(&setup.program, &setup.script, &setup.options).expect("a lesson runs");
        let mut player = Player::new(&report, &lesson.text, "title").expect("a trace");
        let mut terminal = Terminal::new(TestBackend::new(120, 30)).expect("a test terminal");
        let mut shown = |player: &Player| {
            terminal.draw(|frame| draw(frame, player)).expect("a test terminal draws");
            terminal.backend().to_string()
        };
        assert!(shown(&player).contains("nothing has happened yet"));
        player.next_step();
        assert!(player.position().0 > 0);
        player.last();
        let end = shown(&player);
        assert!(end.contains("x0..x3") && end.contains("prefixes of block 0"), "{end}");
        player.first();
        assert_eq!(player.position().0, 0);
    }
}

//! `kogge lab watch`: a run, event by event, in the terminal.

mod player;
mod screen;

use std::io::IsTerminal;

use crossterm::event::{Event, KeyCode, KeyEventKind, read};
use kogge_lab::Diagnostic;

use super::subject::SubjectArgs;
use super::{Outcome, Verdict};
use player::Player;

/// Arguments of `kogge lab watch`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn run(args: &Args) -> Outcome {
    let mut subject = args.subject.prepare()?;
    subject.options.trace = true;
    let report = subject.run()?;
    let clean = report.is_clean();
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Diagnostic::general("watching needs a terminal")
            .with_help("`kogge lab draw` and `trace` do not"));
    }
    let mut player = Player::new(&report, &subject.source, &subject.title)
        .ok_or_else(|| Diagnostic::general("the run has no steps to watch"))?;
    let mut terminal = ratatui::init();
    let result = watch(&mut terminal, &mut player);
    ratatui::restore();
    result.map_err(|error| Diagnostic::general(format!("the terminal failed: {error}")))?;
    Ok(Verdict::of(clean))
}

fn watch(terminal: &mut ratatui::DefaultTerminal, player: &mut Player) -> std::io::Result<()> {
    loop {
        terminal.draw(|frame| screen::draw(frame, player))?;
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
            KeyCode::Right | KeyCode::Char('l' | ' ') | KeyCode::Enter => player.forward(),
            KeyCode::Left | KeyCode::Char('h') | KeyCode::Backspace => player.back(),
            KeyCode::Down | KeyCode::PageDown | KeyCode::Char('j') => player.next_step(),
            KeyCode::Up | KeyCode::PageUp | KeyCode::Char('k') => player.previous_step(),
            KeyCode::Home | KeyCode::Char('g') => player.first(),
            KeyCode::End | KeyCode::Char('G') => player.last(),
            _ => {}
        }
    }
}

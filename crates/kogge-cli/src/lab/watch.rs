//! `kogge lab watch`: a run, event by event, in the terminal.

mod player;
mod screen;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read};
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

pub(super) fn run(args: &Args) -> Outcome {
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
    WATCHING.store(true, Ordering::SeqCst);
    let mut terminal = ratatui::init();
    let result = watch(&mut terminal, &mut player);
    leave();
    result.map_err(|error| Diagnostic::general(format!("the terminal failed: {error}")))?;
    Ok(Verdict::of(clean))
}

/// Whether the terminal shows a run, and nothing that is typed.
static WATCHING: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back, if it shows a run.
pub fn leave() {
    if WATCHING.swap(false, Ordering::SeqCst) {
        ratatui::restore();
    }
}

fn watch(terminal: &mut ratatui::DefaultTerminal, player: &mut Player) -> std::io::Result<()> {
    loop {
        terminal.draw(|frame| screen::draw(frame, player))?;
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match key.code {
            // The terminal makes no signal of it while it shows a run.
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                crate::signals::interrupted()
            }
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

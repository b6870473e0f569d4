//! The manual: the page of the command, then those of its subcommands.

use crate::args::Cli;
use crate::error::{Error, Result, quoted};
use crate::output::Output;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use roff::{Roff, roman};
use std::path::Path;
use std::{fs, io};

/// The pages on end, as roff.
pub fn manual() -> Vec<u8> {
    pages().into_iter().flat_map(|page| page.roff).collect()
}

/// Writes each page to a file of its own in a directory, as `man` looks for them.
///
/// # Errors
///
/// If the directory can't be made, or a page not be written.
pub fn write(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(|error| Error::write(&quoted(directory), &error))?;
    pages().into_iter().try_for_each(|page| {
        let path = directory.join(format!("{}.1", page.title));
        Output::create(Some(&path), None)?.put(&page.roff)
    })
}

/// What the manual says of a command.
struct Page {
    /// The command's name, with those of the commands that it is one of.
    title: String,
    roff: Vec<u8>,
}

fn pages() -> Vec<Page> {
    // There is no page of `help`, so no page is to refer to it.
    let mut command = without_help(Cli::command());
    command.build();
    let mut pages = Vec::new();
    render_all(&command, &mut pages).expect("a vector takes every write");
    pages
}

fn render_all(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    let title = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut roff = Vec::new();
    render(command, &title, &mut roff)?;
    pages.push(Page { title, roff });
    command.get_subcommands().try_for_each(|command| render_all(command, pages))
}

fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

fn render(command: &Command, title: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let source = concat!("kogge ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(title).source(source).manual("kogge");
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    if let Some(text) = command.get_after_long_help().or(command.get_after_help()) {
        sections(&text.to_string()).to_writer(page)?;
    }
    Ok(())
}

/// What stands behind the options in the help, each part under its own heading.
fn sections(text: &str) -> Roff {
    let mut page = Roff::new();
    let is_heading = |line: &str| line.ends_with(':') && !line.starts_with(' ');
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let heading = lines.next_if(|line| is_heading(line)).unwrap_or("Notes");
        page.control("SH", [heading.trim_end_matches(':').to_uppercase().as_str()]);
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(|line| !is_heading(line)) {
            body.push(line.strip_prefix("  ").unwrap_or(line));
        }
        while body.last().is_some_and(|line| line.is_empty()) {
            body.pop();
        }
        // Commands and tables stand as they are, text is filled.
        let set = body.iter().any(|line| line.starts_with(' ') || line.contains("  "));
        if set {
            page.control("nf", []);
        }
        page.text([roman(body.join("\n"))]);
        if set {
            page.control("fi", []);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_help_has_its_heading() {
        let pages = String::from_utf8(manual()).unwrap();
        for heading in ["EXAMPLES", "NULLS", "TYPES", "\"EXIT CODES\"", "MEMORY"] {
            assert!(pages.contains(&format!("\n.SH {heading}\n")), "{heading}");
        }
        for title in ["kogge", "kogge-scan", "kogge-lab", "kogge-lab-run", "kogge-bench-plot"] {
            assert!(pages.contains(&format!(".TH {title} 1")), "{title}");
        }
        assert_eq!(pages.matches("\nbf16\n").count(), 3, "types are named");
        assert!(!pages.contains("EXTRA"));
        assert!(!pages.contains("help(1)"), "a page that isn't there");
        // What has no heading, and what stands behind the short help, too.
        let text = pages.replace("\\-", "-").replace(['\n', '\\'], " ");
        let command = Cli::command();
        let bench = command.find_subcommand("bench").and_then(Command::get_after_long_help);
        let first =
            bench.unwrap().to_string().split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        assert!(text.contains(&first), "{first}");
        assert_eq!(pages.matches("\n.SH \"EXIT CODES\"\n").count(), 4);
    }
}

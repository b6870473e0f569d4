//! Every hazard lesson shows its hazard, and every mutant of a lesson is caught.

mod common;

use std::collections::HashSet;

use common::{finds, mutated};
use kogge_lab::catalogue::lessons;

#[test]
fn hazard_lessons_show_their_hazard() {
    let mut shown = 0;
    for lesson in lessons() {
        let Some(trial) = &lesson.header.hazard else { continue };
        let (found, what) = finds(lesson, trial);
        assert!(found, "{}: {:?} not found, but\n    {what}", lesson.name, trial.finds);
        shown += 1;
    }
    assert_eq!(shown, 2, "the spin barrier and the domino scan with static ids");
}

#[test]
fn every_mutant_is_caught() {
    let mut missed = Vec::new();
    for lesson in lessons() {
        assert!(lesson.mutants.len() >= 2, "{} has too few mutants", lesson.name);
        for mutant in &lesson.mutants {
            let (found, what) = finds(&mutated(lesson, mutant), &mutant.trial);
            if !found {
                missed.push(format!(
                    "{}, {}: {:?} not found, but\n    {what}",
                    lesson.name, mutant.name, mutant.trial.finds
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// A mutant's trial finds nothing in the lesson itself, so that it is the fault which is found.
#[test]
fn the_lessons_pass_their_mutants_trials() {
    for lesson in lessons().iter().filter(|lesson| lesson.header.hazard.is_none()) {
        for mutant in lesson.mutants.iter().filter(|mutant| mutant.trial.resident.is_none()) {
            let (found, what) = finds(lesson, &mutant.trial);
            assert!(!found, "{} fails the trial of {}:\n    {what}", lesson.name, mutant.name);
        }
    }
}

#[test]
fn names_of_mutants_are_unique() {
    for lesson in lessons() {
        let names: HashSet<_> = lesson.mutants.iter().map(|mutant| &mutant.name).collect();
        assert_eq!(names.len(), lesson.mutants.len(), "{}", lesson.name);
    }
}

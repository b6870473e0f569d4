//! Names of CUDA's libraries that the laboratory does not have, and what does the same.

use super::Parser;
use crate::diagnostic::Diagnostic;

/// Names of cooperative groups that the language has.
const GROUPS: [&str; 11] = [
    "grid_group",
    "thread_block",
    "thread_group",
    "thread_block_tile",
    "coalesced_group",
    "this_grid",
    "this_thread_block",
    "tiled_partition",
    "coalesced_threads",
    "thread_rank",
    "sync",
];

/// What can be written in place of a name.
fn equivalent(name: &str) -> Option<&'static str> {
    Some(match name {
        "reduce" => "a loop over shfl_down() or shfl_xor() of the tile does the same",
        "inclusive_scan" | "exclusive_scan" => "a loop over shfl_up() of the tile does the same",
        _ => return None,
    })
}

impl Parser {
    /// Refuses the name of a library that is next.
    pub(super) fn check_library(&self) -> Result<(), Diagnostic> {
        let start = usize::from(self.is("::"));
        let root = self.ahead(start).text.clone();
        if !self.ahead(start + 1).is("::") || self.is_template(&format!("own {root}")) {
            return Ok(());
        }
        let name = self.ahead(start + 2).text.clone();
        let groups = self.is_template(&format!("groups {root}"));
        let refused = match &*root {
            root if self.is_cuda(root) => &*name != "std",
            "cub" => true,
            "thrust" => !matches!(&*name, "min" | "max"),
            "cg" | "cooperative_groups" => !GROUPS.contains(&&*name),
            _ => groups && !GROUPS.contains(&&*name),
        };
        if !refused {
            return Ok(());
        }
        let error = self.ahead(start).pos.outside(format!("`{root}::{name}`"));
        let help = equivalent(&name).filter(|_| &*root != "thrust");
        Err(help.map_or(error.clone(), |help| error.with_help(help)))
    }
}

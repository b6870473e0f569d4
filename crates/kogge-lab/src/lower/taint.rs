//! Which additions are the scan's work, in a source that names no operator.
//!
//! A value stems from data if it was loaded from an array, or computed or
//! copied from one that was. Whether a variable holds data is known only when
//! all of the kernel is compiled (a loop assigns it further down), so
//! applications are noted as candidates and decided at the end.

/// What a value stems from: data itself, or whatever these variables hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Taint {
    pub data: bool,
    pub variables: Vec<u32>,
}

impl Taint {
    pub(super) fn data() -> Self {
        Self { data: true, variables: Vec::new() }
    }

    pub(super) fn variable(id: u32) -> Self {
        Self { data: false, variables: vec![id] }
    }

    pub(super) fn join(mut self, other: &Self) -> Self {
        self.data |= other.data;
        for v in &other.variables {
            // Long expressions mention few variables; past that, precision
            // is of less use than bounded time.
            if !self.variables.contains(v) && self.variables.len() < 64 {
                self.variables.push(*v);
            }
        }
        self
    }
}

#[derive(Debug, Default)]
pub(super) struct Taints {
    /// By variable: what was assigned to it.
    assigned: Vec<Taint>,
    /// Instruction and its two operands.
    candidates: Vec<(usize, Taint, Taint)>,
}

impl Taints {
    pub(super) fn new_variable(&mut self) -> u32 {
        self.assigned.push(Taint::default());
        (self.assigned.len() - 1) as u32
    }

    pub(super) fn assign(&mut self, variable: u32, taint: &Taint) {
        if let Some(t) = self.assigned.get_mut(variable as usize) {
            let known = std::mem::take(t);
            *t = known.join(taint);
        }
    }

    pub(super) fn candidate(&mut self, instruction: usize, a: &Taint, b: &Taint) {
        self.candidates.push((instruction, a.clone(), b.clone()));
    }

    /// Candidates so far, to forget later ones with [`Taints::rewind`].
    pub(super) fn mark(&self) -> usize {
        self.candidates.len()
    }

    pub(super) fn rewind(&mut self, mark: usize) {
        self.candidates.truncate(mark);
    }

    /// Candidates that are no applications after all.
    pub(super) fn rejected(mut self) -> Vec<usize> {
        let data: Vec<usize> =
            (0..self.assigned.len()).filter(|&v| self.assigned[v].data).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.assigned.len()];
        for (v, t) in self.assigned.iter().enumerate() {
            for &from in &t.variables {
                users[from as usize].push(v);
            }
        }
        let mut queue = data;
        while let Some(v) = queue.pop() {
            for &user in &users[v] {
                if !self.assigned[user].data {
                    self.assigned[user].data = true;
                    queue.push(user);
                }
            }
        }
        let is_data =
            |t: &Taint| t.data || t.variables.iter().any(|&v| self.assigned[v as usize].data);
        let rejected = self.candidates.iter().filter(|(_, a, b)| !(is_data(a) && is_data(b)));
        rejected.map(|c| c.0).collect()
    }
}

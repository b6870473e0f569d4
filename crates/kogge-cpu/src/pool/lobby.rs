//! Guests stay for a moment when they are done, awake, as the next call often follows at once: to
//! wake a thread takes about as long as to scan what fits in its L2.
//!
//! A guest that stays is a job of the pool. It does what else the pool has to do, and then leaves,
//! unless that was an invitation; as it does when nobody has invited it for [`tuning::linger`], or
//! when it has been there for [`tuning::STAY`]. A caller hands its invitation over without the
//! pool, which would wake another thread besides.
//!
//! A thread that waits in a `join` of its own, and takes the invitation meanwhile, goes on by
//! [`tuning::STAY`] later at most, and the task that it is at then.

use super::guests::House;
use crate::{Cpu, tuning};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a guest looks for an invitation between two looks at what else the pool has to do:
/// half a microsecond.
const LOOKS: usize = 64;

/// Where guests of the global pool are between two calls.
static LOBBY: Lobby = Lobby::new();

thread_local! {
    /// Whether this thread lingers, perhaps in the midst of another job.
    static LINGERS: Cell<bool> = const { Cell::new(false) };
    /// Whether it found an invitation among the pool's jobs meanwhile.
    static FOUND: Cell<bool> = const { Cell::new(false) };
}

/// Invites so many guests at most; says how many were there.
pub(super) fn invite(house: &Arc<House>, guests: usize) -> usize {
    LOBBY.invite(house, guests)
}

/// What a thread of the pool does with an invitation.
pub(super) fn visit(house: Arc<House>) {
    // Miri sees guests that linger, whatever CPU it says that it is.
    let cpu = if cfg!(miri) { Cpu::Mesh } else { Cpu::detect() };
    LOBBY.visit(house, Patience { idle: tuning::linger(cpu), all: tuning::STAY });
}

/// How long a guest stays.
#[derive(Clone, Copy)]
struct Patience {
    /// While nobody invites it.
    idle: Duration,
    /// In all: after that it takes no invitation any more.
    all: Duration,
}

/// Guests that wait, and their invitations.
struct Lobby {
    /// Invitations that nobody has taken; a hint for who doesn't hold the lock.
    posted: AtomicUsize,
    inside: Mutex<Inside>,
}

struct Inside {
    /// Guests that wait; each takes an invitation when it leaves, if there is one.
    guests: usize,
    /// As many at most.
    invitations: Vec<Arc<House>>,
}

impl Lobby {
    const fn new() -> Self {
        let inside = Inside { guests: 0, invitations: Vec::new() };
        Self { posted: AtomicUsize::new(0), inside: Mutex::new(inside) }
    }

    fn invite(&self, house: &Arc<House>, guests: usize) -> usize {
        let mut inside = self.lock();
        let there = guests.min(inside.guests - inside.invitations.len());
        inside.invitations.extend((0..there).map(|_| Arc::clone(house)));
        self.posted.store(inside.invitations.len(), Ordering::Relaxed);
        there
    }

    /// Visits a house and lingers for so long, unless this thread lingers already, in the midst of
    /// which it found the invitation among the pool's jobs, or is the pool's only one.
    fn visit(&self, house: Arc<House>, patience: Patience) {
        if patience.idle.is_zero() || rayon::current_num_threads() < 2 || LINGERS.replace(true) {
            FOUND.set(true);
            house.visit(|| ());
            return;
        }
        self.linger(house, patience);
        LINGERS.set(false);
    }

    /// Visits a house, and others from then on, until there is something else to do or its patience
    /// ends, or there is no room for it.
    fn linger(&self, house: Arc<House>, patience: Patience) {
        let mut now = Instant::now();
        let (mut next, last) = (Some(house), now + patience.all);
        while let Some(house) = next {
            if now >= last {
                house.visit(|| ());
                return;
            }
            // In the lobby before it leaves the house: there the host's next call finds it.
            if !house.visit(|| self.enter()) {
                return;
            }
            drop(house);
            now = self.wait(Instant::now(), last, patience.idle);
            next = self.leave();
        }
    }

    /// Waits until there is an invitation or something else to do, for so long at most since it
    /// came or was somebody's guest, and until `last`. Says what time it is.
    fn wait(&self, mut now: Instant, last: Instant, idle: Duration) -> Instant {
        let mut end = last.min(now + idle);
        while self.posted.load(Ordering::Relaxed) == 0 && now < end {
            FOUND.set(false);
            match rayon::yield_now() {
                Some(rayon::Yield::Idle) => {
                    self.look_out();
                    thread::yield_now();
                    now = Instant::now();
                }
                Some(rayon::Yield::Executed) if FOUND.get() => {
                    now = Instant::now();
                    end = last.min(now + idle);
                }
                _ => break,
            }
        }
        now
    }

    /// Looks for an invitation some times: the pool takes longer to look at.
    fn look_out(&self) {
        for _ in 0..LOOKS {
            if self.posted.load(Ordering::Relaxed) > 0 {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// A guest comes, to wait.
    fn enter(&self) {
        self.lock().guests += 1;
    }

    /// A guest goes: to whom it is invited, or for good.
    fn leave(&self) -> Option<Arc<House>> {
        let mut inside = self.lock();
        inside.guests -= 1;
        let house = inside.invitations.pop();
        self.posted.store(inside.invitations.len(), Ordering::Relaxed);
        house
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPool;
    use std::sync::mpsc::channel;

    /// Longer than any test.
    const FOREVER: Patience =
        Patience { idle: Duration::from_secs(3600), all: Duration::from_secs(3600) };
    /// Nothing here takes as long, unless it never ends.
    const LONG: Duration = Duration::from_secs(60);

    fn pool(threads: usize) -> ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    fn lobby() -> &'static Lobby {
        Box::leak(Box::new(Lobby::new()))
    }

    fn nothing() -> Arc<House> {
        // SAFETY: the task is a constant.
        Arc::new(unsafe { House::of(&|| (), 1) })
    }

    /// Has the pool's next free thread visit, and waits until it lingers.
    fn lingers(lobby: &'static Lobby, pool: &ThreadPool) {
        pool.spawn(|| lobby.linger(nothing(), FOREVER));
        while lobby.lock().guests == 0 {
            thread::yield_now();
        }
    }

    #[test]
    fn who_lingers_does_the_work_of_the_pool_and_goes() {
        let (lobby, pool) = (lobby(), pool(1));
        lingers(lobby, &pool);
        let (send, receive) = channel();
        pool.spawn(move || send.send(()).unwrap());
        receive.recv_timeout(LONG).expect("the pool's only thread does it");
        let start = Instant::now();
        while lobby.lock().guests > 0 {
            assert!(start.elapsed() < LONG, "it doesn't go");
            thread::yield_now();
        }
    }

    /// As one more is asked than may come.
    #[test]
    fn who_finds_an_invitation_among_the_work_of_the_pool_lingers_on() {
        let (lobby, pool) = (lobby(), pool(1));
        pool.spawn(|| LINGERS.set(true));
        lingers(lobby, &pool);
        let (send, receive) = channel();
        pool.spawn(move || {
            lobby.visit(nothing(), FOREVER);
            send.send(()).unwrap();
        });
        receive.recv_timeout(LONG).expect("it does it");
        thread::sleep(Duration::from_millis(20));
        assert_eq!(lobby.lock().guests, 1);
        // Lets it go, and the pool with it.
        pool.spawn(|| ());
    }

    #[test]
    fn nobody_lingers_for_longer_than_it_should() {
        let (lobby, pool, idle) = (lobby(), pool(2), Duration::from_millis(5));
        for patience in [Patience { idle, ..FOREVER }, Patience { all: idle, ..FOREVER }] {
            let (send, receive) = channel();
            pool.spawn(move || {
                let start = Instant::now();
                lobby.visit(nothing(), patience);
                send.send(start.elapsed()).unwrap();
            });
            let took = receive.recv_timeout(LONG).expect("an end");
            assert!(took >= idle, "it lingers");
            assert_eq!(lobby.lock().guests, 0);
        }
    }

    /// Its thread may have a `join` to go on with.
    #[test]
    fn who_is_invited_again_and_again_goes_in_the_end() {
        let (lobby, pool, all) = (lobby(), pool(2), Duration::from_millis(5));
        let (send, receive) = channel();
        pool.spawn(move || {
            lobby.visit(nothing(), Patience { all, ..FOREVER });
            send.send(()).unwrap();
        });
        let start = Instant::now();
        while receive.try_recv().is_err() {
            assert!(start.elapsed() < LONG, "it stays as long as it is invited");
            lobby.invite(&nothing(), 1);
            thread::yield_now();
        }
        assert_eq!(lobby.lock().guests, 0);
        assert_eq!(lobby.lock().invitations.len(), 0);
    }

    #[test]
    fn who_lingers_comes_when_it_is_invited_and_lingers_again() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let (lobby, pool) = (lobby(), pool(1));
        lingers(lobby, &pool);
        for calls in 1..10 {
            // SAFETY: the task is a constant.
            let house =
                Arc::new(unsafe { House::of(&|| _ = CALLS.fetch_add(1, Ordering::Relaxed), 3) });
            let start = Instant::now();
            // None is there while the one before has it.
            while lobby.invite(&house, 3) == 0 {
                assert!(start.elapsed() < LONG, "it isn't there");
                thread::yield_now();
            }
            while CALLS.load(Ordering::Relaxed) < calls {
                assert!(start.elapsed() < LONG, "it doesn't come");
                thread::yield_now();
            }
        }
        // Lets it go, and the pool with it.
        pool.spawn(|| ());
    }

    #[test]
    fn a_pools_only_thread_and_one_that_lingers_do_not_linger() {
        let lobby = lobby();
        let (send, receive) = channel();
        let (alone, two) = (pool(1), pool(2));
        let alone_send = send.clone();
        alone.spawn(move || {
            lobby.visit(nothing(), FOREVER);
            alone_send.send(()).unwrap();
        });
        receive.recv_timeout(LONG).expect("the only thread goes at once");
        two.spawn(move || {
            LINGERS.set(true);
            lobby.visit(nothing(), FOREVER);
            LINGERS.set(false);
            send.send(()).unwrap();
        });
        receive.recv_timeout(LONG).expect("who lingers goes on with it");
    }
}

//! Team members: sets of processing elements with their own numbers.
//!
//! A team is a number that the program holds as a pointer: 0 is no team, 1 all processing elements,
//! 2 the elements with memory that the caller reaches by addresses, which is the caller alone.

use super::active::Set;
use super::{check_running, shmem};
use std::ffi::c_int;

/// The team with all elements.
pub const WORLD: usize = 1;

/// The team with memory that the caller reaches by addresses.
pub const SHARED: usize = 2;

/// `shmem_team_config_t`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Config {
    contexts: c_int,
}

/// A team that the program has made.
#[derive(Clone)]
pub struct Team {
    pub members: Vec<u32>,
    pub config: Config,
}

/// The teams that the program has made, from the number after [`SHARED`] on; `None` where one has
/// been destroyed.
#[derive(Default)]
pub struct Teams(Vec<Option<Team>>);

impl Teams {
    pub const EMPTY: Teams = Teams(Vec::new());

    /// The team with a number.
    pub fn find(&self, team: usize) -> Option<Team> {
        let members = match team {
            0 => return None,
            WORLD => (0..native::ranks()).collect(),
            SHARED => vec![native::rank()],
            _ => return self.0.get(team - SHARED - 1).cloned().flatten(),
        };
        Some(Team {
            members,
            config: Config::default(),
        })
    }

    /// Keeps a team and returns its number.
    pub fn add(&mut self, team: Team) -> usize {
        let free = self.0.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[place] = Some(team);
        place + SHARED + 1
    }

    /// Forgets a team.
    pub fn remove(&mut self, team: usize) {
        if let Some(place) = team.checked_sub(SHARED + 1)
            && let Some(place) = self.0.get_mut(place)
        {
            *place = None;
        }
    }
}

/// A team's members.
pub fn members(team: usize) -> Option<Vec<u32>> {
    shmem().teams.find(team).map(|team| team.members)
}

/// A team's members as a set, for a call by all members.
pub fn set(team: usize) -> Option<Set> {
    check_running();
    Some(Set::of(members(team)?, format_args!("the team")))
}

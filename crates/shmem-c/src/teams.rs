//! OpenSHMEM 1.5's teams.
//!
//! All members in a parent team make a new one by the same call; each computes the new members, so
//! that they need not communicate. Teams with the same members share an Elanlib group.

use super::members::{Config, SHARED, Team, members, set};
use super::{Shmem, collectives, contexts, setup, shmem};
use derive::call;
use std::ffi::{c_int, c_long};

/// A failed call's result.
const FAILED: c_int = -1;

/// The mask bit for a configuration's context count.
const NUMBER_OF_CONTEXTS: c_long = 1;

/// A processing element count as a C number.
fn number(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or(FAILED)
}

/// A processing element's place in a team, or -1.
fn place(members: &[u32], pe: u32) -> c_int {
    let place = members.iter().position(|&member| member == pe);
    place.map_or(FAILED, number)
}

/// Reads a program's configuration for a team.
fn wanted(config: *const Config, mask: c_long) -> Config {
    if config.is_null() || mask & NUMBER_OF_CONTEXTS == 0 {
        return Config::default();
    }
    // SAFETY: the program's configuration.
    unsafe { config.read() }
}

/// Makes a team from some members for the callers among them; 0 for others.
fn make(members: Vec<u32>, config: Config) -> usize {
    let me = native::rank();
    if members.contains(&me) {
        shmem().teams.add(Team { members, config })
    } else {
        0
    }
}

/// A parent team's members from a place on, a stride apart; `None` if the parent has no such
/// members.
fn strided(parent: &[u32], start: c_int, stride: c_int, size: c_int) -> Option<Vec<u32>> {
    if size < 1 || stride == 0 && size > 1 {
        return None;
    }
    let member = |index: c_int| {
        let place = i64::from(start) + i64::from(index) * i64::from(stride);
        parent.get(usize::try_from(place).ok()?).copied()
    };
    (0..size).map(member).collect()
}

/// Makes the row and column teams of a parent team, laid out in rows with a given length; returns
/// the caller's two.
fn rows_and_columns(parent: &[u32], row: usize, configs: [Config; 2]) -> [usize; 2] {
    let me = native::rank();
    let place = parent.iter().position(|&member| member == me).unwrap_or(0);
    let of = |belongs: &dyn Fn(usize) -> bool| {
        let all = parent.iter().enumerate();
        all.filter(|&(place, _)| belongs(place))
            .map(|(_, &pe)| pe)
            .collect()
    };
    let [rows, columns] = configs;
    [
        make(of(&|other| other / row == place / row), rows),
        make(of(&|other| other % row == place % row), columns),
    ]
}

impl Shmem {
    /// The team with a number has no contexts and no calls any more.
    fn destroy_team(&mut self, team: usize) {
        self.teams.remove(team);
    }
}

#[call]
extern "C" fn shmem_team_split_strided(
    parent: usize,
    start: c_int,
    stride: c_int,
    size: c_int,
    config: *const Config,
    mask: c_long,
    new: *mut usize,
) -> c_int {
    let members = members(parent).and_then(|parent| strided(&parent, start, stride, size));
    let team = members
        .clone()
        .map_or(0, |members| make(members, wanted(config, mask)));
    setup::tell(new, team);
    if members.is_some() { 0 } else { FAILED }
}

#[call]
extern "C" fn shmem_team_split_2d(
    parent: usize,
    row: c_int,
    row_config: *const Config,
    row_mask: c_long,
    row_team: *mut usize,
    column_config: *const Config,
    column_mask: c_long,
    column_team: *mut usize,
) -> c_int {
    let length = usize::try_from(row).ok().filter(|&row| row > 0);
    let (Some(parent), Some(length)) = (members(parent), length) else {
        setup::tell(row_team, 0);
        setup::tell(column_team, 0);
        return FAILED;
    };
    let configs = [
        wanted(row_config, row_mask),
        wanted(column_config, column_mask),
    ];
    let [rows, columns] = rows_and_columns(&parent, length, configs);
    setup::tell(row_team, rows);
    setup::tell(column_team, columns);
    0
}

#[call]
extern "C" fn shmem_team_destroy(team: usize) {
    if let Some(set) = set(team)
        && team > SHARED
    {
        contexts::destroy_those_of(team);
        collectives::sync(&set);
        shmem().destroy_team(team);
    }
}

#[call]
extern "C" fn shmem_team_sync(team: usize) -> c_int {
    set(team).map_or(FAILED, |set| {
        collectives::sync(&set);
        0
    })
}

#[call]
extern "C" fn shmem_team_create_ctx(team: usize, _options: c_long, context: *mut usize) -> c_int {
    let new = members(team).map(|_| contexts::create(team));
    setup::tell(context, new.unwrap_or(0));
    if new.is_some() { 0 } else { FAILED }
}

#[call]
extern "C" fn shmem_ctx_get_team(context: usize, team: *mut usize) -> c_int {
    let found = contexts::team_of(context);
    setup::tell(team, found.unwrap_or(0));
    if found.is_some() { 0 } else { FAILED }
}

#[unsafe(no_mangle)]
extern "C" fn shmem_team_my_pe(team: usize) -> c_int {
    members(team).map_or(FAILED, |members| place(&members, native::rank()))
}

#[unsafe(no_mangle)]
extern "C" fn shmem_team_n_pes(team: usize) -> c_int {
    members(team).map_or(FAILED, |members| number(members.len()))
}

#[unsafe(no_mangle)]
extern "C" fn shmem_team_translate_pe(from: usize, pe: c_int, to: usize) -> c_int {
    let (Some(from), Some(to)) = (members(from), members(to)) else {
        return FAILED;
    };
    let pe = usize::try_from(pe).ok().and_then(|pe| from.get(pe));
    pe.map_or(FAILED, |&pe| place(&to, pe))
}

#[unsafe(no_mangle)]
extern "C" fn shmem_team_get_config(team: usize, mask: c_long, config: *mut Config) -> c_int {
    let Some(team) = shmem().teams.find(team) else {
        return FAILED;
    };
    if mask & NUMBER_OF_CONTEXTS != 0 {
        setup::tell(config, team.config);
    }
    0
}

//! A network's wiring as a table: every link, with its ends.

use fabric::topology::End;
use fabric::{LinkId, SwitchId, Wiring};

/// A network link, with or without traffic.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[digest()]
pub struct WiringRow {
    /// The link's number.
    pub link: u32,
    /// The name of its start.
    pub from: String,
    /// The name of its end.
    pub to: String,
    /// Whether it leads up.
    pub up: bool,
    /// Its level.
    pub link_level: u32,
    /// Its way in words.
    pub way: String,
    /// The level of its source switch; missing if it leaves a node.
    pub level: Option<u32>,
    /// The number of that switch.
    pub switch: Option<u32>,
    /// The level of its destination switch; missing if it enters a node.
    pub enters_level: Option<u32>,
    /// The number of that switch.
    pub enters: Option<u32>,
}

/// Every link in a network.
pub fn rows(network: &dyn Wiring) -> Vec<WiringRow> {
    let switch = |end| match end {
        End::Switch { switch, .. } => Some(switch),
        End::Node(_) => None,
    };
    let level = |end| switch(end).map(|switch| network.switch_level(switch) as u32);
    let number = |end| switch(end).map(SwitchId::get);
    let row = |link| {
        let (start, end) = network.ends(link);
        WiringRow {
            link: link.get(),
            from: network.end_name(start),
            to: network.end_name(end),
            up: network.is_up(link),
            link_level: network.link_level(link) as u32,
            way: network.way(link),
            level: level(start),
            switch: number(start),
            enters_level: level(end),
            enters: number(end),
        }
    };
    LinkId::all(network.links()).map(row).collect()
}

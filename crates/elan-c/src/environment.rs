//! Users' settings: variables with names that begin with `LIBELAN_`. They fill fields in
//! `ELAN_BASE`, which programs hand to other calls. The machine file defines how the simulated
//! library behaves: no variable changes that, except that `LIBELAN_GROUP_HWBCAST=0` makes group
//! calls by hardware use software.
//!
//! Values that programs only pass on have assumed defaults; there is no published source.

use std::str::FromStr;

/// A Tport's slots.
pub const NSLOTS: i32 = 128;
/// Messages up to this length go immediately; the others are fetched by the receiver. The machine
/// file actually decides.
pub const SMALL_MESSAGE: usize = 64 * 1024;
/// Longer messages are cut, as programs see here.
pub const BIG_MESSAGE: usize = 128 * 1024;
/// Longer ones are striped over the rails.
pub const STRIPE: usize = 64 * 1024;
/// A process's and a group's heaps.
pub const ALLOC: usize = 256 << 20;
pub const ALLOC_ELAN: usize = 16 << 20;
pub const GALLOC: usize = 1 << 30;
pub const GALLOC_ELAN: usize = 64 << 20;

/// A variable's value, if it is set; invalid values do not count. A number may end with K, M or G,
/// for powers of 1,024.
pub fn number<T: FromStr + TryFrom<u64>>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return T::try_from(u64::from_str_radix(hexadecimal, 16).ok()?).ok();
    }
    let shift = match text.chars().last()?.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        _ => return None,
    };
    let number: u64 = text[..text.len() - 1].parse().ok()?;
    T::try_from(number.checked_shl(shift)?).ok()
}

/// How calls wait: the names of the two ways, or a poll count.
pub fn wait_type() -> i64 {
    match std::env::var("LIBELAN_WAITTYPE").as_deref() {
        Ok("WAIT" | "wait") => 0,
        Ok(text) => text.parse().unwrap_or(-1),
        Err(_) => -1,
    }
}

/// A variable that switches something off.
pub fn is_off(name: &str) -> bool {
    number::<u64>(name) == Some(0)
}

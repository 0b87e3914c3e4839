//! Named entries of programs.

use kernel::registry::Registry;

#[test]
fn an_entry_is_found_by_its_name_and_a_later_one_takes_its_place() {
    let entries = Registry::new();
    entries.add("second", 2);
    entries.add("first", 1);
    assert_eq!(
        (entries.get("first"), entries.get("second")),
        (Ok(1), Ok(2))
    );
    assert_eq!(entries.get("third"), Err(vec!["first", "second"]));
    entries.add("first", 3);
    assert_eq!(entries.get("first"), Ok(3));
}

use super::{canonical, routes_mistake};

const RING: &str = "switch a\nswitch b\nswitch c\nnode n\nnode m\nn a\nm b\na b\nb c\nc a\n";

#[test]
fn mistakes_have_lines() {
    for (text, line, message) in [
        ("a b b\nb a a # there and back\n", None, ""),
        ("a, m, b c\nc b b\nb n a\n", None, ""),
        (
            "a b\n",
            Some(1),
            "2 words are no entry of a table: write a switch, a destination, and one or more next \
            switches",
        ),
        (
            "# tables\n\na b b\nb a d\n",
            Some(4),
            "the entry of `b` for `a` names `d`, which is no node and no switch of the graph: \
            correct the name, or add it to the graph",
        ),
        (
            "a b b\nn a a\n",
            Some(2),
            "the entry of `n` for `a` names the node `n`, which forwards no packets: name a switch",
        ),
        (
            "a b c\nc b a\nb a a\n",
            Some(1),
            "packets to switch b return to switch a, by switch a -> switch c -> switch a: let one \
            of these entries lead nearer",
        ),
        (
            "a b c\nb a a\n",
            None,
            "switch c has no entry for switch b, and packets from switch a come there: add a line \
            with switch c, switch b and the next switches",
        ),
        (
            "a m b\nb a a\na m c\n",
            Some(3),
            "switch a has another entry for node m: list all neighbours in one line",
        ),
        (
            "a c b\n",
            Some(1),
            "switch c has no nodes, and so is no destination: remove the line",
        ),
    ] {
        let found = routes_mistake(RING, None, text);
        let found = found.map(|mistake| (mistake.line, mistake.message));
        let expected = (!message.is_empty()).then(|| (line, message.to_string()));
        assert_eq!(found, expected, "{text}");
    }
    // A mistake in the graph is not one in the tables.
    assert_eq!(routes_mistake("a a\n", Some(1), "a b c\n"), None);
    assert_eq!(routes_mistake("a b\n", Some(1), "a b b\nb a a\n"), None);
}

#[test]
fn comments_and_blanks_decide_nothing() {
    let text = "# tables\na,b  c,\td # there\n\nb a a\n";
    assert_eq!(canonical(text), "a b c d\nb a a\n");
    assert_eq!(canonical(&canonical(text)), canonical(text));
}

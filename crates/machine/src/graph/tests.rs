use super::{Graph, GraphMistake, Words, cables, graph_mistake};
use units::{Rate, Time};

const TREE: &str = "# two leaves\nswitch top\nswitch a\nswitch b\nnode n0 # at a\nnode n1\n\
    node n2\n\nn0, a\n\
    b n1\nn2 b\ntop,a\ntop a\n  b\ttop\n";

#[test]
fn nodes_switches_and_cables() {
    let graph = Graph::read(TREE).expect("it is right");
    assert_eq!(graph.plan.switches, ["top", "a", "b"]);
    assert_eq!(graph.plan.seats, [1, 2, 2]);
    assert_eq!(graph.plan.cables, [(0, 1), (0, 1), (2, 0)]);
    let again = Graph::read(&graph.canonical()).expect("it is right");
    assert_eq!(again, graph);
    assert_eq!(again.canonical(), graph.canonical());
    let plan = graph.plan(None, &["top".into()]).expect("it is right");
    assert_eq!(plan.roots, [0]);
    assert_eq!(graph_mistake(TREE), None);
}

#[test]
fn cables_have_words() {
    let text = "switch a\nswitch b\nnode n\nn a rate=20Gb/s\na b delay=800ns, rate=2.5Gb/s\nb a\n";
    let graph = Graph::read(text).expect("it is right");
    let seat = Words {
        rate: Some(Rate::from_mb_per_second(2500)),
        delay: None,
    };
    let cable = Words {
        rate: Some(Rate::from_bytes_per_second(312_500_000)),
        delay: Some(Time::from_ns(800)),
    };
    assert_eq!(graph.seat_words, [seat]);
    assert_eq!(graph.cable_words, [cable, Words::default()]);
    let canonical = graph.canonical();
    assert_eq!(Graph::read(&canonical), Ok(graph));
    let lines: Vec<(usize, usize)> = cables(text)
        .iter()
        .map(|&(line, level, _)| (line, level))
        .collect();
    assert_eq!(lines, [(4, 0), (5, 1), (6, 1)]);
}

/// Accelerators that are joined to each other, and a host with two cables that forwards.
#[test]
fn nodes_that_forward_have_switches() {
    let text = "switch s\nnode h forward=yes\nnode a\nnode b\nnode c\na b rate=50GB/s\nb h\nh s\n\
        s h\n\
        c s\n";
    let graph = Graph::read(text).expect("it is right");
    assert_eq!(graph.plan.switches, ["s", "h", "a", "b"]);
    assert_eq!(graph.plan.seats, [1, 2, 3, 0]);
    assert_eq!(graph.plan.cables, [(2, 3), (3, 1), (1, 0), (0, 1)]);
    assert_eq!((graph.own(0), graph.own(3)), (Some(1), None));
    let canonical = graph.canonical();
    assert!(canonical.starts_with("switch s\nnode h forward=yes\nnode a forward=yes\n"));
    assert_eq!(Graph::read(&canonical), Ok(graph));
    assert_eq!(graph_mistake(text), None);
    let levels: Vec<usize> = cables(text).iter().map(|&(_, level, _)| level).collect();
    assert_eq!(levels, [1, 1, 1, 1, 0]);
}

#[test]
fn plain_edges() {
    let graph = Graph::read("3 1\n1 7\n7 3\n").expect("it is right");
    assert_eq!(graph.plan.switches, ["3", "1", "7"]);
    assert_eq!(Graph::read(&graph.canonical()), Ok(graph.clone()));
    let key = |plan: Result<_, fabric::TopologyError>| plan.map(|_| ()).expect_err("no plan").key;
    assert_eq!(key(graph.clone().plan(None, &[])), "kind");
    assert_eq!(key(graph.clone().plan(Some(2), &["9".into()])), "roots.0");
    let plan = graph.plan(Some(2), &["7".into()]).expect("it is right");
    assert_eq!((plan.seats, plan.roots), (vec![0, 0, 1, 1, 2, 2], vec![2]));
    let own = Graph::read(TREE).expect("it is right");
    assert_eq!(key(own.plan(Some(1), &[])), "terminals");
}

#[test]
fn mistakes_have_lines() {
    for (text, line, message) in [
        (
            "switch a\nnode n\nn a\nn2 a\n",
            Some(4),
            "there is no node and no switch `n2`: a line `switch n2` or `node n2` is missing, or \
            the name is misspelt",
        ),
        ("a b\n\nb b\n", Some(3), "a cable joins `b` to itself"),
        (
            "switch a\nswitch b\nnode n\na b\nn a\nn b\n",
            Some(6),
            "node `n` has several cables, another one in line 5: a node has one, or passes on \
            packets of others: `node n forward=yes`",
        ),
        (
            "switch a\nnode n\nnode m\nn a\n",
            Some(3),
            "node `m` has no cable",
        ),
        (
            "switch a\nnode n forward=yse\nn a\n",
            Some(2),
            "`forward=yse` says nothing of a node: write forward=yes or forward=no behind its name",
        ),
        (
            "switch a\nswitch a\n",
            Some(2),
            "the name `a` is taken: line 1 has it",
        ),
        (
            "node a\nswitch a\n",
            Some(2),
            "the name `a` is taken: line 1 has it",
        ),
        (
            "a b c\n",
            Some(1),
            "3 words are no line of a graph: write `switch NAME`, `node NAME`, or the two ends of \
            a cable",
        ),
        (
            "a b rat=25Gb/s\n",
            Some(1),
            "`rat=25Gb/s` says nothing of a cable: write rate=25Gb/s or delay=800ns behind its two \
            ends, without blanks",
        ),
        (
            "a b\nb c delay=1us delay=2us\n",
            Some(2),
            "`delay=2us` comes twice",
        ),
        (
            "a\n",
            Some(1),
            "1 words are no line of a graph: write `switch NAME`, `node NAME`, or the two ends of \
            a cable",
        ),
        (
            "a b\nc d\n",
            None,
            "the graph is in several parts: no way leads from switch a to switch c",
        ),
        ("# nothing\n", None, "the graph has 0 switches"),
    ] {
        let message = message.to_string();
        assert_eq!(
            graph_mistake(text),
            Some(GraphMistake { line, message }),
            "{text}"
        );
    }
    let wide: Vec<_> = (0..1025).map(|n| format!("hub leaf{n}")).collect();
    let wide = wide.join("\n");
    let message = "switch hub has 1026 ports".to_string();
    assert_eq!(
        graph_mistake(&wide),
        Some(GraphMistake {
            line: None,
            message
        })
    );
}

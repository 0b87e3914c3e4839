use super::{Graph, GraphMistake, graph_mistake};

const TREE: &str = "# two leaves\nswitch top\nswitch a\nswitch b\nnode n0 # at a\nnode n1\nnode n2\n\nn0, a\nb n1\nn2 b\ntop,a\ntop a\n  b\ttop\n";

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
            "there is no node and no switch `n2`: a line `switch n2` or `node n2` is missing, or the name is misspelt",
        ),
        ("a b\n\nb b\n", Some(3), "a cable joins `b` to itself"),
        (
            "switch a\nswitch b\nnode n\na b\nn a\nn b\n",
            Some(6),
            "node `n` has several cables, another one in line 5: a node has one",
        ),
        (
            "switch a\nnode n\nnode m\nn a\n",
            Some(3),
            "node `m` has no cable",
        ),
        (
            "switch a\nnode n\nnode m\nn m\n",
            Some(4),
            "a cable joins the nodes `n` and `m`: a node is joined to a switch",
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
            "3 words are no line of a graph: write `switch NAME`, `node NAME`, or the two ends of a cable",
        ),
        (
            "a\n",
            Some(1),
            "1 words are no line of a graph: write `switch NAME`, `node NAME`, or the two ends of a cable",
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

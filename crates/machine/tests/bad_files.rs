//! Wrong machine files and their error messages.
//!
//! Each case is `good.toml` with one mistake, recorded as the replaced text and its replacement;
//! the message is in `bad/NAME.snap`. Cases with several rails have the section from `rails.toml`
//! at their end.

use config::Problems;
use machine::Machine;

const GOOD: &str = include_str!("good.toml");
const RAILS: &str = include_str!("rails.toml");

/// Name, text in `good.toml`, replacement.
#[rustfmt::skip]
const MISTAKES: &[(&str, &str, &str)] = &[
    // The file.
    ("syntax_string", r#"title = "A good machine""#, r#"title = "A good machine"#),
    ("syntax_bracket", "[switch]", "[switch"),
    ("syntax_bare_quantity", r#"value = "55 ns""#, "value = 55 ns"),
    ("empty_file", GOOD, "\n"),
    ("duplicate_key", "[packet]", "tokens = { value = false, source = \"test\" }\n\n[packet]"),
    ("duplicate_section", "[packet]", "[switch]"),
    // Keys and sections.
    ("unknown_key", "hop_delay =", "hop_dealy ="),
    ("unknown_key_far", "hop_delay =", "wire ="),
    ("unknown_key_of_parameter", r#"fitted_to = ["some.claim"]"#, r#"fited_to = ["some.claim"]"#),
    ("unknown_section", "[link]", "[links]"),
    ("missing_key", "channels = { value = 2, source = \"test\" }\n", ""),
    ("missing_section", "[fabric]\nengine = \"worm\"\n", ""),
    ("missing_title", "title = \"A good machine\"\n", ""),
    ("missing_source", r#"value = "400 MB/s", source = "test""#, r#"value = "400 MB/s""#),
    ("missing_value", r#"value = "400 MB/s", source"#, "source"),
    ("value_without_source", r#"{ value = "400 MB/s", source = "test" }"#, r#""400 MB/s""#),
    ("section_is_a_value", "[fabric]\nengine = \"worm\"\n", "[[fabric]]\nengine = \"worm\"\n"),
    // Types.
    ("unknown_value", "until-acknowledged", "until-acknowleged"),
    ("name_is_a_number", r#"value = "age""#, "value = 1"),
    ("engine_that_cannot", r#""oldest-first""#, r#""round-robin""#),
    ("engine_is_a_number", r#"engine = "worm""#, "engine = 1"),
    ("float_for_an_integer", "channels = { value = 2,", "channels = { value = 2.5,"),
    ("string_for_a_number", "channels = { value = 2,", "channels = { value = \"2\","),
    ("negative_number", "channels = { value = 2,", "channels = { value = -2,"),
    ("huge_number", "channels = { value = 2,", "channels = { value = 99999999999,"),
    ("enormous_number", "channels = { value = 2,", "channels = \
        { value = 99999999999999999999999999999999999999999999,"),
    ("unknown_broadcast", r#""serialised", source"#, r#""serialized", source"#),
    ("broadcast_is_a_boolean", r#"broadcast = { value = "serialised","#, "broadcast = \
        { value = true,"),
    ("combine_too_long", r#"combine = { value = "125 ns","#, r#"combine = { value = "11 s","#),
    (
        "broadcast_without_source",
        r#"broadcast = { value = "serialised", source = "test" }"#,
        r#"broadcast = "serialised""#
    ),
    ("boolean_as_text", "priorities = { value = true,", "priorities = { value = \"yes\","),
    ("boolean_as_number", "priorities = { value = true,", "priorities = { value = 1,"),
    ("number_for_a_list", "down = { value = [4, 4, 4],", "down = { value = 4,"),
    ("text_in_a_list", "down = { value = [4, 4, 4],", "down = { value = [4, \"4\", 4],"),
    ("claims_are_no_list", r#"fitted_to = ["some.claim"]"#, r#"fitted_to = "some.claim""#),
    (
        "range_without_source",
        r#"channels = { value = 2, source = "test""#,
        r#"channels = { value = 2, admissible = { low = 1, high = 2 }, source = "test""#
    ),
    ("source_is_a_number", r#""320 B", source = "test""#, r#""320 B", source = 2.2"#),
    ("source_is_blank", r#""320 B", source = "test""#, r#""320 B", source = " ""#),
    // Topologies.
    ("torus_without_dimensions", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n"),
    ("torus_with_arities", "[topology]\n", "[topology]\n\
        kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [4, 4, 4], source = \"test\" }\n"),
    ("torus_ring_of_one", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [64, 1], source = \"test\" }\n"),
    ("torus_too_small", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [4, 4], source = \"test\" }\n"),
    ("torus_path_too_long", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [200], source = \"test\" }\n"),
    ("torus_without_datelines", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [8, 8], source = \"test\" }\n\
        datelines = { value = false, source = \"test\" }\n"),
    ("mesh_with_datelines", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [4, 4, 4], source = \"test\" }\n\
        wraparound = { value = false, source = \"test\" }\n\
        datelines = { value = true, source = \"test\" }\n"),
    ("mesh_row_of_one", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"torus\", source = \"test\" }\n\
        dimensions = { value = [64, 1], source = \"test\" }\n\
        wraparound = { value = false, source = \"test\" }\n"),
    ("dragonfly_without_keys", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"dragonfly\", source = \"test\" }\n\
        terminals = { value = 2, source = \"test\" }\n"),
    ("dragonfly_uneven", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"dragonfly\", source = \"test\" }\n\
        terminals = { value = 2, source = \"test\" }\ngroup = { value = 4, source = \"test\" }\n\
        global = { value = 2, source = \"test\" }\ngroups = { value = 8, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n"),
    ("dragonfly_too_small", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"dragonfly\", source = \"test\" }\n\
        terminals = { value = 2, source = \"test\" }\ngroup = { value = 4, source = \"test\" }\n\
        global = { value = 2, source = \"test\" }\ngroups = { value = 3, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n"),
    ("dragonfly_of_two_channels", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"dragonfly\", source = \"test\" }\n\
        terminals = { value = 2, source = \"test\" }\ngroup = { value = 4, source = \"test\" }\n\
        global = { value = 2, source = \"test\" }\ngroups = { value = 9, source = \"test\" }\n\
        routing = { value = \"valiant\", source = \"test\" }\n"),
    ("dragonfly_with_dimensions", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"dragonfly\", source = \"test\" }\n\
        terminals = { value = 2, source = \"test\" }\ngroup = { value = 4, source = \"test\" }\n\
        global = { value = 2, source = \"test\" }\ngroups = { value = 9, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n\
        dimensions = { value = [4, 4], source = \"test\" }\n"),
    ("dragonfly_of_no_such_routing", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"dragonfly\", source = \"test\" }\n\
        terminals = { value = 2, source = \"test\" }\ngroup = { value = 4, source = \"test\" }\n\
        global = { value = 2, source = \"test\" }\ngroups = { value = 9, source = \"test\" }\n\
        routing = { value = \"ugal\", source = \"test\" }\n"),
    ("hyperx_row_of_one", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"hyperx\", source = \"test\" }\n\
        dimensions = { value = [4, 1], source = \"test\" }\n\
        terminals = { value = 16, source = \"test\" }\n\
        routing = { value = \"ugal-local\", source = \"test\" }\n"),
    ("hyperx_without_terminals", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"hyperx\", source = \"test\" }\n\
        dimensions = { value = [4, 4], source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n"),
    ("outside_of_no_program", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n\n[link]\n\
        flit = { value = \"2 B\", source = \"test\" }\n\
        rate = { value = \"400 MB/s\", source = \"test\" }\nhop_delay = { value = \"55 ns\"", "kind = { value = \"outside\", source = \"test\" }\n\
        name = { value = \"slim-fly\", source = \"test\" }\n\n[link]\n\
        flit = { value = \"2 B\", source = \"test\" }\n\
        rate = { value = \"400 MB/s\", source = \"test\" }\n\
        hop_delay = { value = [\"55 ns\", \"60 ns\"]"),
    (
        "tree_with_dimensions",
        "[topology]\n",
        "[topology]\ndimensions = { value = [4, 4, 4], source = \"test\" }\n"
    ),
    (
        "rail_optimised_without_adapters",
        "up = {",
        "wiring = { value = \"rail-optimised\", source = \"test\" }\nup = {"
    ),
    (
        "rail_optimised_of_no_pods",
        "up = {",
        "wiring = { value = \"rail-optimised\", source = \"test\" }\n\
        adapters = { value = 3, source = \"test\" }\nup = {",
    ),
    (
        "rail_optimised_of_half_a_pod",
        "nodes = { value = 64, source = \"test\" }\n",
        "nodes = { value = 40, source = \"test\" }\n\
        wiring = { value = \"rail-optimised\", source = \"test\" }\n\
        adapters = { value = 8, source = \"test\" }\n",
    ),
    ("graph_without_cables", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n"),
    ("graph_whose_file_was_not_read", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        file = { value = \"net.txt\", source = \"test\" }\n"),
    ("graph_with_a_loop", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\\nb b\", source = \"test\" }\n\
        terminals = { value = 32, source = \"test\" }\n"),
    ("graph_in_two_parts", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\\nc d\", source = \"test\" }\n\
        terminals = { value = 32, source = \"test\" }\n"),
    ("graph_without_nodes", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\", source = \"test\" }\n"),
    ("graph_with_nodes_twice", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"switch a\\nnode n\\nn a\", source = \"test\" }\n\
        terminals = { value = 64, source = \"test\" }\n"),
    ("graph_too_small", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\", source = \"test\" }\n\
        terminals = { value = 16, source = \"test\" }\n"),
    ("graph_without_that_root", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\", source = \"test\" }\n\
        terminals = { value = 32, source = \"test\" }\n\
        roots = { value = [\"a\", \"c\"], source = \"test\" }\n"),
    ("graph_of_too_few_layers", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\\nb c\\nc d\\nd a\", source = \"test\" }\n\
        terminals = { value = 16, source = \"test\" }\n\
        routing = { value = \"valiant\", source = \"test\" }\n"),
    ("graph_with_roots_of_shortest_ways", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\", source = \"test\" }\n\
        terminals = { value = 32, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n\
        roots = { value = [\"a\"], source = \"test\" }\n"),
    ("graph_with_tables_and_ways", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\", source = \"test\" }\n\
        terminals = { value = 32, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n\
        routes = { value = \"a b b\\nb a a\", source = \"test\" }\n"),
    ("graph_with_layers_and_classes", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"graph\", source = \"test\" }\n\
        cables = { value = \"a b\", source = \"test\" }\n\
        terminals = { value = 32, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n\
        hop_classes = { value = 2, source = \"test\" }\n"),
    ("hyperx_with_roots", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"hyperx\", source = \"test\" }\n\
        dimensions = { value = [4, 4], source = \"test\" }\n\
        terminals = { value = 4, source = \"test\" }\n\
        routing = { value = \"up-down\", source = \"test\" }\n"),
    ("slim_fly_of_no_prime", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"slim-fly\", source = \"test\" }\n\
        order = { value = 9, source = \"test\" }\nterminals = { value = 4, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n"),
    ("jellyfish_with_an_odd_end", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"jellyfish\", source = \"test\" }\n\
        switches = { value = 15, source = \"test\" }\ndegree = { value = 5, source = \"test\" }\n\
        terminals = { value = 5, source = \"test\" }\n\
        routing = { value = \"up-down\", source = \"test\" }\n"),
    ("megafly_uneven", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"megafly\", source = \"test\" }\n\
        group = { value = 4, source = \"test\" }\nglobal = { value = 2, source = \"test\" }\n\
        groups = { value = 4, source = \"test\" }\nterminals = { value = 4, source = \"test\" }\n\
        routing = { value = \"minimal\", source = \"test\" }\n"),
    ("clos_of_odd_shares", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"clos\", source = \"test\" }\n\
        radix = { value = 16, source = \"test\" }\nlevels = { value = 2, source = \"test\" }\n\
        oversubscription = { value = 2, source = \"test\" }\n"),
    ("clos_of_one_level", "down = { value = [4, 4, 4], source = \"test\" }\n\
        up = { value = [4, 4], source = \"test\" }\n", "kind = { value = \"clos\", source = \"test\" }\n\
        radix = { value = 16, source = \"test\" }\nlevels = { value = 1, source = \"test\" }\n"),
    (
        "unknown_topology",
        "[topology]\n",
        "[topology]\nkind = { value = \"tours\", source = \"test\" }\n"
    ),
    // Quantities.
    ("bare_number", r#"age_cap = { value = "70 us","#, "age_cap = { value = 70,"),
    ("bare_number_as_text", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "70","#),
    ("bare_number_one_or_list", r#"hop_delay = { value = "55 ns","#, "hop_delay = { value = 55,"),
    (
        "bare_number_in_a_list",
        r#"hop_delay = { value = "55 ns","#,
        r#"hop_delay = { value = ["55 ns", 60, "55 ns"],"#
    ),
    ("wrong_unit", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "70 MB","#),
    ("misspelt_unit", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "70 usec","#),
    ("unknown_unit", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "70 parsecs","#),
    ("no_quantity", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "long","#),
    ("negative_time", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "-70 us","#),
    ("too_fine", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "0.5 ps","#),
    (
        "huge_time",
        r#"age_cap = { value = "70 us","#,
        r#"age_cap = { value = "99999999999999999 s","#
    ),
    ("long_time", r#"age_cap = { value = "70 us","#, r#"age_cap = { value = "1000 s","#),
    // Topology.
    ("zero_links", "[4, 4, 4]", "[4, 0, 4]"),
    ("zero_links_up", "[4, 4],", "[4, 0],"),
    ("too_many_links", "[4, 4, 4]", "[4, 4, 5000]"),
    (
        "too_many_switches",
        "[4, 4, 4], source = \"test\" }\nup = { value = [4, 4],",
        "[4, 4, 4, 1], source = \"test\" }\nup = { value = [1024, 1024, 1024],"
    ),
    ("zero_nodes", "nodes = { value = 64,", "nodes = { value = 0,"),
    ("more_nodes_than_the_tree_holds", "nodes = { value = 64,", "nodes = { value = 65,"),
    ("up_too_long", "[4, 4],", "[4, 4, 4],"),
    ("parallel_too_long", "up = {", "parallel = { value = [1, 1, 2], source = \"test\" }\nup = {"),
    (
        "parallel_does_not_divide",
        "up = {",
        "parallel = { value = [1, 3], source = \"test\" }\nup = {"
    ),
    ("parallel_0", "up = {", "parallel = { value = [0, 2], source = \"test\" }\nup = {"),
    ("parallel_is_a_number", "up = {", "parallel = { value = 2, source = \"test\" }\nup = {"),
    ("parallel_without_source", "up = {", "parallel = [1, 2]\nup = {"),
    (
        "too_many_parallel_links",
        "[4, 4, 4], source = \"test\" }\n",
        "[4, 4, 600], source = \"test\" }\nparallel = { value = [1, 2], source = \"test\" }\n"
    ),
    ("down_empty", "[4, 4, 4]", "[]"),
    ("nine_levels", "[4, 4, 4]", "[2, 2, 2, 2, 2, 2, 2, 2, 2]"),
    ("too_many_positions", "[4, 4, 4]", "[64, 64, 65]"),
    // Files of programs.
    (
        "files_without_rate",
        "[tport]\n",
        "[files]\nlatency = { value = \"1 ms\", source = \"test\" }\n\n[tport]\n"
    ),
    ("files_of_no_rate", "[tport]\n", "[files]\nlatency = { value = \"1 ms\", source = \"test\" }\n\
        rate = { value = \"0 MB/s\", source = \"test\" }\n\n[tport]\n"),
    ("files_unknown_key", "[tport]\n", "[files]\n\
        latency = { value = \"1 ms\", source = \"test\" }\n\
        rate = { value = \"100 MB/s\", source = \"test\" }\n\
        bandwidth = { value = \"100 MB/s\", source = \"test\" }\n\n[tport]\n"),
    ("files_on_too_many_nodes", "[tport]\n", "[files]\n\
        latency = { value = \"1 ms\", source = \"test\" }\n\
        rate = { value = \"100 MB/s\", source = \"test\" }\n\
        total = { value = \"1 GB/s\", source = \"test\" }\n\
        servers = { value = 65, source = \"test\" }\n\n[tport]\n"),
    ("files_on_nodes_without_rate", "[tport]\n", "[files]\n\
        latency = { value = \"1 ms\", source = \"test\" }\n\
        rate = { value = \"100 MB/s\", source = \"test\" }\n\
        servers = { value = 8, source = \"test\" }\n\n[tport]\n"),
    ("files_in_stripes_without_nodes", "[tport]\n", "[files]\n\
        latency = { value = \"1 ms\", source = \"test\" }\n\
        rate = { value = \"100 MB/s\", source = \"test\" }\n\
        stripe = { value = \"64 KB\", source = \"test\" }\n\n[tport]\n"),
    // Links and switches.
    ("channels_0", "channels = { value = 2,", "channels = { value = 0,"),
    ("channels_33", "channels = { value = 2,", "channels = { value = 33,"),
    (
        "classes_0",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        classes = { value = 0, source = \"test\" }\n",
    ),
    (
        "classes_33",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        classes = { value = 33, source = \"test\" }\n",
    ),
    (
        "classes_without_channels",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        classes = { value = 3, source = \"test\" }\n",
    ),
    ("buffer_0", "128 flits", "0 flits"),
    ("cut_through_short_buffer", "until-acknowledged", "cut-through"),
    (
        "asks_for_congestion_control",
        "[switch]\n",
        "[switch]\ncongestion_control = { value = \"dcqcn\", source = \"test\" }\n"
    ),
    (
        "asks_for_pause_frames",
        "[switch]\n",
        "[switch]\npfc = { value = true, source = \"test\" }\n"
    ),
    (
        "asks_for_drops",
        "[switch]\n",
        "[switch]\nretransmission = { value = \"go-back-n\", source = \"test\" }\n"
    ),
    (
        "asks_for_traffic_classes_of_switches",
        "[switch]\n",
        "[switch]\nclasses = { value = 2, source = \"test\" }\n"
    ),
    ("asks_for_shares", "[switch]\n", "[switch]\nweights = { value = 2, source = \"test\" }\n"),
    ("hop_delay_between_cycles", "55 ns", "57 ns"),
    ("hop_delay_0", "55 ns", "0 ns"),
    ("hop_delay_too_long", "55 ns", "10 us"),
    ("hop_delay_list_too_short", r#""55 ns""#, r#"["55 ns", "60 ns"]"#),
    ("hop_delay_list_element", r#""55 ns""#, r#"["55 ns", "60 ns", "61 ns"]"#),
    (
        "credit_delay_between_cycles",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        credit_delay = { value = \"57 ns\", source = \"test\" }\n",
    ),
    (
        "credit_delay_0",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        credit_delay = { value = \"0 ns\", source = \"test\" }\n",
    ),
    (
        "credit_delay_too_long",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        credit_delay = { value = \"6 us\", source = \"test\" }\n",
    ),
    (
        "credit_delay_list_too_short",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        credit_delay = { value = [\"5 ns\", \"5 ns\"], source = \"test\" }\n",
    ),
    (
        "credit_delay_without_unit",
        "channels = { value = 2, source = \"test\" }\n",
        "channels = { value = 2, source = \"test\" }\n\
        credit_delay = { value = 55, source = \"test\" }\n",
    ),
    ("cycle_not_whole", "400 MB/s", "300 MB/s"),
    ("rate_0", "400 MB/s", "0 MB/s"),
    ("flit_0", r#""2 B""#, r#""0 B""#),
    ("age_bits_0", "age_bits = { value = 4,", "age_bits = { value = 0,"),
    // Packets, adapters, buses.
    ("payload_0", "320 B", "0 B"),
    ("payload_too_long", "320 B", "1025 MB"),
    (
        "payload_of_too_many_transactions",
        "payload = { value = \"320 B\", source = \"test\" }\ntransaction = { value = \"64 B\",",
        "payload = { value = \"1024 MB\", source = \"test\" }\ntransaction = { value = \"4 B\",",
    ),
    ("packet_without_bytes", "header = { value = \"8 B\", source = \"test\" }\n\
        transaction_overhead = { value = \"10 B\",", "header = { value = \"0 B\", source = \"test\" }\n\
        transaction_overhead = { value = \"0 B\","),
    ("share_burst_too_long", "32 flits", "100 flits"),
    ("queue_0", "queue = { value = 1024,", "queue = { value = 0,"),
    ("time_slice_0", "128 us", "0 us"),
    ("time_slice_is_a_size", "128 us", "8 KB"),
    ("memory_too_small", r#"memory = { value = "64 MB","#, r#"memory = { value = "1 KB","#),
    (
        "thread_cycle_0",
        r#"thread_cycle = { value = "10 ns","#,
        r#"thread_cycle = { value = "0 ns","#
    ),
    ("interrupt_too_long", r#"interrupt = { value = "5 us","#, r#"interrupt = { value = "11 s","#),
    ("thread_switch_too_long", "thread_switch = { value = 30,", "thread_switch = \
        { value = 1048577,"),
    ("payload_shorter_than_an_envelope", "320 B", "31 B"),
    ("copy_too_slow", "600 MB/s", "600 B/s"),
    ("shared_too_long", r#"shared = { value = "500 ns","#, r#"shared = { value = "11 s","#),
    ("elan4_without_engines", "[bus]\n", "[elan4]\n\
        sten_start = { value = \"50 ns\", source = \"test\" }\n\
        engines = { value = 0, source = \"test\" }\n\
        split = { value = \"11 s\", source = \"test\" }\n\n[bus]\n"),
    (
        "elan4_incomplete",
        "[bus]\n",
        "[elan4]\nengines = { value = 2, source = \"test\" }\n\n[bus]\n"
    ),
    ("request_too_long", "[host]\n", "[host]\nrequest = { value = \"11 s\", source = \"test\" }\n"),
    (
        "unknown_matching",
        "[tport]\n",
        "[tport]\nmatching = { value = \"switch\", source = \"test\" }\n"
    ),
    ("tport_without_slots", "slots = { value = 65,", "slots = { value = 0,"),
    ("tport_scan_too_long", "scan = { value = 12,", "scan = { value = 1048577,"),
    ("small_longer_than_packets", "288 B", "65 KB"),
    ("branching_0", "branching = { value = 4,", "branching = { value = 0,"),
    ("branching_too_wide", "branching = { value = 4,", "branching = { value = 65,"),
    ("broadcast_too_long", "broadcast = { value = 200,", "broadcast = { value = 1048577,"),
    ("bus_too_slow", "264 MB/s", "264 B/s"),
    ("cpus_0", "[tport]", "cpus = { value = 0, source = \"test\" }\n\n[tport]"),
    ("unknown_duplex", "[bus]", "[bus]\nduplex = { value = \"fulll\", source = \"test\" }"),
];

/// A valid cause of noise, to be put into `good.toml`.
const TICK: &str = r#"[noise.tick]
cpu = { value = 1, source = "test" }
interval = { value = "1 ms", source = "test" }
duration = { value = "2 us", source = "test" }
durations = { value = "exponential", source = "test" }
"#;

/// The same for mistakes in it.
#[rustfmt::skip]
const MISTAKES_OF_NOISE: &[(&str, &str, &str)] = &[
    ("noise_missing_key", "duration = { value = \"2 us\", source = \"test\" }\n", ""),
    ("noise_unknown_key", "interval =", "intervall ="),
    ("noise_bare_number", r#""1 ms""#, "1"),
    ("noise_without_source", r#"{ value = "2 us", source = "test" }"#, r#""2 us""#),
    ("noise_no_name", "noise.tick", "noise.\"the tick\""),
    ("noise_no_cause", "[noise.tick]", "[noise]"),
    ("noise_no_such_cpu", "value = 1,", "value = 4,"),
    ("noise_negative_cpu", "value = 1,", "value = -1,"),
    ("noise_cpu_is_a_word", "value = 1,", "value = \"every\","),
    ("noise_unknown_distribution", "\"exponential\"", "\"normal\""),
    ("noise_interval_too_short", r#""1 ms""#, r#""10 ns""#),
    ("noise_takes_too_much", r#""2 us""#, r#""950 us""#),
    ("noise_empty_list", r#"duration = { value = "2 us""#, "duration = { value = []"),
    (
        "noise_list_of_times",
        r#"duration = { value = "2 us""#,
        r#"duration = { value = ["2 us", "3 us"]"#
    ),
    (
        "noise_count_0",
        r#"duration = { value = "2 us""#,
        r#"duration = { value = [["2 us", 5], ["3 us", 0]]"#
    ),
    ("noise_counted_too_often", r#""1 ms""#, r#"[["86400 s", 1000000]]"#),
    ("noise_counted_twice", r#""2 us""#, r#"[["2 us", 5]]"#),
];

/// A valid fault with recovery times, to be put into `good.toml`.
const FAULT: &str = r#"[[fault]]
link = "switch 1.2, port 5"
at = "3 ms"
for = "1 ms"

[faults]
timeout = { value = "1 ms", source = "test" }
"#;

/// The same for mistakes in it.
#[rustfmt::skip]
const MISTAKES_OF_FAULTS: &[(&str, &str, &str)] = &[
    ("fault_is_a_section", "[[fault]]", "[fault]"),
    ("fault_unknown_key", "at =", "att ="),
    ("fault_bare_number", r#""3 ms""#, "3"),
    ("fault_without_part", "link = \"switch 1.2, port 5\"\n", ""),
    ("fault_two_parts", "[[fault]]\n", "[[fault]]\nnode = 3\n"),
    ("fault_without_time", "at = \"3 ms\"\nfor = \"1 ms\"\n", ""),
    ("fault_for_without_at", "at = \"3 ms\"\n", ""),
    ("fault_rate_of_a_moment", "for = \"1 ms\"", "rate = \"100 MB/s\""),
    ("fault_rate_of_a_fast_link", "at = \"3 ms\"\nfor = \"1 ms\"", "rate = \"400 MB/s\""),
    ("fault_no_such_switch", "switch 1.2,", "switch 1.22,"),
    ("fault_no_such_port", "port 5", "port 8"),
    ("fault_half_a_cable", "switch 1.2, port 5", "switch 1.2"),
    ("fault_no_cable", "switch 1.2, port 5", "cable 7"),
    ("fault_too_late", r#""3 ms""#, r#""3000 s""#),
    ("fault_lasts_no_time", r#"for = "1 ms""#, r#"for = "0 ms""#),
    ("faults_unknown_key", "timeout", "time_out"),
    ("faults_without_source", r#"{ value = "1 ms", source = "test" }"#, r#""1 ms""#),
    ("faults_timeout_0", r#"value = "1 ms""#, r#"value = "0 ms""#),
];

/// The same for `rails.toml`.
#[rustfmt::skip]
const MISTAKES_WITH_RAILS: &[(&str, &str, &str)] = &[
    ("rails_0", "count = { value = 4,", "count = { value = 0,"),
    ("rails_32", "count = { value = 4,", "count = { value = 32,"),
    ("rails_negative", "count = { value = 4,", "count = { value = -1,"),
    ("rails_half", "count = { value = 4,", "count = { value = 1.5,"),
    ("rails_unknown_policy", "\"dynamic\"", "\"local_dynamic\""),
    ("rails_policy_is_a_number", "\"dynamic\"", "3"),
    ("rails_static_too_few", "\"dynamic\"", "\"static\""),
    ("rails_striping_below_0", "striping = { value = 0.5,", "striping = { value = -0.01,"),
    ("rails_striping_above_1", "striping = { value = 0.5,", "striping = { value = 1.01,"),
    ("rails_striping_nan", "striping = { value = 0.5,", "striping = { value = nan,"),
    ("rails_striping_nan_as_text", "striping = { value = 0.5,", "striping = { value = \"NaN\","),
    ("rails_striping_infinite", "striping = { value = 0.5,", "striping = { value = inf,"),
    (
        "rails_threshold_no_size",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"short\","
    ),
    (
        "rails_threshold_negative",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"-1 KB\","
    ),
    ("rails_threshold_bare", "threshold = { value = \"8 KB\",", "threshold = { value = 8192,"),
    (
        "rails_threshold_is_a_time",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"8 us\","
    ),
    (
        "rails_threshold_too_long",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"8000 MB\","
    ),
    ("rails_handle_too_long", "handle = { value = 200,", "handle = { value = 1048577,"),
    ("rails_poll_0", "poll = { value = \"1 us\",", "poll = { value = \"0 us\","),
    ("rails_poll_below_a_cycle", "poll = { value = \"1 us\",", "poll = { value = \"4999 ps\","),
    ("rails_poll_bare", "poll = { value = \"1 us\",", "poll = { value = 200,"),
    (
        "rails_unknown_status",
        "poll = {",
        "status = { value = \"word\", source = \"test\" }\npoll = {",
    ),
    (
        "rails_unknown_choice",
        "poll = {",
        "choice = { value = \"received\", source = \"test\" }\npoll = {",
    ),
    ("rails_unknown_key", "striping =", "stripping ="),
    ("rails_missing_key", "threshold = { value = \"8 KB\", source = \"test\" }\n", ""),
    ("rails_without_source", "{ value = 4, source = \"test\" }", "4"),
    ("rails_section_misspelt", "[rails]", "[rail]"),
];

#[test]
fn one_mistake() {
    for (name, found, replacement) in MISTAKES {
        assert_eq!(
            GOOD.matches(found).count(),
            1,
            "{name}: the text to replace must be in good.toml once"
        );
        let text = GOOD.replacen(found, replacement, 1);
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
}

#[test]
fn one_mistake_about_noise() {
    let with = |tick: &str| GOOD.replacen("[tport]", &format!("{tick}\n[tport]"), 1);
    Machine::parse("good.toml", &with(TICK), &[]).unwrap_or_else(|problems| panic!("{problems}"));
    for (name, found, replacement) in MISTAKES_OF_NOISE {
        assert_eq!(TICK.matches(found).count(), 1, "{name}");
        let text = with(&TICK.replacen(found, replacement, 1));
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
}

#[test]
fn one_mistake_about_faults() {
    let with = |fault: &str| GOOD.replacen("[tport]", &format!("{fault}\n[tport]"), 1);
    Machine::parse("good.toml", &with(FAULT), &[]).unwrap_or_else(|problems| panic!("{problems}"));
    for (name, found, replacement) in MISTAKES_OF_FAULTS {
        assert_eq!(FAULT.matches(found).count(), 1, "{name}");
        let text = with(&FAULT.replacen(found, replacement, 1));
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
    let faulty = [&with(FAULT), RAILS].concat();
    snapshot(
        "fault_without_rail",
        Machine::parse("bad.toml", &faulty, &[]).map(|_| ()),
    );
}

#[test]
fn one_mistake_with_rails() {
    for (name, found, replacement) in MISTAKES_WITH_RAILS {
        assert_eq!(
            RAILS.matches(found).count(),
            1,
            "{name}: the text to replace must be in rails.toml once"
        );
        let text = [GOOD, &RAILS.replacen(found, replacement, 1)].concat();
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
}

/// Static allocation needs as many rails as in the paper: 6 for 20 nodes (coll2003 figure 4).
#[test]
fn twenty_nodes_need_six_rails() {
    let text = |rails: &str| {
        let section = RAILS.replace("\"dynamic\"", "\"static\"");
        let text = [GOOD, &section.replace("value = 4,", rails)].concat();
        text.replace("nodes = { value = 64,", "nodes = { value = 20,")
    };
    let parse = |rails| Machine::parse("bad.toml", &text(rails), &[]).map(|_| ());
    snapshot("rails_static_of_20", parse("value = 5,"));
    parse("value = 6,").expect("six are enough");
}

/// Both ends of each range, and whole numbers where others are allowed, too.
#[test]
fn what_rails_may_say() {
    let good = [GOOD, RAILS].concat();
    for (found, replacement) in [
        ("striping = { value = 0.5,", "striping = { value = 0,"),
        ("striping = { value = 0.5,", "striping = { value = 1,"),
        ("count = { value = 4,", "count = { value = 1,"),
        ("count = { value = 4,", "count = { value = 31,"),
        (
            "threshold = { value = \"8 KB\",",
            "threshold = { value = \"0 B\",",
        ),
        ("handle = { value = 200,", "handle = { value = 0,"),
        ("poll = { value = \"1 us\",", "poll = { value = \"5 ns\","),
        ("\"dynamic\"", "\"local-dynamic\""),
    ] {
        assert!(good.contains(found));
        let text = good.replace(found, replacement);
        let machine = Machine::parse("good.toml", &text, &[]);
        machine.unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    }
}

/// A dragonfly with Valiant's routing needs three channels per link for each traffic class.
#[test]
fn each_traffic_class_needs_the_channels_of_the_routing() {
    let keys = [
        ("kind", "\"dragonfly\""),
        ("terminals", "2"),
        ("group", "4"),
        ("global", "2"),
        ("groups", "9"),
        ("routing", "\"valiant\""),
    ];
    let line =
        |(key, value): (&str, &str)| format!("{key} = {{ value = {value}, source = \"test\" }}\n");
    let machine = |channels: u32, classes: u32| {
        let channels = format!("channels = {{ value = {channels}, source = \"test\" }}\n")
            + &line(("classes", &classes.to_string()));
        let tree = GOOD.find("down = ").expect("a key")..GOOD.find("\n[link]").expect("a section");
        let text = GOOD.replace(&GOOD[tree], &keys.map(line).concat());
        let text = text.replace("channels = { value = 2, source = \"test\" }\n", &channels);
        Machine::parse("bad.toml", &text, &[]).map(drop)
    };
    machine(6, 2).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    machine(32, 10).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    snapshot("classes_of_a_dragonfly", machine(5, 2));
    snapshot("classes_beyond_a_dragonfly", machine(32, 11));
}

#[test]
fn several_at_once() {
    let text = GOOD
        .replace("= { value = 2,", "= { value = 0,")
        .replace("55 ns", "57 ns")
        .replace("[4, 4],", "[4],");
    let Err(problems) = Machine::parse("bad.toml", &text, &[]) else {
        panic!("this file is wrong")
    };
    assert_eq!(problems.0.len(), 5, "{}", problems.render(false));
    snapshot("several_at_once", Err(problems));
}

/// The good file, read with lines that end as on Windows, has its mistakes at the same places.
#[test]
fn line_ends_do_not_move_places() {
    let text = GOOD.replace("55 ns", "57 ns");
    let problem = |text: &str| {
        Machine::parse("bad.toml", text, &[])
            .expect_err("this file is wrong")
            .0
            .remove(0)
    };
    let (unix, windows) = (problem(&text), problem(&text.replace('\n', "\r\n")));
    assert_eq!((unix.line, unix.column), (windows.line, windows.column));
    assert_eq!(unix.message, windows.message);
}

/// Every message names the file, the place and the key, and has the allowed values or a remedy.
fn snapshot(name: &str, outcome: Result<(), Problems>) {
    let Err(problems) = outcome else {
        panic!("{name}: this file is wrong")
    };
    let rendered = problems.render(false);
    for problem in &problems.0 {
        let place = format!("bad.toml:{}:{}", problem.line, problem.column);
        assert!(
            rendered.contains(&place),
            "{name}: no {place} in\n{rendered}"
        );
        assert!(
            !problem.message.is_empty() && rendered.starts_with("error: "),
            "{name}: {rendered}"
        );
    }
    insta::with_settings!({
        snapshot_path => "bad", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!(name, rendered);
    });
}

/// For any cut or missing part, there is a machine or an error with a place, never a panic.
#[test]
fn any_cut_and_any_gap() {
    let outcome = |text: &str| {
        if let Err(problems) = Machine::parse("cut.toml", text, &[]) {
            assert!(
                problems.render(true).contains("cut.toml") && problems.0[0].line > 0,
                "{text}"
            );
        }
    };
    let good = [GOOD, RAILS].concat();
    for (index, letter) in good.char_indices() {
        let (before, after) = good.split_at(index);
        outcome(before);
        outcome(&[before, &after[letter.len_utf8()..]].concat());
        outcome(&[before, "9", after].concat());
    }
}

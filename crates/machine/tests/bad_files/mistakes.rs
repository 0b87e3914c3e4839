//! One mistake each in `good.toml`, from the file's syntax to the limits of its values.

use super::GOOD;

/// Name, text in `good.toml`, replacement.
#[rustfmt::skip]
pub const MISTAKES: &[(&str, &str, &str)] = &[
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

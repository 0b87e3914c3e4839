"""A small file in each format, with its own values, and ways to spoil it with the refusal's line
and words.
"""

from __future__ import annotations

IBNETDISCOVER = """\
ibwarn: [41] mad_rpc: a remark of the tool
#
# Topology file: generated on Tue Mar  3 09:00:00 2026
#
# Initiated from node 00aa port 00ab

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x51
switchguid=0x51(51)
Switch	40 "S-51"		# "MF0;rack one:MQM8700/U1" enhanced port 0 lid 2 lmc 0
[1]	"H-a1"[1](a1) 		# "cn10 mlx5_0" lid 11 4xHDR
[2]	"H-a2"[1](0xa2) 		# "cn2 mlx5_0" lid 12 4xHDR
[3]	"H-a3"[1](a3) 		# "cn2 mlx5_1" lid 13 4xHDR
[31]	"S-53"[1]		# "MF0;top:MQM8700/U1" lid 9 4xHDR
[32]	"S-53"[2]		# "MF0;top:MQM8700/U1" lid 9 2xQDR
[41]	"H-ee"[1](ee) 		# "Mellanox Technologies Aggregation Node" lid 90 4xHDR

switchguid=0x52(52)
Switch	40 "S-52"		# "MF0;rack two:MQM8700/U1" enhanced port 0 lid 3 lmc 0
[7][ext 7]	"H-a4"[1](a4) 		# "cn3 mlx5_0" lid 14 4xHDR
[31]	"S-53"[5]		# "MF0;top:MQM8700/U1" lid 9 4xHDR

switchguid=0x53(53)
Switch	40 "S-53"		# "MF0;top:MQM8700/U1" enhanced port 0 lid 9 lmc 0
[1]	"S-51"[31]		# "MF0;rack one:MQM8700/U1" lid 2 4xHDR
[2]	"S-51"[32]		# "MF0;rack one:MQM8700/U1" lid 2 2xQDR
[5]	"S-52"[31]		# "MF0;rack two:MQM8700/U1" lid 3 4xHDR

caguid=0xa1
Ca	1 "H-a1"		# "cn10 mlx5_0"
[1](a1) 	"S-51"[1]		# lid 11 lmc 0 "MF0;rack one:MQM8700/U1" lid 2 4xHDR
"""

NS3 = """\
7 2 6                            // vertices, switches, links
0 4
1 0 40Gbps 0.5us 0
2 0 40Gbps 500ns 0.01
3 4 5000MBps 0.0005ms 0
5 4 40Gbps 0.0000005s 0 2
6 4 40Gb/s 2us 0
0 4 160Gbps 1us 0
"""

FLOWS = """\
3
1 5 3 100 700000 0.0
2 5 3 100 700000 2.5e-6
6 2 1 100 40000 0.000000000123
4 4 a remark that ns-3 does not read
"""

TOPO = """\
# three tiers
Nodes 16
Tiers 3
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Queue_Up 20
Downlink_Latency_ns 600
Switch_Latency_ns 100
Oversubscribed 2
Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 700
Switch_Latency_ns 100
Bundle 2
Tier 2
Downlink_speed_Gbps 200
Radix_Down 2
Downlink_Latency_ns 800
Switch_Latency_ns 100
"""

MATRIX = """\
Nodes 16
Connections 2
5->0 id 1 start 1000000 size 300000
15->3 start 2.0 size 4096 prio 7
"""

ANYNET = """\
router 0 node 0 node 3 2 router 1 4
router 1 node 1 router 0 4 router 2
node 2 router 2
router 2 router 1 3
"""

SIMGRID = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <!-- <graphml> -->
  <zone id="world" routing="Full">
    <cluster id="tree" prefix="n" suffix=".x" radical="0-5,7,8" speed="1Gf" bw="1.25GBps" lat="2us"
             topology="FAT_TREE" topo_parameters="2;4,2;1,2;1,2"/>
  </zone>
</platform>
"""

SLURM = """\
# two racks
SwitchName=leaf0 Nodes=cn[01-02,7]x LinkSpeed=100
SwitchName=leaf1 Nodes=login,cn10 # and a remark
SwitchName=top \\
    Switches=leaf[0-1]
"""

INFRAGRAPH = """\
name: two hosts
devices:
- name: host
  components:
  - {name: cpu, choice: cpu, count: 1}
  - {name: card, choice: device, count: 2}
  edges:
  - {ep1: {component: cpu}, ep2: {device: "card[0:2]", component: "slot[0]"},
     link: pcie, scheme: many2many}
  links:
  - name: pcie
- name: card
  components:
  - {name: slot, choice: custom, custom: {type: pcie}, count: 1}
  - {name: nic, choice: nic, count: 1}
  edges:
  - {ep1: {component: slot}, ep2: {component: nic}, link: inner, scheme: one2one}
  links:
  - name: inner
- name: box
  components:
  - {name: asic, choice: cpu, count: 1}
  - {name: port, choice: port, count: 8}
  edges:
  - {ep1: {component: asic}, ep2: {component: port}, link: ic, scheme: many2many}
  links:
  - name: ic
instances:
- {name: h, device: host, count: 2}
- {name: leaf, device: box, count: 2}
- {name: idle, device: box, count: 1}
links:
- name: down
  physical:
    bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}
    latency: {choice: ns, ns: 300}
- name: up
  physical:
    bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 50}
edges:
- {ep1: {instance: "h[0]", component: "card[0:2].nic[0]"},
   ep2: {instance: "leaf[0]", component: "port[0:2]"}, link: down, scheme: one2one}
- {ep1: {instance: "h[1]", component: "card.nic"},
   ep2: {instance: "leaf[1]", component: "port[1:3]"}, link: down, scheme: one2one}
- {ep1: {instance: "leaf[0]", component: "port[4]"},
   ep2: {instance: "leaf[1]", component: "port[4]"}, link: up, scheme: many2many}
"""

LINKED = """\
directed: false
nodes:
- {id: gpu.0.xpu.0, type: xpu, instance: gpu}
- {id: gpu.0.xpu.1, type: xpu, instance: gpu}
- {id: gpu.0.nvsw.0, type: switch, instance: gpu}
- {id: gpu.0.pcie.0, type: switch, instance: gpu}
edges:
- {source: gpu.0.xpu.0, target: gpu.0.nvsw.0, link: nvlink, bandwidth: 400 GBps, latency: 50 ns}
- {source: gpu.0.xpu.1, target: gpu.0.nvsw.0, link: nvlink, bandwidth: 400 GBps}
- {source: gpu.0.xpu.1, target: gpu.0.pcie.0, link: pcie, bandwidth: 32 GT/s}
# devices: a remark
composed_device: none
"""

GRAPHML = """\
<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="k" for="node" attr.name="type" attr.type="string"/>
  <key id="r" for="edge" attr.name="bandwidth" attr.type="string"/>
  <graph edgedefault="directed">
    <node id="a b"><data key="k">switch</data></node>
    <node id="h1"><data key="k">host</data></node>
    <node id="h2"><data key="k">Server</data></node>
    <edge source="h1" target="a b"><data key="r">25 Gb/s</data></edge>
    <edge source="a b" target="h1"><data key="r">25 Gb/s</data></edge>
    <edge source="a b" target="h2"><data key="r">100Gbps</data></edge>
  </graph>
</graphml>
"""

DOT = """\
graph racks {
  node [shape=box];
  subgraph cluster_0 { h1 [kind=node]; h2 [kind="node"]; "leaf 0" [kind=switch];
    h1 -- "leaf 0":p1 [rate="25 Gb/s", delay="600 ns"]; }
  h2 -- {"leaf 0"};
}
"""

EDGES = """\
% a list with a weight and with the data of networkx
source,target
a b 3
b;c {'bandwidth': '10 Gb/s', 'latency': '2 us'}
c a rate=20Gb/s   // a remark
"""

GML = """\
# as the Topology Zoo has its networks
Creator "Topology Zoo Toolset"
graph [
  directed 0
  Network "three"
  node [ id 4 label "leaf" type "Switch" ]
  node [ id 7 label "h0" type "Host" ]
  node [ id 9 label "h1" type "Host" graphics [ x 1.5 y 2.0 ] ]
  edge [ source 4 target 7 LinkLabel "100G" ]
  edge [ source 4 target 9 LinkSpeed "25" LinkSpeedUnits "G" LinkSpeedRaw 25000000000.0 ]
  edge [ source 4 target 9 LinkSpeed "25" LinkSpeedUnits "G" LinkSpeedRaw 25000000000.0 ]
]
"""
NODE_LINK = """\
{"directed": false, "multigraph": true, "graph": {}, "nodes": [
 {"kind": "switch", "id": "leaf"}, {"kind": "node", "id": "h0"}, {"kind": "node", "id": "h1"}],
 "links": [{"rate": "100 Gb/s", "source": "leaf", "target": "h0", "key": 0},
 {"rate": "25 Gb/s", "source": "leaf", "target": "h1", "key": 0},
 {"rate": "25 Gb/s", "source": "leaf", "target": "h1", "key": 1}]}
"""

ALL = {
    "ibnetdiscover": IBNETDISCOVER,
    "ns3": NS3,
    "flows": FLOWS,
    "topo": TOPO,
    "matrix": MATRIX,
    "anynet": ANYNET,
    "simgrid": SIMGRID,
    "slurm": SLURM,
    "infragraph": INFRAGRAPH,
    "linked": LINKED,
    "graphml": GRAPHML,
    "dot": DOT,
    "edges": EDGES,
    "gml": GML,
    "node-link": NODE_LINK,
}

SPOILT = [
    ("ibnetdiscover", '"S-53"[5]', '"S-53"[2]', r":22: port 2 of `S-53` has two cables"),
    (
        "ibnetdiscover",
        '[7][ext 7]\t"H-a4"',
        "[7] H-a4",
        r":21: `\[7\] H-a4.*` is not a line of ibnetdiscover",
    ),
    (
        "ibnetdiscover",
        '"S-52"\t\t# "MF0;rack two',
        '"S-51"\t\t# "MF0;rack two',
        r":22: port 31 of `S-51` has two cables",
    ),
    (
        "ibnetdiscover",
        '"S-51"\t\t# "MF0;rack one:MQM8700/U1" enh',
        '"S-99"\t\t# "MF0;rack one:MQM8700/U1" enh',
        r":\d+: port",
    ),
    ("ns3", "7 2 6", "7 2", r":1: the first line has the numbers"),
    ("ns3", "7 2 6", "7 3 6", r":3: `0` is not a further switch: list 3 numbers from 0 to 6"),
    ("ns3", "7 2 6", "7 2 9", r":1: line 1 promises 9 links, and the file has 6"),
    ("ns3", "1 0 40Gbps", "1 9 40Gbps", r":3: `9` is not a vertex: they have the numbers 0 to 6"),
    ("ns3", "1 0 40Gbps", "1 0 fast", r":3: `fast` is not a rate: write for example 25Gbps"),
    ("ns3", "0.5us", "soon", r":3: `soon` is not a delay"),
    ("ns3", "0.01", "7", r":4: `7` is not an error rate"),
    ("ns3", "0 4 160Gbps 1us 0", "0 0 160Gbps 1us 0", r":8: a cable joins `0` to itself"),
    ("ns3", "6 4 40Gb/s", "5 4 40Gb/s", r":2: node `6` has no cable"),
    ("flows", "3\n", "5\n", r":5: 8 words|:5: source, destination"),
    ("flows", "40000", "many", r":4: source, destination, group, port and bytes are whole numbers"),
    ("flows", "6 2 1 100 40000 0.000000000123", "6 2 1", r":4: 3 words are no flow"),
    ("topo", "Nodes 16", "Nodes 20", r":4: 8 hosts of a pod do not divide 20 nodes"),
    ("topo", "Tiers 3", "Tiers 4", r":3: 4 tiers: htsim has 2 or 3"),
    (
        "topo",
        "Radix_Down 4\nRadix_Up 2\nQueue",
        "Radix_Down 3\nRadix_Up 2\nQueue",
        r":7: 3 ports downwards do not divide",
    ),
    (
        "topo",
        "Radix_Down 4\nRadix_Up 2\nDown",
        "Radix_Down 8\nRadix_Up 2\nDown",
        r":15: the 2 switches of tier 0 in a pod",
    ),
    (
        "topo",
        "Radix_Down 2\n",
        "Radix_Down 4\n",
        r":22: 2 pods with bundles of 1 links need 2 ports",
    ),
    ("topo", "Tier 2", "Level 2", r":20: `Level` is not a key here"),
    (
        "topo",
        "Downlink_speed_Gbps 200",
        "Downlink_speed_Gbps fast",
        r":21: .*a whole number is needed",
    ),
    ("topo", "Queue_Up 20", "Radix_Up 3", r":9: `Radix_Up` comes twice: line 8 has it"),
    (
        "matrix",
        "Connections 2",
        "Connections 3",
        r":2: 3 connections are promised, and the file has 2",
    ),
    ("matrix", "15->3", "16->3", r":4: there is no node 16: there are 16, 0 to 15"),
    ("matrix", "start 1000000", "trigger 1", r":3: there is no trigger 1: write trigger id 1 one"),
    ("matrix", "size 4096", "length 4096", r":4: `length 4096` is not a part of a connection"),
    ("matrix", " size 300000", "", r":3: the connection has no size"),
    (
        "anynet",
        "node 2 router 2",
        "node 2 router 1\nnode 2 router 2",
        r":4: node 2 is at router 1 \(line 3\) and at 2",
    ),
    ("anynet", "node 1", "nod 1", r":2: `nod` is not a delay"),
    ("anynet", "router 1 4", "router 1 0", r":1: `0` is not a delay: write 1 to 1023 cycles"),
    ("anynet", "node 2 router 2", "node 2 router 7", r":3: the network is in several parts"),
    (
        "simgrid",
        'radical="0-5,7,8"',
        'radical="0-5"',
        r":6: topo_parameters give 8 hosts, and radical 6",
    ),
    ("simgrid", "1.25GBps", "fast", r':6: bw="fast" is not a rate'),
    ("simgrid", "FAT_TREE", "RING", r':6: topology="RING" is not known'),
    ("simgrid", 'id="tree" ', "", r":6: `cluster` has no id"),
    ("simgrid", "</zone>", "", r":9: not a platform of SimGrid in XML: "),
    (
        "simgrid",
        'https://simgrid.org/simgrid.dtd">',
        'x" [<!ENTITY a "b">]>',
        r":2: not a platform of SimGrid in XML: EntitiesForb",
    ),
    ("slurm", "Switches=leaf[0-1]", "Switches=leaf[0-2]", r":4: there is no line SwitchName=leaf2"),
    ("slurm", "cn[01-02,7]", "cn[01-02,7", r":2: .* is not a list of names"),
    ("slurm", "leaf1 Nodes", "leaf0 Nodes", r":3: switch `leaf0` comes twice: line 2 has it"),
    (
        "slurm",
        "SwitchName=leaf1 Nodes",
        "BlockName=b1 Nodes",
        r":3: line 2 has a switch, and this one a block",
    ),
    ("slurm", "LinkSpeed", "LinkSped", r":2: `LinkSped` is not a key here"),
    ("infragraph", "name: down\n  phys", "name: dawn\n  phys", r":41: there is no link `down`"),
    (
        "infragraph",
        "port[0:2]",
        "port[0:9]",
        r":42: `port\[0:9\]` names none, or more than there are: 8",
    ),
    ("infragraph", "count: 8", "count: -8", r":23: count: `-8` is no number"),
    (
        "infragraph",
        "device: host",
        "device: hast",
        r":29: there is no device `hast`; there are: host, card, box",
    ),
    (
        "infragraph",
        "scheme: many2many}\n  links:\n  - name: ic",
        "scheme: ring}\n  links:\n  - name: ic",
        r":25: the scheme `ring`",
    ),
    ("infragraph", "ns: 300}", "ns: soon}", r":36: latency: `soon` is no number$"),
    ("infragraph", "- name: inner\n", "- name: [inner\n", r": it is no YAML: "),
    (
        "linked",
        "target: gpu.0.nvsw.0",
        "target: gpu.0.nvsw.7",
        r":8: there is no node `gpu.0.nvsw.7`",
    ),
    ("linked", "400 GBps, lat", "400 G, lat", r":8: bandwidth `400 G` is not understood"),
    ("graphml", 'target="h2"', 'target="h3"', r":11: there is no node `h3`"),
    ("graphml", "100Gbps", "quick", r":11: bandwidth `quick` is not a rate"),
    ("graphml", 'id="h2"', 'id="h1"', r":8: the id `h1` of a node is missing, or taken"),
    ("dot", "graph racks {", "graph racks { {", r": it is no graph in DOT: "),
    ("dot", "25 Gb/s", "25 apples", r": rate `25 apples` is not a rate"),
    ("gml", "target 7", "target 8", r": it is no graph in GML: .*; correct the place"),
    ("gml", '"100G"', '"100G', r": it is no graph in GML: "),
    ("node-link", '"target": "h0"', '"target": "h9"', r": links\[0\]: there is no node `h9`"),
    ("node-link", '"id": "h1"', '"id": "h0"', r": nodes\[2\]: the id `h0` is missing, or taken"),
    ("node-link", '"nodes": [', '"nodes": [3, ', r": `nodes` is no list of objects"),
    ("edges", "a b 3", "a a 3", r":3: a cable joins `a` to itself"),
    ("edges", "rate=20Gb/s", "speedy", r":5: `speedy` is no word of an edge"),
    ("edges", "{'bandwidth'", "{'bandwidth", r":4: the data of the edge are no dictionary"),
]
"""A file, a part of it, its replacement, and the refusal's words."""

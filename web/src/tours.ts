// Guided tours: five steps each, with a question whose answer is on the page. What they state is
// tested against the simulator (tests/test_explorer_tours.py).

import { TWO_JOBS, type Config } from "./config.ts";

export interface Step {
  /** What differs from the first configuration of the page. */
  config: Partial<Config>;
  /** What differs in the configurations beside it. */
  kept: Partial<Config>[];
  text: string;
  question: string;
  choices: string[];
  /** The place of the right choice. */
  right: number;
  why: string;
}

export interface Tour {
  name: string;
  title: string;
  steps: Step[];
}

const SLOW: Partial<Config> = { load: 10 };
const JOBS: Partial<Config> = { traffic: TWO_JOBS, load: 15 };

export const TOURS: Tour[] = [
  {
    name: "circuits",
    title: "What does a held circuit do?",
    steps: [
      {
        config: SLOW,
        kept: [],
        text:
          "QsNET holds a circuit: the header of a packet takes a channel of each link on its " +
          "way, and the channels stay taken until the destination has acknowledged the packet. " +
          "Follow a packet in the last drawing, and step with the arrows. Dotted lines are " +
          "channels that are held and carry no flits any more.",
        question: "When are the channels of a packet free again?",
        choices: [
          "As soon as its last flit has left each link",
          "After the acknowledgement has returned",
          "When the next packet needs them",
        ],
        right: 1,
        why:
          "The table of the packet shows it: the last flit leaves, and the channel is free " +
          "only about 0.9 microseconds later (0.5 to a node at the same switch), when the " +
          "acknowledgement has come back and an end-of-packet token has passed. The flits of " +
          "the packet take no longer.",
      },
      {
        config: { load: 50 },
        kept: [],
        text:
          "Now each node offers half the rate of its link. Red dots are headers that wait at a " +
          "switch.",
        question: "What does a header wait for?",
        choices: [
          "For a channel that another packet holds",
          "For its destination to be ready",
          "For the clock of the switch",
        ],
        right: 0,
        why:
          "A link has two channels. While both are held, also by packets whose flits have long " +
          "gone, the next header waits, and holds the channels behind it.",
      },
      {
        config: { flow: "wormhole", load: 50 },
        kept: [{ load: 50 }],
        text:
          "The same network without circuits: with wormhole flow control each link is given " +
          "back when the last flit has left it. The other curve is the network with circuits.",
        question: "How much more does the network accept at saturation?",
        choices: ["Nothing", "About a tenth to a sixth", "Twice as much"],
        right: 1,
        why:
          "About 124 MB/s with circuits, about 138 without. Much less than the dotted lines " +
          "suggest: while a channel is held, the other one carries flits.",
      },
      {
        config: { flow: "wormhole", packet: 2048, load: 50 },
        kept: [{ packet: 2048, load: 50 }],
        text:
          "Packets of 2 KB, as QsNetII has them, in place of 320 bytes. The acknowledgement " +
          "takes as long as before.",
        question: "What do held circuits cost now?",
        choices: ["Hardly anything", "As much as before", "Six times as much"],
        right: 0,
        why:
          "The time after the last flit does not depend on the length of the packet. Behind 2 " +
          "KB it hardly counts: both curves agree within a few per cent.",
      },
      {
        config: { flow: "wormhole", traffic: "complement", load: 100 },
        kept: [{ traffic: "complement", load: 100 }],
        text:
          "Back to 320 bytes. With the pattern complement each node sends to one other node, " +
          "and all ways lead through the top of the tree.",
        question: "Which network accepts more at full load?",
        choices: ["The one with held circuits", "The one without", "Both the same"],
        right: 0,
        why:
          "Held circuits admit fewer packets at a time, and these get through: about 275 MB/s " +
          "against 247. A mechanism that costs on one pattern may give on another one.",
      },
    ],
  },
  {
    name: "tree",
    title: "How does a tree saturate?",
    steps: [
      {
        config: { load: 30 },
        kept: [],
        text:
          "Uniform traffic on a full tree. The curve bends where the network accepts less than " +
          "is offered: this is the saturation point.",
        question: "Where is it?",
        choices: ["Near 40 MB/s", "Between 100 and 160 MB/s", "At the 400 MB/s of the link"],
        right: 1,
        why:
          "The network accepts about 120 MB/s of each node, under a third of the rate of a " +
          "link: packets that wait keep channels from others.",
      },
      {
        config: { over: 2, load: 30 },
        kept: [{ load: 30 }],
        text:
          "Half of the links between the leaves and the next level are gone: 2:1 " +
          "oversubscription.",
        question: "At which load does this tree saturate?",
        choices: [
          "Between 80 and 100 MB/s",
          "At half of the former load, 60 MB/s",
          "At the same load",
        ],
        right: 0,
        why:
          "It accepts about 82 MB/s, two thirds and not half: a full tree does not use all of " +
          "its links, as packets in front of nodes hold it up as well.",
      },
      {
        config: { over: 2, load: 25 },
        kept: [{ load: 25 }],
        text: "The same tree beside the full one. Look at the hottest links.",
        question: "Where do packets wait?",
        choices: [
          "At the links that lead up from the leaves",
          "At the top",
          "In front of the nodes",
        ],
        right: 0,
        why:
          "Half as many links lead up, and packets wait for them over a hundred times as long as " +
          "in the full tree. In front of the nodes they wait less: fewer arrive.",
      },
      {
        config: { ...JOBS, placement: "alternate", jobB: "hot-spot" },
        kept: [{ ...JOBS, placement: "alternate" }],
        text:
          "Two jobs on alternating nodes of the full tree. All of job B sends to one node, " +
          "node 1. The curves beside it are of a uniform job B.",
        question: "What does the hot spot do to job A, which does not send to node 1?",
        choices: [
          "Nothing: it has ways of its own",
          "Its latency rises more than tenfold",
          "It stops",
        ],
        right: 1,
        why:
          "Packets to node 1 fill channels from there back through the tree, and packets of " +
          "job A wait behind them. This is tree saturation.",
      },
      {
        config: { ...JOBS, jobB: "hot-spot" },
        kept: [{ ...JOBS, placement: "alternate", jobB: "hot-spot" }],
        text: "The same jobs, packed: job A on the first half of the nodes, job B on the second.",
        question: "Is job A free of the hot spot?",
        choices: ["Yes", "No, the top of the tree is shared", "Only at low loads"],
        right: 0,
        why:
          "The two jobs share switches of the top, and not one link: all links up from the " +
          "nodes of a job and down to them carry its packets alone.",
      },
    ],
  },
  {
    name: "routing",
    title: "Adaptive or static routes?",
    steps: [
      {
        config: { routing: "destination-modulo", load: 30 },
        kept: [{ load: 30 }],
        text:
          "A packet in a fat tree may climb by any link. A static table takes the link by its " +
          "destination (D-mod-k); adaptive switches take the least loaded one.",
        question: "Uniform traffic: which accepts more?",
        choices: ["They are close: within about a tenth", "Adaptive, by half", "Static, by half"],
        right: 0,
        why:
          "Destinations are random, and so is the link up that the table takes. Adaptive " +
          "switches even out what is left of chance.",
      },
      {
        config: { routing: "destination-modulo", traffic: "bit-reversal", load: 60 },
        kept: [{ traffic: "bit-reversal", load: 60 }],
        text: "Bit reversal: node 6 of 64, 000110 in binary digits, sends to 24, 011000.",
        question: "What do the hottest links of the static table have in common?",
        choices: ["They lead up from leaves", "They lead down to nodes", "They are at the top"],
        right: 0,
        why:
          "The nodes of a leaf have destinations that end in the same digits, and the table " +
          "sends them up by the same link. The adaptive tree accepts nearly twice as much.",
      },
      {
        config: { routing: "flow-hash", traffic: "bit-reversal", load: 60 },
        kept: [
          { traffic: "bit-reversal", load: 60 },
          { routing: "destination-modulo", traffic: "bit-reversal", load: 60 },
        ],
        text: "Many networks take the link by a hash of source and destination (ECMP).",
        question: "Where is the hash among the two others?",
        choices: ["Between them", "Above both", "Below both"],
        right: 0,
        why:
          "A hash spreads flows as dice do: some links get two flows, some none. It avoids the " +
          "worst of the table, and misses the best of the adaptive switches.",
      },
      {
        config: { routing: "destination-modulo", traffic: "tornado", load: 100 },
        kept: [{ traffic: "tornado", load: 100 }],
        text: "Tornado: each node sends to the node that is 31 higher.",
        question: "Which accepts more now?",
        choices: ["The static table", "The adaptive switches", "Both the same"],
        right: 0,
        why:
          "All destinations of a shift differ, so that the table gives each flow a link of its " +
          "own. Adaptive switches know only their own links, and meet further up or down.",
      },
      {
        config: { routing: "flow-hash", traffic: "tornado", load: 100 },
        kept: [{ routing: "destination-modulo", traffic: "tornado", load: 100 }],
        text: "The same shift with the hash.",
        question: "What does the hash make of the best case of the table?",
        choices: ["It keeps it", "It loses about half", "It gains"],
        right: 1,
        why:
          "Flows collide by chance: about 125 in place of 277 MB/s. Among static routes none " +
          "is best for all patterns; that is the case for adaptive ones.",
      },
    ],
  },
  {
    name: "placement",
    title: "Why does placement matter?",
    steps: [
      {
        config: { ...JOBS, over: 4, placement: "alternate", load: 20 },
        kept: [],
        text:
          "Two jobs with uniform traffic share a tree with 4:1 oversubscription, on " +
          "alternating nodes. The colours of the nodes are their jobs.",
        question: "Which links are hot?",
        choices: ["Those up from the leaves", "Those at the top alone", "Those of job A"],
        right: 0,
        why: "Each leaf has one link up for four nodes.",
      },
      {
        config: { ...JOBS, over: 4, placement: "packed", load: 20 },
        kept: [{ ...JOBS, over: 4, placement: "alternate", load: 20 }],
        text: "The same jobs, packed: each has half of the machine.",
        question: "Which placement accepts more?",
        choices: ["Packed", "Alternating", "Both the same"],
        right: 0,
        why:
          "Half of the destinations of a packed job are below the same switches of the second " +
          "level, against a quarter of those of an alternating one. Short ways hold fewer " +
          "links: about a fifth more load for both.",
      },
      {
        config: { ...JOBS, over: 4, placement: "random", load: 20 },
        kept: [{ ...JOBS, over: 4, placement: "packed", load: 20 }],
        text: "Nodes drawn at random, as on a machine that has run for months.",
        question: "Which of the two would you rather have?",
        choices: ["Packed", "Random", "It makes no difference"],
        right: 0,
        why:
          "Random placement is about as costly as the alternating one: nearly every message " +
          "leaves its leaf, and most cross the top.",
      },
      {
        config: { ...JOBS, placement: "alternate", jobB: "hot-spot" },
        kept: [{ ...JOBS, placement: "packed", jobB: "hot-spot" }],
        text: "A full tree, and a neighbour that sends all of its messages to one node.",
        question: "Whose latency does the placement change most?",
        choices: ["That of job A", "That of job B", "That of neither"],
        right: 0,
        why:
          "Job B is limited by its one destination wherever it is. Job A suffers only if it " +
          "shares switches with job B.",
      },
      {
        config: { ...JOBS, over: 4, placement: "8a8b8a8b8a8b8a8b", load: 20 },
        kept: [{ ...JOBS, over: 4, placement: "packed", load: 20 }],
        text:
          "Blocks of eight nodes, two leaves each. Drag nodes in the block of choices, or " +
          "exchange them by keyboard, and look at what happens.",
        question: "Is it enough to keep leaves together?",
        choices: [
          "No: it is between alternating and packed",
          "Yes: it is as good as packed",
          "It is better than packed",
        ],
        right: 0,
        why:
          "Below a leaf are four nodes, and a job has 32: most destinations are elsewhere, and " +
          "on longer ways than in a packed job.",
      },
    ],
  },
  {
    name: "rail",
    title: "What happens when a rail fails?",
    steps: [
      {
        config: { load: 25 },
        kept: [],
        text: "A rail is a network of its own, with an adapter of each node. First, one rail.",
        question: "How much does it accept?",
        choices: ["About 120 MB/s a node", "About 240 MB/s a node", "All of 400 MB/s"],
        right: 0,
        why: "This is the saturation of uniform traffic on this tree.",
      },
      {
        config: { rails: 2, load: 25 },
        kept: [{ load: 25 }],
        text: "Two rails, which messages take in turn.",
        question: "What do two rails change at 100 MB/s?",
        choices: ["Latency: it is about half", "The accepted load: it is twice as much", "Nothing"],
        right: 0,
        why:
          "One rail carries 100 MB/s as well, but near its saturation. Two rails have half of " +
          "the load each, and messages hardly wait.",
      },
      {
        config: { rails: 2, fault: "rail", load: 25 },
        kept: [{ rails: 2, load: 25 }],
        text: "Rail 0 is dead from the start, and the nodes know it.",
        question: "Do the nodes lose load at 100 MB/s?",
        choices: ["No, but latency", "Half of it", "All of it"],
        right: 0,
        why:
          "The other rail carries everything as long as it does not saturate. The drawing of " +
          "rail 0 is cold.",
      },
      {
        config: { rails: 2, fault: "rail", load: 60 },
        kept: [{ rails: 2, load: 60 }, { load: 60 }],
        text: "The same with a higher load, beside two rails and a machine with one rail.",
        question: "Which of the others does the machine with the dead rail resemble?",
        choices: ["That with one rail", "That with two rails", "Neither"],
        right: 0,
        why:
          "What is left is one rail, to the last few per cent. A second rail is worth its " +
          "price if the machine must carry its load without it.",
      },
      {
        config: { fault: "switch", load: 60 },
        kept: [{ load: 60 }],
        text:
          "A smaller fault: one of the 16 switches of the top of a single rail is dead. Routes " +
          "lead around it.",
        question: "How much load does the tree lose?",
        choices: ["About an eighth", "Half", "None"],
        right: 0,
        why:
          "The tree has many ways, and each packet still has others: twice the share of the " +
          "switch is lost, and far less than a rail.",
      },
    ],
  },
];

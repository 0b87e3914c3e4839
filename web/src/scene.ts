// Packets and the channels that they hold, from the table `circuits` of a watched run. The states
// are those of `elanite watch` (python/elanite/report/watch.py):
//
// - waits: the header is at the start of the link and has no channel;
// - opens: the packet has the channel, and its first flit has not left yet;
// - carries: flits cross the link;
// - held: the last flit has gone, and the channel stays taken until the end-of-packet token has
//   passed.

import type { Tables } from "../engine/engine.js";

export type State = "waits" | "opens" | "carries" | "held";

/** A channel of a packet; times in ns from the start of the watched time, null before the event. */
export interface Hold {
  link: number;
  channel: number;
  waits: number;
  opened: number | null;
  head: number | null;
  tail: number | null;
  closed: number | null;
}

export interface Packet {
  source: number;
  sequence: number;
  destination: number;
  flits: number;
  delivered: number | null;
  acknowledged: number | null;
  way: Hold[];
}

/** What a packet does on a link at a moment. */
export interface Doing {
  packet: Packet;
  hold: Hold;
  state: State;
}

export function packets(circuits: Tables["circuits"], beginUs: number): Packet[] {
  const ns = (ps: number | null | undefined) =>
    ps === null || ps === undefined ? null : ps / 1e3 - beginUs * 1e3;
  const found = new Map<string, Packet>();
  circuits.link.forEach((link, row) => {
    const [source, sequence] = [circuits.source[row] ?? 0, circuits.sequence[row] ?? 0];
    const key = `${source} ${sequence}`;
    let packet = found.get(key);
    if (!packet) {
      packet = {
        source,
        sequence,
        destination: circuits.first[row] ?? 0,
        flits: circuits.flits[row] ?? 0,
        delivered: ns(circuits.delivered_ps[row]),
        acknowledged: ns(circuits.acknowledged_ps[row]),
        way: [],
      };
      found.set(key, packet);
    }
    packet.way.push({
      link,
      channel: circuits.channel[row] ?? 0,
      waits: ns(circuits.waits_ps[row]) ?? 0,
      opened: ns(circuits.opened_ps[row]),
      head: ns(circuits.head_ps[row]),
      tail: ns(circuits.tail_ps[row]),
      closed: ns(circuits.closed_ps[row]),
    });
  });
  return [...found.values()];
}

export function stateOf(hold: Hold, time: number): State | null {
  if (time < hold.waits || (hold.closed !== null && time >= hold.closed)) return null;
  if (hold.opened === null || time < hold.opened) return "waits";
  if (hold.head === null || time < hold.head) return "opens";
  if (hold.tail === null || time < hold.tail) return "carries";
  return "held";
}

export function doings(all: Packet[], time: number): Doing[] {
  return all.flatMap((packet) =>
    packet.way.flatMap((hold) => {
      const state = stateOf(hold, time);
      return state ? [{ packet, hold, state }] : [];
    }),
  );
}

/** Every moment at which a state changes, in order. */
export function moments(all: Packet[], length: number): number[] {
  const found = new Set<number>();
  for (const { way } of all) {
    for (const { waits, opened, head, tail, closed } of way) {
      for (const time of [waits, opened, head, tail, closed])
        if (time !== null && time >= 0 && time <= length) found.add(time);
    }
  }
  return [...found].sort((one, other) => one - other);
}

export function counts(now: Doing[]): Record<State, number> {
  const found = { waits: 0, opens: 0, carries: 0, held: 0 };
  for (const { state } of now) found[state] += 1;
  return found;
}

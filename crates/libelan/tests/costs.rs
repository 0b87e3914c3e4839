//! The library's share of the time: a call takes its own instructions and copies, and otherwise as
//! long as the operation that it gives to the adapter.

use crate::common;

use common::{alloc, b, down, failing, filled, four_nodes, job, load, me, pattern, pid, run_on};
use common::{store, with_rails};
use elan::faults::FaultyPart;
use elan::{BusConfig, Config, Dma, Rail};
use libelan::Pe;
use rails::policies::BASIC;
use units::Time;

/// Time on the bus in the direction of the last transfer.
fn bursts(bus: &BusConfig, bytes: u64) -> Time {
    let burst = bus.burst.as_u64();
    let parts = (0..bytes.div_ceil(burst)).map(|part| (bytes - part * burst).min(burst));
    parts
        .map(|part| bus.burst_overhead + bus.rate.time(b(part)))
        .sum()
}

/// How long it takes from a whole microsecond to the end of an operation that begins later by
/// `after`. Everything before has ended.
async fn time(pe: &Pe, after: Time, operation: impl AsyncFnOnce()) -> Time {
    let (node, us) = (pe.node(), Time::from_us(1));
    let begin = us * (pe.now() + us * 300).div_ceil(us);
    node.sleep_until(begin + after).await;
    operation().await;
    pe.now() - begin
}

#[test]
fn puts_gets_and_words() {
    run_on(&four_nodes(), &job(&[0, 3]), async |pe| {
        let (elan, node, config) = (pe.elan(), pe.node(), pe.node().config());
        let (call, bus) = (config.host.call, config.bus);
        let main = elan.galloc_main(64, b(3000)).unwrap();
        let queue = elan.queue_rx(20, b(320)).unwrap();
        if me(&pe) == 1 {
            return;
        }
        let (own, near) = (filled(&pe, 1, 3000), alloc(&pe, true, b(64)));
        store(&pe, near, &pattern(1, 64));
        let at = |place| elan.elan3().address(pid(1), place).unwrap();
        let bare =
            async |after, dma: Dma| time(&pe, after, async || node.dma(dma).await.unwrap()).await;
        let now = Time::ZERO;
        // The bus has last carried the block that reports an end, as it has before all others.
        bare(now, Dma::new(node.at(near), at(main), b(8))).await;
        for size in [b(8), b(64), b(65), b(3000)] {
            let put = async || elan.wait(elan.put(pid(1), own, main, size)).await.unwrap();
            let put = time(&pe, now, put).await;
            // Short bytes are stored in adapter memory, before the command.
            let (from, stored) = if size <= b(64) {
                (near, bursts(&bus, size.as_u64()))
            } else {
                (own, now)
            };
            let alone = bare(call + stored, Dma::new(node.at(from), at(main), size)).await;
            assert_eq!(put, alone, "a put of {size}");
            let get = async || elan.wait(elan.get(pid(1), main, own, size)).await.unwrap();
            // The other bus has last carried bytes that were got, as it has before the second get.
            bare(call, Dma::new(at(main), node.at(own), size)).await;
            let get = time(&pe, now, get).await;
            let alone = bare(call, Dma::new(at(main), node.at(own), size)).await;
            assert_eq!(get, alone, "a get of {size}");
        }
        for size in [b(0), b(8), b(320)] {
            let send = async || {
                let sent = elan.queue_tx(pid(1), queue.at(), own, size);
                elan.wait(sent).await.unwrap();
            };
            let sent = time(&pe, now, send).await;
            let alone = bare(call, Dma::queue(node.at(own), at(queue.at()), size)).await;
            assert_eq!(sent, alone, "a message of {size}");
        }
        // A word is got into adapter memory, and read from there.
        bare(call, Dma::new(at(main), node.at(near), b(8))).await;
        let get = async || {
            let word = pe.shmem().g(main, 1).await.unwrap();
            assert_eq!(word.to_le_bytes()[..], pattern(1, 8));
        };
        let got = time(&pe, now, get).await;
        let alone = bare(call, Dma::new(at(main), node.at(near), b(8))).await;
        assert_eq!(got, alone + bursts(&bus, 8));
    });
}

/// Two rails, of which the home rail is down from the start.
fn without_home() -> Config {
    let config = with_rails(&four_nodes(), 2, BASIC, 1.0);
    let fault = down(FaultyPart::Rail(Rail::new(0)), Time::from_us(1), None);
    failing(config, vec![fault])
}

/// How long a detour takes that brings so many bytes to another process's adapter memory.
fn detour(config: &Config, length: u64) -> Time {
    let [found, noted] = common::logs();
    run_on(config, &job(&[0, 3]), async move |pe| {
        let elan = pe.elan();
        let near = elan.galloc_elan(64, b(3000)).unwrap();
        let own = filled(&pe, 1, 3000);
        if me(&pe) == 0 {
            let size = b(length);
            // Once more often than a process's mailbox has slots: none is lost.
            for _ in 0..40 {
                store(&pe, own, &pattern(length, length));
                let put = async || elan.wait(elan.put(pid(1), own, near, size)).await.unwrap();
                noted.note(time(&pe, Time::ZERO, put).await);
            }
        }
        elan.all_group().gsync().await.unwrap();
        if me(&pe) == 1 {
            assert_eq!(load(&pe, near, b(length))[..], pattern(length, length));
        }
    });
    // The first one finds the bus in the state in which the run has begun.
    let times = &found.borrow()[1..];
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    times[0]
}

/// A thread takes up a detour's packet at its destination, and another one the packet that reports
/// its end: with each cycle of `tport.handle` more, a message takes two cycles longer.
#[test]
fn a_detour_is_handled_by_a_thread_at_each_end() {
    let slow = |cycles| {
        let mut config = without_home();
        config.tport.handle += cycles;
        config
    };
    for length in [0, 8, 288] {
        let [once, longer] = [0, 100].map(|cycles| detour(&slow(cycles), length));
        let cycle = four_nodes().adapter.thread_cycle;
        // The fabric's cycles round the packets' moments up.
        let slack = four_nodes().cycle * 2;
        let more = longer - once;
        assert!(
            more + slack >= cycle * 200 && more <= cycle * 200 + slack,
            "{length} B: {more}"
        );
    }
}

/// When process 1 ends, of a call that all processes make at once on a machine.
fn end_of_the_second(config: &Config, places: &[u32], call: impl AsyncFn(Pe) + 'static) -> Time {
    let [ends, noted] = common::logs();
    run_on(config, &job(places), async move |pe| {
        let second = me(&pe) == 1;
        let now = time(&pe, Time::ZERO, async || call(pe.clone()).await).await;
        if second {
            noted.note(now);
        }
    });
    ends.take()
}

/// Where a team has two members, a broadcast's bytes are copied once, from its leader or to it, and
/// the call ends after that for both. Processes on nodes of their own copy nothing.
#[test]
fn members_on_a_node_copy_once() {
    let size = b(2000);
    let fast = four_nodes();
    let mut slow = fast.clone();
    slow.host.copy = units::Rate::from_bytes_per_second(fast.host.copy.as_bytes_per_second() / 2);
    let copy = fast.host.copy.time(size);
    for (root, places, copies) in [
        (0, [0, 0, 2], 1),
        (1, [2, 0, 0], 1),
        (2, [2, 0, 0], 1),
        (0, [0, 2, 2], 1),
        (0, [0, 2, 3], 0),
    ] {
        let bcast = async move |pe: Pe| {
            let at = pe.elan().galloc_main(64, size).unwrap();
            pe.elan().all_group().bcast(at, size, root).await.unwrap();
        };
        let [fast, slow] = [&fast, &slow].map(|config| end_of_the_second(config, &places, bcast));
        let added = (slow - fast).as_us_f64() / copy.as_us_f64();
        assert!(
            (added - f64::from(copies)).abs() < 0.02,
            "{root} of {places:?}: {added}"
        );
    }
}

/// A process that waits for a word sees it by a poll after the word has been stored.
#[test]
fn a_word_is_seen_by_a_poll() {
    let wait = async |pe: Pe| {
        let (shmem, word) = (pe.shmem(), pe.elan().galloc_main(64, b(8)).unwrap());
        if me(&pe) == 0 {
            shmem.p(word, 7, 1);
        } else {
            shmem.wait(word, 0).await.unwrap();
        }
    };
    let fast = four_nodes();
    let mut slow = fast.clone();
    let more = Time::from_us(3);
    slow.adapter.poll += more;
    let [fast, slow] = [&fast, &slow].map(|config| end_of_the_second(config, &[0, 3], wait));
    assert_eq!(slow - fast, more);
}

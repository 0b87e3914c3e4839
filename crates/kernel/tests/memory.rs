//! The counting allocator, installed.

use std::hint::black_box;

use kernel::memory::{CountingAllocator, balance, current, measure, take_over};
use kernel::{Executor, Signal, Spares};
use units::Bytes;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

fn kb(kb: usize) -> Vec<u8> {
    black_box(vec![1; kb << 10])
}

#[test]
fn counts_what_is_in_use() {
    // A thread that frees its parent's memory may begin below zero; the figure is then zero.
    let _base = kb(1);
    let before = current();
    let block = kb(64);
    assert_eq!(current() - before, Bytes::from_kb(64));
    drop(block);
    assert_eq!(current(), before);
}

#[test]
fn the_peak_is_of_what_was_in_use_together() {
    let kept = kb(100);
    let ((), peak) = measure(|| {
        drop(kb(8));
        let both = (kb(4), kb(2));
        drop(both);
    });
    assert_eq!(peak, Bytes::from_kb(8));
    drop(kept);
}

#[test]
fn growing_and_zeroed_blocks_count() {
    let (block, peak) = measure(|| {
        let mut block = black_box(vec![0_u8; 1 << 10]);
        block.reserve_exact(3 << 10);
        block
    });
    assert_eq!(peak, Bytes::from_kb(4));
    drop(block);
}

#[test]
fn measurements_nest() {
    let (inner, outer) = measure(|| {
        drop(kb(16));
        let kept = kb(1);
        let ((), inner) = measure(|| drop(kb(4)));
        drop(kept);
        inner
    });
    assert_eq!((inner, outer), (Bytes::from_kb(4), Bytes::from_kb(16)));

    let ((), outer) = measure(|| {
        let kept = kb(1);
        measure(|| drop(kb(4)));
        drop(kept);
    });
    assert_eq!(outer, Bytes::from_kb(5));
}

#[test]
fn other_threads_do_not_count() {
    let (in_thread, here) = measure(|| {
        std::thread::spawn(|| measure(|| drop(kb(1024))).1)
            .join()
            .unwrap()
    });
    assert_eq!(in_thread, Bytes::from_kb(1024));
    assert!(here < Bytes::from_kb(1024), "{here}");
}

#[test]
fn freeing_what_another_thread_allocated_is_no_underflow() {
    let block = kb(64);
    std::thread::spawn(move || {
        drop(block);
        assert_eq!(current(), Bytes::ZERO);
        let (block, peak) = measure(|| kb(16));
        assert_eq!(peak, Bytes::from_kb(16));
        drop(block);
    })
    .join()
    .unwrap();
}

#[test]
fn bytes_of_another_thread_count_and_raise_no_peak() {
    let (less, peak) = measure(|| {
        let before = balance();
        take_over(5000);
        let more = balance() - before;
        take_over(-5000);
        (more, balance() - before)
    });
    assert_eq!((less, peak), ((5000, 0), Bytes::ZERO));
}

/// Tasks, wakers and signals refer to each other in circles; dropping the executor breaks them.
#[test]
fn an_executor_leaves_nothing_behind() {
    let _base = kb(1);
    let before = current();
    {
        let mut executor = Executor::new();
        let signal = Signal::new();
        for number in 0..100 {
            let (signal, spawner) = (signal.clone(), executor.spawner());
            executor.spawn(number.to_string(), async move {
                signal.wait().await;
                spawner.spawn("never", async {});
            });
        }
        executor.run_ready().unwrap();
        executor.spawn("never polled", async {});
        signal.fire();
        drop(executor);
    }
    assert_eq!(current(), before);
}

#[test]
fn a_spare_signal_needs_no_new_memory() {
    let mut spares = Spares::default();
    spares.keep(Signal::new());
    let (signal, peak) = measure(|| spares.take());
    assert!(peak.is_zero() && !signal.is_set());
    let (_, peak) = measure(|| spares.take());
    assert!(!peak.is_zero());
}

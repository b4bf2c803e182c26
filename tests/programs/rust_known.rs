//! Known answers of each kind of data that Rust programs have; prints what it computes, and ends with status 3.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc as Shared, Barrier};

struct Arc {
    ident: i64,
    cost: i64,
    spare: [i64; 6],
}

struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

enum Shape {
    Circle { radius: f64 },
    Square { side: f64, count: u32 },
    Nothing,
}

#[derive(Default)]
struct Counters {
    left: AtomicU64,
    right: AtomicU64,
}

#[inline(never)]
fn price(arcs: &mut Vec<Arc>, rounds: i64) -> i64 {
    let mut total = 0;
    for round in 0..rounds {
        for i in 0..arcs.len() {
            arcs[i].cost += round; // hot
            total += arcs[i].cost;
        }
    }
    total + arcs[0].ident + arcs[1].spare[2]
}

#[inline(never)]
fn sum_of_list(list: &Option<Box<Node>>) -> u64 {
    let (mut sum, mut at) = (0, list);
    while let Some(node) = at {
        sum += node.value;
        at = &node.next;
    }
    sum
}

#[inline(never)]
fn area(shapes: &[Shape]) -> f64 {
    let mut sum = 0.0;
    for shape in shapes {
        sum += match shape {
            Shape::Circle { radius } => radius * 3.0,
            Shape::Square { side, count } => side * f64::from(*count),
            Shape::Nothing => 0.0,
        };
    }
    sum
}

fn share_a_line() -> (u64, u64) {
    let counters = Shared::new(Counters::default());
    let both = Shared::new(Barrier::new(2));
    let threads: Vec<_> = (0..2)
        .map(|number| {
            let (counters, both) = (Shared::clone(&counters), Shared::clone(&both));
            std::thread::spawn(move || {
                let (mine, other) = match number {
                    0 => (&counters.left, &counters.right),
                    _ => (&counters.right, &counters.left),
                };
                for turn in 1..=500 {
                    mine.fetch_add(1, Ordering::Release);
                    // A thread that spun would do as many accesses as the machine's load makes it.
                    both.wait();
                    assert!(other.load(Ordering::Acquire) >= turn);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    (counters.left.load(Ordering::Relaxed), counters.right.load(Ordering::Relaxed))
}

fn fail(at: usize) -> bool {
    let caught = std::panic::catch_unwind(|| {
        let values = vec![1, 2, 3];
        values[std::hint::black_box(at)]
    });
    caught.is_err()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut arcs: Vec<Arc> = (0..1000).map(|i| Arc { ident: i, cost: i, spare: [i; 6] }).collect();
    println!("arcs {}", price(&mut arcs, 20));
    let mut list = None;
    for value in 0..500 {
        list = Some(Box::new(Node { value, next: list }));
    }
    println!("list {}", sum_of_list(&list));
    let shapes: Vec<Shape> = (0..300u32)
        .map(|i| match i % 3 {
            0 => Shape::Circle { radius: f64::from(i) },
            1 => Shape::Square { side: 2.0, count: i },
            _ => Shape::Nothing,
        })
        .collect();
    println!("area {}", area(&shapes));
    let mut map: HashMap<u64, u64> = HashMap::new();
    for i in 0..1000u64 {
        *map.entry(i * 7 % 100).or_insert(0) += i;
    }
    println!("map {}", map[&7]);
    println!("threads {:?}", share_a_line());
    println!("caught {} {}", fail(7), fail(1));
    std::process::exit(3);
}

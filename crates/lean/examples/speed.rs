fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let t = std::time::Instant::now();
    let mut net = siskin_lean::Network::read(bytes.into()).unwrap();
    println!("read {:?}", t.elapsed());
    for level in siskin_lean::Level::all()
        .into_iter()
        .skip(std::env::args().nth(2).map_or(0, |x| x.parse().unwrap()))
    {
        net = net.at_level(level);
        for n in [8usize, 128] {
            let pieces: Vec<u32> = (0..n as u32).map(|i| 1000 + i * 37).collect();
            net.run(&pieces).unwrap();
            let mut best = f64::MAX;
            for _ in 0..40 {
                let t = std::time::Instant::now();
                std::hint::black_box(net.run(&pieces).unwrap());
                best = best.min(t.elapsed().as_secs_f64());
            }
            println!("{level:?} {n}: {:.2} ms", best * 1e3);
        }
    }
}

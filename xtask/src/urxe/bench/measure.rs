//! Single measurements: how each program is run, and what it prints.

use std::time::{Duration, Instant};

use super::Bench;
use crate::demo::last_row;
use crate::error::{Error, Result};
use crate::pair::listens;
use crate::sh::{Cmd, tail};

/// The longest that one sample may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The part of the CPUs' time that others may have without a sample being dropped. With a fixed
/// priority (the second) they only get what the programs leave when they start and end.
const FOREIGN: [f64; 2] = [0.25, 0.6];

/// Bytes of a megabyte, as perftest, UCX and libfabric count them.
const MIB: f64 = 1_048_576.0;

/// Something that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measurement {
    /// A program of perftest on our device, with so many bytes.
    Perftest(&'static str, usize),
    /// Our program `verbs`: test, bytes, memory, how requests are posted.
    Verbs(&'static str, usize, &'static str, &'static str),
    /// A test of our program `limits`.
    Limit(&'static str, usize),
    /// A test of `ucx_perftest` over shared memory.
    Ucx(&'static str, usize),
    /// A test of our program `fabric`, over libfabric's shared memory.
    Fabric(&'static str, usize),
    /// Debian's `fi_pingpong` over the same.
    PingPong(usize),
}

/// What a value says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Microseconds,
    GigabytesPerSecond,
    MillionsPerSecond,
}

impl Unit {
    /// As it is printed.
    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Microseconds => "µs",
            Unit::GigabytesPerSecond => "GB/s",
            Unit::MillionsPerSecond => "M/s",
        }
    }
}

impl Measurement {
    /// What is measured.
    pub(super) fn unit(self) -> Unit {
        match self {
            Measurement::Perftest(test, size)
            | Measurement::Verbs(test, size, ..)
            | Measurement::Fabric(test, size)
            | Measurement::Ucx(test, size) => match (test.ends_with("lat"), size < 4096) {
                (true, _) => Unit::Microseconds,
                (false, true) => Unit::MillionsPerSecond,
                (false, false) => Unit::GigabytesPerSecond,
            },
            Measurement::Limit("hand-over" | "payload" | "vm-call", _) => Unit::Microseconds,
            Measurement::Limit("ring", _) => Unit::MillionsPerSecond,
            Measurement::Limit(..) => Unit::GigabytesPerSecond,
            Measurement::PingPong(_) => Unit::Microseconds,
        }
    }

    /// Measures once.
    pub(super) fn run(self, bench: &Bench) -> Result<f64> {
        match self {
            Measurement::Perftest(program, size) => perftest(bench, program, size, self.unit()),
            Measurement::Verbs(test, size, memory, post) => {
                own(bench, "verbs", &[test, &size.to_string(), memory, post])
            }
            Measurement::Limit(test, size) => own(bench, "limits", &[test, &size.to_string()]),
            Measurement::Ucx(test, size) => ucx(bench, test, size, self.unit()),
            Measurement::Fabric(test, size) => own(bench, "fabric", &[test, &size.to_string()]),
            Measurement::PingPong(size) => ping_pong(bench, size),
        }
    }
}

/// Runs a program of our own, which prints one number.
fn own(bench: &Bench, program: &str, args: &[&str]) -> Result<f64> {
    let [first, second] = bench.cpus.numbers.map(|number| number.to_string());
    let output = prefixed(bench, &bench.file(program).display().to_string())
        .args(args)
        .args([&bench.seconds, &first, &second])
        .output()?;
    let number = output.lines().last().and_then(|line| line.trim().parse().ok());
    number.ok_or_else(|| Error::new(format!("{program} {} printed: {output}", args.join(" "))))
}

/// A command with the priority.
fn prefixed(bench: &Bench, program: &str) -> Cmd {
    let (tool, options) = bench.cpus.prefix().split_first().unwrap_or((&"env", &[]));
    let log = bench.file(&format!("{}.log", program.rsplit('/').next().unwrap_or(program)));
    bench.command(tool).args(options).arg(program).log(log).timeout(TIMEOUT)
}

/// Runs a server and a client, each on its CPU; what the client printed.
fn pair(
    bench: &Bench,
    port: u16,
    adapt: impl Fn(Cmd) -> Cmd,
    server: &[&str],
    client: &[&str],
) -> Result<String> {
    let start = |program: &[&str], cpu: usize, log: &str| {
        adapt(prefixed(bench, "taskset"))
            .args(["-c", &cpu.to_string()])
            .args(program)
            .log(bench.file(log))
    };
    let (client_cpu, server_cpu) = (bench.cpus.numbers[0], bench.cpus.numbers[1]);
    let server = start(server, server_cpu, "server.log");
    let client = start(client, client_cpu, "client.log");
    std::thread::scope(|scope| {
        let server = scope.spawn(|| server.output());
        let limit = Instant::now() + Duration::from_secs(10);
        while !listens(port) && Instant::now() < limit && !server.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let found = client.output();
        let served = server.join().map_err(|_| Error::new("the server's thread ended"))?;
        let found = found?;
        served?;
        Ok(found)
    })
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    use std::sync::atomic::{AtomicU16, Ordering};
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let port = 18900 + NEXT.fetch_add(1, Ordering::Relaxed) % 1000;
        if !listens(port) {
            return port;
        }
    }
}

/// An error that shows what a program printed.
fn unreadable(program: &str, output: &str) -> Error {
    Error::new(format!("{program} printed:\n{}", tail(output, 8)))
}

fn perftest(bench: &Bench, program: &str, size: usize, unit: Unit) -> Result<f64> {
    let latency = unit == Unit::Microseconds;
    let count = match (size, latency) {
        (..4096, true) => "100000",
        (..4096, false) => "400000",
        (..1_048_576, true) => "10000",
        (..1_048_576, false) => "20000",
        (_, true) => "600",
        (_, false) => "1500",
    };
    let (port, size) = (free_port(), size.to_string());
    let port_text = port.to_string();
    let mut command =
        vec![program, "-d", "urxe0", "-x", "1", "-F", "-s", &size, "-n", count, "-p", &port_text];
    if !latency {
        command.push("--report_gbits");
    }
    let server = command.clone();
    command.push("127.0.0.1");
    let library = bench.file("libibverbs.so.1");
    let output = pair(bench, port, |cmd| cmd.env("LD_PRELOAD", &library), &server, &command)?;
    perftest_value(&output, unit).ok_or_else(|| unreadable(program, &output))
}

/// The typical latency, or the average bandwidth or rate.
fn perftest_value(output: &str, unit: Unit) -> Option<f64> {
    let row = last_row(output)?;
    let field = |place: usize| row.get(place)?.parse::<f64>().ok();
    match unit {
        Unit::Microseconds => field(4),
        Unit::GigabytesPerSecond => Some(field(3)? / 8.0),
        Unit::MillionsPerSecond => field(4),
    }
}

fn ucx(bench: &Bench, test: &str, size: usize, unit: Unit) -> Result<f64> {
    let count = match (size, unit) {
        (..4096, Unit::Microseconds) => "300000",
        (..4096, _) => "2000000",
        (..1_048_576, _) => "20000",
        _ => "1500",
    };
    let warm_up = if size < 4096 { "10000" } else { "100" };
    // Getting is one test for both.
    let name = if test == "ucp_get_lat" { "ucp_get" } else { test };
    let (port, size) = (free_port(), size.to_string());
    let port_text = port.to_string();
    let server = ["ucx_perftest", "-p", &port_text];
    let client = [
        "ucx_perftest",
        "-p",
        &port_text,
        "127.0.0.1",
        "-t",
        name,
        "-s",
        &size,
        "-n",
        count,
        "-w",
        warm_up,
        "-f",
        "-v",
    ];
    let output = pair(bench, port, |cmd| cmd.env("UCX_TLS", "posix,cma,self"), &server, &client)?;
    ucx_value(&output, unit).ok_or_else(|| unreadable("ucx_perftest", &output))
}

/// The median latency, or the overall bandwidth or rate, of the line with commas.
fn ucx_value(output: &str, unit: Unit) -> Option<f64> {
    let numbers = |line: &str| {
        line.split(',').map(|field| field.trim().parse().ok()).collect::<Option<Vec<f64>>>()
    };
    let row = output.lines().filter_map(numbers).rfind(|row| row.len() == 8)?;
    Some(match unit {
        Unit::Microseconds => row[1],
        Unit::GigabytesPerSecond => row[5] * MIB / 1e9,
        Unit::MillionsPerSecond => row[7] / 1e6,
    })
}

fn ping_pong(bench: &Bench, size: usize) -> Result<f64> {
    let count = match size {
        ..4096 => "100000",
        4096..1_048_576 => "10000",
        _ => "600",
    };
    let (port, size) = (free_port(), size.to_string());
    let port_text = port.to_string();
    let common = ["fi_pingpong", "-p", "shm", "-e", "rdm", "-I", count, "-S", &size];
    let server = [&common[..], &["-B", &port_text]].concat();
    let client = [&common[..], &["-P", &port_text, "127.0.0.1"]].concat();
    let output = pair(bench, port, |cmd| cmd, &server, &client)?;
    ping_pong_value(&output).ok_or_else(|| unreadable("fi_pingpong", &output))
}

/// The column `usec/xfer` of the last row.
fn ping_pong_value(output: &str) -> Option<f64> {
    let row: Vec<&str> = output.lines().last()?.split_whitespace().collect();
    if row.len() == 8 { row[6].parse().ok() } else { None }
}

/// All samples of a run.
#[derive(Debug)]
pub(super) struct Samples {
    all: Vec<(Measurement, Vec<Sample>)>,
    /// The most that others may have had.
    allowed: f64,
}

/// A value, and how much of the CPUs others had meanwhile.
#[derive(Clone, Copy, Debug)]
struct Sample {
    value: f64,
    foreign: f64,
}

/// What the samples of a measurement say together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// Whether there were only samples that others disturbed.
    pub(super) is_disturbed: bool,
}

impl Samples {
    /// Without samples yet.
    pub(super) fn new(measurements: Vec<Measurement>, is_fixed: bool) -> Samples {
        let all = measurements.into_iter().map(|it| (it, Vec::new())).collect();
        Samples { all, allowed: FOREIGN[usize::from(is_fixed)] }
    }

    /// Adds a sample; whether it will be dropped.
    pub(super) fn add(&mut self, of: &Measurement, value: f64, foreign: f64) -> bool {
        if let Some((_, samples)) = self.all.iter_mut().find(|(it, _)| it == of) {
            samples.push(Sample { value, foreign });
        }
        foreign > self.allowed
    }

    /// The median of what was not disturbed; of all if everything was.
    pub(super) fn summary(&self, of: Measurement) -> Option<Summary> {
        let (_, samples) = self.all.iter().find(|(it, _)| *it == of)?;
        let is_good = |sample: &&Sample| sample.foreign <= self.allowed;
        let is_disturbed = !samples.iter().any(|sample| is_good(&sample));
        let chosen = samples.iter().filter(|sample| is_disturbed || is_good(sample));
        let mut values: Vec<f64> = chosen.map(|sample| sample.value).collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            (values[middle - 1] + values[middle]) / 2.0
        };
        Some(Summary { median, least, most, is_disturbed })
    }

    /// A line for each sample: what, value, unit, load of others.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for (measurement, samples) in &self.all {
            for Sample { value, foreign } in samples {
                let unit = measurement.unit().name();
                text.push_str(&format!("{measurement:?}\t{value}\t{unit}\t{foreign:.2}\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Measurement, Samples, Summary, Unit, perftest_value, ping_pong_value, ucx_value};

    #[test]
    fn values_of_perftest() {
        let latency = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec] ...\n \
                       8       100000          0.61           43.04        0.91     \t       0.97 \
                       \t0.70   \t\t1.45    \t\t8.55   \n-----\n";
        assert_eq!(perftest_value(latency, Unit::Microseconds), Some(0.91));
        let bandwidth = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec] ...\n \
                         65536      50000            0.00               54.58  \t\t   0.104109\n";
        assert_eq!(perftest_value(bandwidth, Unit::GigabytesPerSecond), Some(54.58 / 8.0));
        assert_eq!(perftest_value(bandwidth, Unit::MillionsPerSecond), Some(0.104109));
        assert_eq!(perftest_value("Couldn't connect\n", Unit::Microseconds), None);
    }

    #[test]
    fn values_of_ucx() {
        let output = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,...\n\
                      100000,1.333,1.632,1.632,38308.29,1000,612933,2000000\n";
        assert_eq!(ucx_value(output, Unit::Microseconds), Some(1.333));
        assert_eq!(ucx_value(output, Unit::GigabytesPerSecond), Some(1.048576));
        assert_eq!(ucx_value(output, Unit::MillionsPerSecond), Some(2.0));
        assert_eq!(ucx_value("no route", Unit::Microseconds), None);
    }

    #[test]
    fn value_of_fi_pingpong() {
        let output = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n\
                      8       100k    =100k    1.5m        0.06s     28.79       0.28       3.60\n";
        assert_eq!(ping_pong_value(output), Some(0.28));
        assert_eq!(ping_pong_value("error"), None);
    }

    #[test]
    fn medians_leave_out_what_others_disturbed() {
        let what = Measurement::Limit("ring", 8);
        let mut samples = Samples::new(vec![what], false);
        assert_eq!(samples.summary(what), None);
        assert!(samples.add(&what, 9.0, 0.9));
        let only_bad = Summary { median: 9.0, least: 9.0, most: 9.0, is_disturbed: true };
        assert_eq!(samples.summary(what), Some(only_bad));
        for value in [3.0, 1.0, 2.0, 4.0] {
            assert!(!samples.add(&what, value, 0.1));
        }
        let good = Summary { median: 2.5, least: 1.0, most: 4.0, is_disturbed: false };
        assert_eq!(samples.summary(what), Some(good));
    }
}

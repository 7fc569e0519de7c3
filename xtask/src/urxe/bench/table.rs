//! The rows of the table: what is compared with what, and what is to be reached.

use super::measure::{Measurement, Samples, Unit};
use Measurement::{Fabric, Limit, Perftest, PingPong, Ucx, Verbs};

/// A row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) title: String,
    ours: Measurement,
    peers: Vec<Measurement>,
    goals: Vec<Goal>,
}

/// What is to be reached: so many times the sum of some values of the same run, at most for times,
/// at least for bandwidths and rates.
#[derive(Debug)]
enum Goal {
    Ratio(f64, Vec<Measurement>),
    /// A rate that does not depend on the run.
    Number(f64),
}

const KIB64: usize = 65_536;
const MIB: usize = 1_048_576;

/// All rows.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |ours, peers: &[Measurement], goals: Vec<Goal>| {
        rows.push(Row { title: title(ours), ours, peers: peers.to_vec(), goals });
    };
    let one = |factor, of| vec![Goal::Ratio(factor, vec![of])];
    // What a program of one's own gets.
    let tag = Ucx("tag_lat", 8);
    row(
        Verbs("send-lat", 8, "ordinary", "one"),
        &[tag, Fabric("tag-lat", 8), Limit("hand-over", 0)],
        one(1.0, tag),
    );
    let call_and_hand_over = vec![Limit("vm-call", 8), Limit("hand-over", 0)];
    row(
        Verbs("write-lat", 8, "ordinary", "one"),
        &call_and_hand_over,
        vec![Goal::Ratio(1.5, call_and_hand_over.clone())],
    );
    row(
        Verbs("write-lat", 8, "buf", "one"),
        &[Ucx("ucp_put_lat", 8), Limit("payload", 8)],
        one(1.3, Limit("payload", 8)),
    );
    for post in ["one", "list"] {
        for (test, limit) in [("write-bw", "vm-write"), ("read-bw", "vm-read")] {
            for size in [KIB64, MIB] {
                let (limit, ucx) = (Limit(limit, size), Ucx("tag_bw", size));
                row(
                    Verbs(test, size, "ordinary", post),
                    &[limit, ucx],
                    vec![Goal::Ratio(0.9, vec![limit]), Goal::Ratio(1.0, vec![ucx])],
                );
            }
        }
        for (test, ucx) in [("write-bw", "ucp_put_bw"), ("read-bw", "ucp_get")] {
            for size in [KIB64, MIB] {
                let limit = Limit("copy", size);
                row(Verbs(test, size, "buf", post), &[limit, Ucx(ucx, size)], one(0.9, limit));
            }
        }
        let fabric = Fabric("tag-bw", 8);
        row(
            Verbs("send-bw", 8, "ordinary", post),
            &[fabric, Ucx("tag_bw", 8), Limit("ring", 8)],
            vec![Goal::Ratio(1.0, vec![fabric]), Goal::Number(11.0)],
        );
        row(
            Verbs("write-bw", 8, "buf", post),
            &[Ucx("ucp_put_bw", 8), Limit("ring", 8)],
            vec![Goal::Number(25.0)],
        );
    }
    // What perftest gets, on ordinary memory.
    for size in [8, KIB64, MIB] {
        row(
            Perftest("ib_send_lat", size),
            &[Ucx("tag_lat", size), PingPong(size)],
            if size == 8 { one(1.0, tag) } else { Vec::new() },
        );
        let floor = if size == 8 { call_and_hand_over.clone() } else { Vec::new() };
        let goal =
            if size == 8 { vec![Goal::Ratio(1.5, call_and_hand_over.clone())] } else { Vec::new() };
        row(
            Perftest("ib_write_lat", size),
            &[floor, vec![Ucx("ucp_put_lat", size)]].concat(),
            goal,
        );
        row(Perftest("ib_read_lat", size), &[Ucx("ucp_get_lat", size)], Vec::new());
    }
    for (program, limit) in
        [("ib_send_bw", "vm-write"), ("ib_write_bw", "vm-write"), ("ib_read_bw", "vm-read")]
    {
        row(Perftest(program, 8), &[Ucx("tag_bw", 8)], Vec::new());
        for size in [KIB64, MIB] {
            let (limit, ucx) = (Limit(limit, size), Ucx("tag_bw", size));
            let goals = vec![Goal::Ratio(0.9, vec![limit]), Goal::Ratio(1.0, vec![ucx])];
            row(Perftest(program, size), &[limit, ucx], goals);
        }
    }
    rows
}

impl Row {
    /// Everything that it needs.
    pub(super) fn measurements(&self) -> Vec<Measurement> {
        let mut all = vec![self.ours];
        all.extend(&self.peers);
        for goal in &self.goals {
            if let Goal::Ratio(_, of) = goal {
                all.extend(of);
            }
        }
        all
    }

    /// The line of the row.
    fn print(&self, samples: &Samples) -> String {
        let Some(ours) = samples.summary(self.ours) else { return self.title.clone() };
        let unit = self.ours.unit();
        let peers = self.peers.iter().filter_map(|peer| {
            let of = samples.summary(*peer)?.median;
            let ratio =
                if peer.unit() == unit && of > 0.0 { ours.median / of } else { return None };
            Some(format!("{} {} ({ratio:.2})", title(*peer), short(of)))
        });
        let peers = peers.collect::<Vec<_>>().join(", ");
        let goals = self.goals.iter().filter_map(|goal| goal.verdict(ours.median, unit, samples));
        let mark = if ours.is_disturbed { "!" } else { "" };
        format!(
            "{:34} {:>7} {:4} {:15} {}\n{:34} {peers}",
            self.title,
            format!("{}{mark}", short(ours.median)),
            unit.name(),
            format!("[{}-{}]", short(ours.least), short(ours.most)),
            goals.collect::<Vec<_>>().join("; "),
            ""
        )
    }
}

impl Goal {
    /// Whether a value reaches the goal, in words.
    fn verdict(&self, value: f64, unit: Unit, samples: &Samples) -> Option<String> {
        let (wanted, of) = match self {
            Goal::Number(number) => (*number, String::new()),
            Goal::Ratio(factor, of) => {
                let values = of.iter().map(|it| Some(samples.summary(*it)?.median));
                let sum: f64 = values.sum::<Option<f64>>()?;
                let names = of.iter().map(|it| title(*it)).collect::<Vec<_>>().join(" + ");
                let names = if of.len() > 1 { format!("({names})") } else { names };
                (factor * sum, format!(" = {factor} x {names}"))
            }
        };
        let (sign, is_reached) = if unit == Unit::Microseconds {
            ("<=", value <= wanted)
        } else {
            (">=", value >= wanted)
        };
        let verdict = if is_reached { "reached" } else { "NOT reached" };
        Some(format!("{verdict}: {sign} {}{of}", short(wanted)))
    }
}

/// A number with three digits that count.
fn short(value: f64) -> String {
    match value {
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The name of a measurement.
fn title(of: Measurement) -> String {
    let bytes = |size| match size {
        KIB64 => "64 KiB".to_owned(),
        MIB => "1 MiB".to_owned(),
        size => format!("{size} B"),
    };
    match of {
        Perftest(program, size) => format!("{program} {}", bytes(size)),
        Verbs(test, size, memory, post) => {
            let memory = if memory == "buf" { " alloc_buf" } else { "" };
            let post = if post == "list" { ", lists" } else { "" };
            format!("{test} {}{memory}{post}", bytes(size))
        }
        Limit("hand-over", _) => "hand-over".to_owned(),
        Limit(test, size) => format!("{test} {}", bytes(size)),
        Ucx(test, size) => format!("UCX {} {}", test.trim_start_matches("ucp_"), bytes(size)),
        Fabric(test, size) => format!("libfabric {test} {}", bytes(size)),
        PingPong(size) => format!("fi_pingpong {}", bytes(size)),
    }
}

/// The whole table.
pub(super) fn print(rows: &[Row], samples: &Samples) -> String {
    let mut text = format!(
        "\nmedians [least-most]; beside each peer the ratio ours/peer; memory is ordinary, or of \
         ibv_alloc_buf\n\n{:34} {:>7}\n",
        "", "ours"
    );
    for row in rows {
        text.push_str(&row.print(samples));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Measurement, Samples};
    use super::{Goal, print, rows, short};

    #[test]
    fn every_row_has_a_title_of_its_own() {
        let mut titles: Vec<String> = rows().into_iter().map(|row| row.title).collect();
        let count = titles.len();
        titles.sort();
        titles.dedup();
        assert_eq!(titles.len(), count);
    }

    #[test]
    fn goals_are_below_for_times_and_above_for_rates() {
        let (time, rate) = (Measurement::Limit("hand-over", 0), Measurement::Limit("ring", 8));
        let mut samples = Samples::new(vec![time, rate], false);
        samples.add(&time, 2.0, 0.0);
        samples.add(&rate, 2.0, 0.0);
        let reached = |of: Measurement, value| {
            let goal = Goal::Ratio(1.5, vec![of]);
            goal.verdict(value, of.unit(), &samples).unwrap().starts_with("reached")
        };
        assert!(reached(time, 3.0) && !reached(time, 3.1));
        assert!(reached(rate, 3.0) && !reached(rate, 2.9));
        let unknown = Goal::Ratio(1.0, vec![Measurement::PingPong(8)]);
        assert_eq!(unknown.verdict(1.0, time.unit(), &samples), None);
    }

    #[test]
    fn a_row_shows_values_and_ratios() {
        let row = rows().remove(0);
        let mut samples = Samples::new(row.measurements(), false);
        for (value, measurement) in [3.0, 2.0, 1.5, 1.0].iter().zip(row.measurements()) {
            samples.add(&measurement, *value, 0.0);
        }
        let text = print(&[row], &samples);
        assert!(text.contains("UCX tag_lat 8 B 2.00 (1.50)"), "{text}");
        assert!(text.contains("NOT reached: <= 2.00"), "{text}");
    }

    #[test]
    fn three_digits() {
        assert_eq!([short(0.1234), short(12.34), short(123.4)], ["0.12", "12.3", "123"]);
    }
}

//! Output of programs without what differs from run to run: numbers, addresses, units of time.

/// The units that change with the size of the number in front of them.
const UNITS: [&str; 10] =
    ["ns", "us", "ms", "sec", "bytes/sec", "KB/sec", "MB/sec", "GB/sec", "Kb/sec", "Gb/sec"];

/// The units that stand right behind their number.
const SUFFIXES: [&str; 6] = ["us", "ms", "s", "k", "m", "g"];

/// How lines begin that come or not as threads are scheduled: what perftest says on a machine that
/// is too busy to tell its own clock rate (its results are then no numbers), and what a thread of
/// rping says of the end unless the process is faster.
const CHANCE: [&str; 3] =
    ["Correlation coefficient", "client DISCONNECT EVENT", "server DISCONNECT EVENT"];

/// `text` with each number as `N`, each unit after a number as `U`, and single spaces.
pub(super) fn normalised(text: &str) -> String {
    let by_chance = |line: &&str| CHANCE.iter().any(|start| line.starts_with(start));
    let lines = text.lines().filter(|line| !by_chance(line));
    lines.map(|line| normalised_line(line) + "\n").collect()
}

/// One line of it.
fn normalised_line(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let after_number = words.last().is_some_and(|last| last == "N");
        if after_number && UNITS.contains(&word) {
            words.push("U".to_owned());
        } else if is_number(word.trim_start_matches('-')) {
            words.push("N".to_owned());
        } else {
            words.push(normalised_word(word));
        }
    }
    words.join(" ")
}

/// A word with the numbers in it replaced.
fn normalised_word(word: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let mut result = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (run, more) = rest.split_at(end);
        result.push_str(if is_number(run) { "N" } else { run });
        let next = more.find(is_part).unwrap_or(more.len());
        result.push_str(&more[..next]);
        rest = &more[next..];
    }
    result
}

/// Whether a run of letters, digits and points is a decimal or hexadecimal number, or no number of
/// the kind that a division by zero gives.
fn is_number(run: &str) -> bool {
    if run == "inf" || run == "nan" {
        return true;
    }
    let number = SUFFIXES.iter().find_map(|suffix| run.strip_suffix(suffix)).unwrap_or(run);
    let digits = number.strip_prefix("0x").unwrap_or(number);
    let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit() || c == '.');
    hexadecimal && (number.starts_with("0x") || digits.contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::normalised;

    #[test]
    fn numbers_and_their_units_go() {
        assert_eq!(
            normalised("  8192 bytes in 0.01 seconds = 12.5 Mbit/sec\n"),
            "N bytes in N seconds = N Mbit/sec\n"
        );
        assert_eq!(normalised("latency  =  95.2 us\n"), normalised("latency = 1.3 ms\n"));
        assert_eq!(normalised("1024 -5 -nan inf 0.05s 160k\n"), "N N N N N N\n");
        assert_eq!(normalised("QPN 0x000011, PSN 0x2bcafe,"), "QPN N, PSN N,\n");
        assert_eq!(normalised("GID: 00:00:fe:10:255"), "GID: N:N:fe:N:N\n");
    }

    #[test]
    fn words_stay() {
        let text = "local address: dead feed ib_send_bw rdma-ping-0:\n";
        assert_eq!(normalised(text), "local address: dead feed ib_send_bw rdma-ping-N:\n");
        assert_eq!(normalised("rxe0 is up"), "rxe0 is up\n");
    }

    #[test]
    fn chance_goes() {
        assert_eq!(normalised("a\nclient DISCONNECT EVENT...\nb\n"), "a\nb\n");
    }
}

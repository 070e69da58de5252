//! What the steps of `cargo xtask test` gave: counts read from their output, the table.

use std::time::Duration;

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
}

impl Counts {
    /// Adds what a line of output counts: cargo's `test result: …`, Node's `# pass N`, and `Ran N tests` of
    /// Python's unittest, whose next line takes failures back: `FAILED (failures=N, errors=N)`.
    pub fn add_line(&mut self, line: &str) {
        if let Some(result) = line.trim_start().strip_prefix("test result: ") {
            self.passed += number_before(result, " passed");
            self.failed += number_before(result, " failed");
        } else if let Some(summary) = node_summary(line) {
            self.passed += number_after(summary, "pass ");
            self.failed += number_after(summary, "fail ");
        } else if let Some(ran) = line.strip_prefix("Ran ") {
            self.passed += number_before(ran, " test");
        } else if let Some(failures) = line.strip_prefix("FAILED (") {
            let failed = failures
                .trim_end_matches(')')
                .split(", ")
                .map(|words| number_after(words, "failures=") + number_after(words, "errors="))
                .sum();
            self.passed = self.passed.saturating_sub(failed);
            self.failed += failed;
        }
    }

    fn is_empty(self) -> bool {
        self == Self::default()
    }
}

fn number_before(text: &str, unit: &str) -> u64 {
    let end = text.find(unit).unwrap_or(0);
    let digits = text.get(..end).unwrap_or_default();
    let last_word = digits.rsplit([' ', ';']).next().unwrap_or_default();
    last_word.parse().unwrap_or(0)
}

fn number_after(text: &str, label: &str) -> u64 {
    text.strip_prefix(label)
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// The text after the mark of a summary line of Node's test runner (`#` or `ℹ`).
fn node_summary(line: &str) -> Option<&str> {
    line.strip_prefix("# ")
        .or_else(|| line.strip_prefix("\u{2139} "))
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it should.
    Passed,
    /// It said what is wrong.
    Failed,
    /// Not run, because a step that it needs failed; counts as failed.
    Blocked,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// Its name on the command line.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Wall-clock time.
    pub duration: Duration,
    /// The step's own tests, if it prints how many there were.
    pub tests: Counts,
}

impl StepResult {
    /// The step's own tests where it has any, itself otherwise; at least one failure for a
    /// step that did not pass.
    fn counts(&self) -> Counts {
        let passed = self.outcome == Outcome::Passed;
        let mut counts = self.tests;
        if counts.is_empty() && passed {
            counts.passed = 1;
        }
        if counts.failed == 0 && !passed {
            counts.failed = 1;
        }
        counts
    }
}

/// The sum over the steps.
pub fn total(results: &[StepResult]) -> Counts {
    results.iter().fold(Counts::default(), |sum, result| {
        let counts = result.counts();
        Counts {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
        }
    })
}

/// The table of steps, ending with the line `N passed, N failed`.
pub fn table(results: &[StepResult]) -> String {
    let header = format!("{:<12} {:<8} {:>8}  tests", "step", "outcome", "seconds");
    let rows = results.iter().map(row);
    let sum = total(results);
    let last = format!("{} passed, {} failed", sum.passed, sum.failed);
    std::iter::once(header)
        .chain(rows)
        .chain(std::iter::once(last))
        .collect::<Vec<_>>()
        .join("\n")
}

fn row(result: &StepResult) -> String {
    let outcome = match result.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "FAILED",
        Outcome::Blocked => "blocked",
    };
    let tests = match result.tests {
        tests if tests.is_empty() => String::new(),
        Counts { passed, failed } => format!("{passed} passed, {failed} failed"),
    };
    let seconds = result.duration.as_secs_f64();
    format!("{:<12} {outcome:<8} {seconds:>8.1}  {tests}", result.name)
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_of(output: &str) -> Counts {
        let mut counts = Counts::default();
        output.lines().for_each(|line| counts.add_line(line));
        counts
    }

    fn step(name: &str, outcome: Outcome, passed: u64, failed: u64) -> StepResult {
        StepResult {
            name: name.to_owned(),
            outcome,
            duration: Duration::from_millis(1500),
            tests: Counts { passed, failed },
        }
    }

    #[test]
    fn cargos_results_are_summed_over_binaries() {
        let output = "running 3 tests\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
            test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured\n";
        assert_eq!(
            counts_of(output),
            Counts {
                passed: 13,
                failed: 2
            }
        );
    }

    #[test]
    fn nodes_results_are_read_in_both_of_its_formats() {
        let tap = "# tests 5\n# pass 4\n# fail 1\n# cancelled 0";
        let spec = "\u{2139} tests 7\n\u{2139} pass 7\n\u{2139} fail 0";
        assert_eq!(
            counts_of(tap),
            Counts {
                passed: 4,
                failed: 1
            }
        );
        assert_eq!(
            counts_of(spec),
            Counts {
                passed: 7,
                failed: 0
            }
        );
    }

    #[test]
    fn pythons_results_are_read_in_both_of_its_lines() {
        let output = "....\nRan 7 tests in 0.1s\n\nOK\n\
            Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)";
        assert_eq!(
            counts_of(output),
            Counts {
                passed: 9,
                failed: 3
            }
        );
    }

    #[test]
    fn a_test_that_merely_talks_of_results_is_not_counted() {
        assert_eq!(
            counts_of("the test result: 5 passed\npass 9\nit Ran 3 tests\nit FAILED (errors=1)"),
            Counts::default()
        );
    }

    #[test]
    fn a_step_without_tests_counts_once() {
        let results = [
            step("format", Outcome::Passed, 0, 0),
            step("rust", Outcome::Passed, 40, 0),
        ];
        assert_eq!(
            total(&results),
            Counts {
                passed: 41,
                failed: 0
            }
        );
    }

    #[test]
    fn failed_and_blocked_steps_never_count_as_nothing() {
        let results = [
            step("rust", Outcome::Failed, 40, 0),
            step("wasm", Outcome::Failed, 3, 2),
            step("browser", Outcome::Blocked, 0, 0),
        ];
        assert_eq!(
            total(&results),
            Counts {
                passed: 43,
                failed: 4
            }
        );
    }

    #[test]
    fn the_table_ends_with_the_sum() {
        let table = table(&[
            step("format", Outcome::Passed, 0, 0),
            step("rust", Outcome::Failed, 8, 1),
        ]);
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines[1], "format       passed        1.5");
        assert_eq!(
            lines[2],
            "rust         FAILED        1.5  8 passed, 1 failed"
        );
        assert_eq!(lines[3], "9 passed, 1 failed");
    }
}

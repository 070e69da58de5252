//! `cargo xtask test`: every check, in order of speed.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::process::{self, say};
use crate::report::{self, Counts, Outcome, StepResult};
use crate::workspace::Workspace;
use crate::{base_model, binary, demo, dist, npm, package, setup, sites};

/// Options of the tests.
#[derive(Args)]
pub struct Arguments {
    /// Run only this step, on what earlier runs built; may be given several times.
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
    /// Leave out this step; may be given several times.
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,
    /// Also run the steps that take long: `crates`, `generators`, `integrations`.
    #[arg(long)]
    long: bool,
    /// Name the steps and stop.
    #[arg(long)]
    list: bool,
}

/// The steps, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Install what is missing.
    Setup,
    /// cargo fmt --check.
    Format,
    /// TypeScript's types and biome's rules.
    Types,
    /// clippy on every target, warnings denied.
    Clippy,
    /// Rust unit, integration and documentation tests.
    Rust,
    /// The wasm modules and the bundled JavaScript.
    Dist,
    /// The package's own modules in Node; what integrations share; how the project's site treats documents.
    Unit,
    /// The comparison's own rendering, counting and reporting.
    Bench,
    /// The sample sites, copied and indexed; the project's own site, built and indexed.
    Site,
    /// The wasm modules in Node, on the sample site.
    Wasm,
    /// The edge worker in workerd, on the sample site.
    Edge,
    /// Chromium, Firefox and WebKitGTK end to end on the sample site.
    Browser,
    /// The packages of a release, installed in empty folders and used there, in bundled pages too.
    Packages,
    /// With --long: the command installed from its packed crates, which compiles all of it anew.
    Crates,
    /// With --long: ten generators build the documentation of tests/sites anew, and it is read.
    Generators,
    /// With --long: generators build that documentation with Siskin's packages for them; Chromium asks it.
    Integrations,
}

impl Step {
    /// Steps without whose success this one cannot say anything.
    fn needs(self) -> &'static [Self] {
        match self {
            Self::Setup | Self::Format | Self::Clippy | Self::Rust | Self::Generators => &[],
            Self::Types | Self::Dist | Self::Unit | Self::Bench => &[Self::Setup],
            Self::Site | Self::Packages => &[Self::Dist],
            Self::Wasm | Self::Edge | Self::Browser => &[Self::Site],
            Self::Crates | Self::Integrations => &[Self::Packages],
        }
    }

    fn is_long(self) -> bool {
        matches!(self, Self::Crates | Self::Generators | Self::Integrations)
    }

    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn help(self) -> String {
        self.to_possible_value()
            .and_then(|value| value.get_help().map(ToString::to_string))
            .unwrap_or_default()
    }

    /// Does the step's work; adds the tests that it prints to `tests`.
    fn run(self, workspace: &Workspace, tests: &mut Counts) -> Result<()> {
        match self {
            Self::Setup => setup::everything(workspace),
            Self::Dist => dist::run(workspace),
            Self::Site => index_sites(workspace),
            Self::Format => process::run(&mut cargo(workspace, &FORMAT)),
            Self::Clippy => process::run(&mut cargo(workspace, &CLIPPY)),
            Self::Rust => run_rust(workspace, tests),
            Self::Types => process::run(&mut npm::script(workspace, "lint")),
            Self::Unit => run_unit(workspace, tests),
            Self::Bench => run_bench(workspace, tests),
            Self::Wasm => run_counted(&mut npm::script(workspace, "test:wasm"), tests),
            Self::Edge => run_counted(&mut npm::script(workspace, "test:edge"), tests),
            Self::Browser => run_counted(&mut npm::script(workspace, "test:browser"), tests),
            Self::Packages => run_packages(workspace, tests),
            Self::Crates => package::check_crates(workspace),
            Self::Generators => run_generators(workspace, tests),
            Self::Integrations => run_integrations(workspace, tests),
        }
    }
}

fn index_sites(workspace: &Workspace) -> Result<()> {
    binary::compile(workspace, binary::SISKIN)?;
    sites::index_sample(workspace)?;
    sites::index_starlight(workspace)?;
    demo::build_for_tests(workspace)
}

const FORMAT: [&str; 3] = ["fmt", "--all", "--check"];

const CLIPPY: [&str; 8] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--release",
    "--locked",
    "--",
    "-D",
    "warnings",
];

const RUST: [&str; 5] = [
    "test",
    "--workspace",
    "--release",
    "--locked",
    "--no-fail-fast",
];

const GENERATORS: [&str; 6] = [
    "test",
    "--workspace",
    "--release",
    "--locked",
    "--test",
    "generators",
];

/// Runs the steps and prints the table; exit code 1 if one did not pass.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        Step::value_variants()
            .iter()
            .for_each(|step| println!("{:<12} {}", step.name(), step.help()));
        return Ok(ExitCode::SUCCESS);
    }
    let results = run_steps(workspace, &chosen(arguments));
    println!("\n{}", report::table(&results));
    if report::total(&results).failed > 0 {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn chosen(arguments: &Arguments) -> Vec<Step> {
    Step::value_variants()
        .iter()
        .copied()
        .filter(|step| match arguments.only.is_empty() {
            true => arguments.long || !step.is_long(),
            false => arguments.only.contains(step),
        })
        .filter(|step| !arguments.skip.contains(step))
        .collect()
}

fn run_steps(workspace: &Workspace, steps: &[Step]) -> Vec<StepResult> {
    let mut broken = Vec::new();
    let mut results = Vec::new();
    for &step in steps {
        let result = if step.needs().iter().any(|needed| broken.contains(needed)) {
            blocked(step)
        } else {
            run_step(workspace, step)
        };
        if result.outcome != Outcome::Passed {
            broken.push(step);
        }
        results.push(result);
    }
    results
}

fn blocked(step: Step) -> StepResult {
    StepResult {
        name: step.name(),
        outcome: Outcome::Blocked,
        duration: std::time::Duration::ZERO,
        tests: Counts::default(),
    }
}

fn run_step(workspace: &Workspace, step: Step) -> StepResult {
    say(&format!("test {}: {}", step.name(), step.help()));
    let start = Instant::now();
    let mut tests = Counts::default();
    let outcome = match step.run(workspace, &mut tests) {
        Ok(()) => Outcome::Passed,
        Err(error) => {
            eprintln!("error: {error:#}");
            Outcome::Failed
        }
    };
    StepResult {
        name: step.name(),
        outcome,
        duration: start.elapsed(),
        tests,
    }
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = workspace.command("cargo");
    command.args(arguments);
    command
}

/// The tests of training read the base model's own weights.
fn run_rust(workspace: &Workspace, tests: &mut Counts) -> Result<()> {
    base_model::ensure(workspace)?;
    run_counted(&mut cargo(workspace, &RUST), tests)
}

/// Sites as their generators build them today, in place of those committed.
fn run_generators(workspace: &Workspace, tests: &mut Counts) -> Result<()> {
    let sites = workspace.target().join("sites");
    let mut build = workspace.command("bash");
    process::run(build.arg("tests/sites/build.sh").arg("--out").arg(&sites))?;
    let mut read = cargo(workspace, &GENERATORS);
    run_counted(read.env("SISKIN_SITES_DIR", &sites), tests)
}

fn run_packages(workspace: &Workspace, tests: &mut Counts) -> Result<()> {
    npm::install_bundlers(workspace)?;
    package::run(workspace)?;
    run_counted(&mut npm::script(workspace, "test:packages"), tests)
}

/// Sites with the packages of `www/integrations`, which use those that step `packages` has left.
fn run_integrations(workspace: &Workspace, tests: &mut Counts) -> Result<()> {
    let sites = workspace.target().join("integrations");
    let mut build = workspace.command("bash");
    build
        .args(["tests/integrations/build.sh", "--out"])
        .arg(&sites)
        .env("SISKIN_BINARY", binary::path(workspace, binary::SISKIN))
        .env("SISKIN_PACKAGES", workspace.target().join("packages"));
    process::run(&mut build)?;
    let mut ask = npm::script(workspace, "test:integrations");
    run_counted(ask.env("SISKIN_INTEGRATIONS_DIR", &sites), tests)
}

fn run_unit(workspace: &Workspace, tests: &mut Counts) -> Result<()> {
    run_counted(&mut npm::script(workspace, "test:unit"), tests)?;
    let mut python = workspace.command("python3");
    python.arg("www/integrations/shared-python/test_options.py");
    run_counted(&mut python, tests)?;
    npm::install_site_packages(workspace)?;
    run_counted(&mut npm::site_tests(workspace), tests)
}

fn run_bench(workspace: &Workspace, tests: &mut Counts) -> Result<()> {
    npm::install_bench_packages(workspace)?;
    run_counted(&mut npm::bench_tests(workspace), tests)
}

/// Runs the command, passes its output on line by line, and counts the tests in it.
fn run_counted(command: &mut Command, tests: &mut Counts) -> Result<()> {
    eprintln!("    $ {}", process::describe(command));
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| process::cannot_start(command))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.context("a test printed bytes that are not UTF-8")?;
            println!("{line}");
            tests.add_line(&line);
        }
    }
    process::check(command, child.wait()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(only: &[Step], skip: &[Step]) -> Arguments {
        Arguments {
            only: only.to_vec(),
            skip: skip.to_vec(),
            long: false,
            list: false,
        }
    }

    #[test]
    fn all_steps_but_long_ones_run_unless_told_otherwise() {
        let mut all = arguments(&[], &[]);
        let steps = Step::value_variants();
        let short = steps.iter().copied().filter(|step| !step.is_long());
        assert_eq!(chosen(&all), short.collect::<Vec<_>>());
        assert!(chosen(&all).len() < steps.len());
        assert_eq!(
            chosen(&arguments(&[Step::Generators], &[])),
            [Step::Generators]
        );
        all.long = true;
        assert_eq!(chosen(&all), steps);
        assert_eq!(
            chosen(&arguments(&[Step::Wasm, Step::Dist], &[])),
            [Step::Dist, Step::Wasm]
        );
        assert!(!chosen(&arguments(&[], &[Step::Clippy])).contains(&Step::Clippy));
    }

    #[test]
    fn a_step_comes_after_those_it_needs() {
        let steps = Step::value_variants();
        let place = |step: &Step| steps.iter().position(|other| other == step);
        for step in steps {
            for needed in step.needs() {
                assert!(place(needed) < place(step), "{step:?} before {needed:?}");
            }
        }
    }

    #[test]
    fn counted_output_is_counted_even_if_the_command_fails() {
        let mut tests = Counts::default();
        let script = "echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored'; exit 1";
        let result = run_counted(Command::new("sh").args(["-c", script]), &mut tests);
        assert!(result.is_err());
        assert_eq!((tests.passed, tests.failed), (2, 1));
    }
}

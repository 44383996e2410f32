//! Runs a command, and beside it a control plane for each platform, which the tests of all its processes share.
//!
//! Usage: `control-planes COMMAND…`

#![allow(clippy::print_stderr, reason = "a program of tests")]

use std::{
    path::Path,
    process::{Command, ExitCode},
    sync::mpsc,
    thread,
};

use landfall_testkit::{
    ControlPlane,
    shared_planes::{PLATFORMS, VARIABLE, of},
};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let Some((program, rest)) = arguments.split_first() else {
        eprintln!("usage: control-planes COMMAND…");
        return ExitCode::from(2);
    };
    let home = match tempfile::tempdir() {
        Ok(home) => home,
        Err(error) => {
            eprintln!("control-planes: cannot create a directory: {error}");
            return ExitCode::FAILURE;
        }
    };
    thread::scope(|scope| {
        // Programs end with the thread that started them: each thread stays until its sender is dropped.
        let mut running = Vec::new();
        for platform in PLATFORMS {
            let (hold, released) = mpsc::channel::<()>();
            let (ready, is_ready) = mpsc::channel::<()>();
            let home = home.path();
            scope.spawn(move || serve(&of(home, platform), &ready, &released));
            running.push((hold, is_ready));
        }
        // A thread that panics drops its end, and has told the reason.
        if running.iter().any(|(_, is_ready)| is_ready.recv().is_err()) {
            return ExitCode::FAILURE;
        }
        let status = Command::new(program).args(rest).env(VARIABLE, home.path()).status();
        drop(running);
        match status {
            Ok(status) if status.success() => ExitCode::SUCCESS,
            Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
            Err(error) => {
                eprintln!("control-planes: cannot run {}: {error}", program.display());
                ExitCode::FAILURE
            }
        }
    })
}

/// Runs a control plane until `released` has no sender any more.
fn serve(directory: &Path, ready: &mpsc::Sender<()>, released: &mpsc::Receiver<()>) {
    let plane = ControlPlane::start();
    plane.publish(directory);
    let _told = ready.send(());
    let _released = released.recv();
    drop(plane);
}

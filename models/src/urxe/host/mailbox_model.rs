//! `urxe/host/mailbox.rs`: jobs for the server of a process.

use loom::thread;

use super::mailbox::{self, Mailbox};
use super::{Host, processes};
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::urxe::shared::{PATIENCE, TakenOver};

const FILE: &str = "urxe/host/mailbox.rs";

/// Where the mailboxes of a process are, and the word that its jobs change.
fn boxes(host: &Host) -> &[Mailbox] {
    host.memory().slice(0x10_8000, 1).unwrap()
}

fn word(host: &Host) -> &AtomicU32 {
    host.memory().at(0x10_9000).unwrap()
}

/// Does the job: adds its number to the word. Returns whether there was one.
fn serve(host: &Host) -> bool {
    let mailbox = &boxes(host)[0];
    let found = mailbox.take();
    if found {
        let job = mailbox.job.load(Relaxed);
        assert_eq!(u64::from(job), mailbox.operands[0].load(Relaxed), "half of a job");
        mailbox.finish(Ok(u64::from(word(host).fetch_add(job, Relaxed))));
    }
    found
}

/// The server, until so many jobs are done; as `agent::server`.
fn server(host: &'static Host, jobs: u32) {
    let header = host.header().unwrap();
    let mut done = 0;
    while done < jobs {
        let bell = header.doorbell.load(SeqCst);
        if serve(host) {
            done += 1;
        } else {
            mailbox::wait_for_job(header, bell, boxes(host));
        }
    }
}

/// Has a job done; what the word was before. As `agent::on_word`.
fn ask(host: &'static Host, me: &'static Host, job: u32) -> u64 {
    let mailbox = &boxes(host)[0];
    let (_guard, taken_over) = me.lock(&mailbox.lock, PATIENCE).unwrap();
    if taken_over == TakenOver::FromTheDead && !mailbox.withdraw() {
        mailbox.answer(PATIENCE, || true).unwrap();
    }
    mailbox.job.store(job, Relaxed);
    mailbox.operands[0].store(u64::from(job), Relaxed);
    mailbox.post();
    mailbox::ring(host.header().unwrap());
    mailbox.answer(PATIENCE, || true).unwrap()
}

pub(crate) static JOBS: Model = Model {
    name: "mailbox, jobs",
    property: "a job is done once and as a whole, and neither side sleeps while it is wanted",
    preemptions: Some(2),
    mortal: false,
    program: jobs,
    mutations: &[
        relax(FILE, "self.state.store(POSTED, SeqCst);"),
        relax(FILE, "self.state.store(DONE, SeqCst);"),
        relax(FILE, "let state = self.state.load(Acquire);"),
        skip(FILE, "header.doorbell.fetch_add(1, SeqCst);"),
        skip(FILE, "header.agent.fetch_or(SERVER_SLEEPS, SeqCst);"),
    ],
};

fn jobs() {
    let [owner, peer] = processes();
    let thread = thread::spawn(move || server(owner, 1));
    assert_eq!(ask(owner, peer, 7), 0);
    assert_eq!(word(owner).load(Relaxed), 7);
    thread.join().unwrap();
}

pub(crate) static DEATH: Model = Model {
    name: "mailbox, death",
    property: "who takes a mailbox over from the dead gets the answer to its own job",
    preemptions: Some(2),
    mortal: false,
    program: dying,
    mutations: &[skip(
        FILE,
        "let swap = self.state.compare_exchange(POSTED, EMPTY, SeqCst, SeqCst);",
    )],
};

/// One has died after it asked, another asks next, while the server is about the job of the dead.
fn dying() {
    let [owner, dead, peer] = processes();
    let mailbox = &boxes(owner)[0];
    core::mem::forget(mailbox.lock.try_lock(dead.holder()).unwrap());
    mailbox.job.store(1, Relaxed);
    mailbox.operands[0].store(1, Relaxed);
    mailbox.post();
    dead.ends();
    let thread = thread::spawn(move || {
        let header = owner.header().unwrap();
        while word(owner).load(Relaxed) & 2 == 0 {
            let bell = header.doorbell.load(SeqCst);
            if !serve(owner) {
                mailbox::wait_for_job(header, bell, boxes(owner));
            }
        }
    });
    let before = ask(owner, peer, 2);
    assert!(before <= 1 && word(owner).load(Relaxed) == before as u32 + 2, "{before}");
    thread.join().unwrap();
}

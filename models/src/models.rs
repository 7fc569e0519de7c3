//! All models. Each lies beside the files that it is about, as it uses what is private to them.

use crate::discovery::reference_model as devices;
use crate::fork::state_model as fork;
use crate::in_use_model as objects;
use crate::provider_api::live_model as contexts;
use crate::runner::Model;
use crate::sys::heap_model as reserve;
use crate::urxe::completion::counter_model as counters;
use crate::urxe::completion::model as completions;
use crate::urxe::completion::moderation_model as moderation;
use crate::urxe::gate_model as gates;
use crate::urxe::host::mailbox_model as mailbox;
use crate::urxe::host::once::model as once;
use crate::urxe::lock_model as lock;
use crate::urxe::marks_model as marks;
use crate::urxe::pair::model as sends;
use crate::urxe::queue::model as receives;
use crate::urxe::queue::torn_model as torn;
use crate::urxe::region::model as keys;
use crate::urxe::transfer::fast_model as connection;
use crate::urxe::transfer::model as multicast;
use crate::urxe::transfer::remembered::model as remembered;
use crate::urxe::transfer::responder_model as qps;
use crate::verbs::mr::device_address_model as regions;

pub(crate) static ALL: &[&Model] = &[
    &lock::EXCLUSION,
    &lock::TAKE_OVER,
    &lock::PASSING,
    &gates::FIRST,
    &gates::ON_BEHALF,
    &gates::OTHERS,
    &gates::ALIKE,
    &keys::READERS,
    &keys::WITHDRAWAL,
    &keys::LOCAL_USE,
    &marks::KEYS,
    &marks::STAMPS,
    &remembered::REMEMBERED,
    &connection::CONNECTION,
    &completions::COMPLETIONS,
    &completions::QUICKLY,
    &completions::ROOM,
    &completions::EVENTS,
    &completions::DEATH,
    &counters::COUNTERS,
    &moderation::COUNT,
    &moderation::TIME,
    &moderation::CHANGED,
    &mailbox::JOBS,
    &mailbox::DEATH,
    &once::HOST,
    &once::NULLS,
    &receives::POSTING,
    &receives::POSTING_SHARED,
    &receives::WAITING,
    &receives::SLOTS,
    &receives::GROWING,
    &receives::KEYS,
    &receives::DEATH,
    &torn::SHARED,
    &torn::OWN,
    &multicast::GROUPS,
    &qps::NUMBERS,
    &qps::DEATH,
    &receives::QUICK_DEATH,
    &sends::PLACES,
    &objects::USERS,
    &objects::LAST,
    &devices::REFERENCES,
    &contexts::CONTEXTS,
    &regions::ADDRESSES,
    &reserve::PIECES,
    &fork::IN_TIME,
];

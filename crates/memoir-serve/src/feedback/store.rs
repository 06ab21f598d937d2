//! The feedback of one model: one thread writes, many requests wait for it, all read what is written.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, mpsc};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;

use super::log::Log;
use super::record::{Event, Journal, Record};
use crate::problem::{Answer, Problem};

/// Requests that share one write to the disk, at most.
const GROUP: usize = 256;

/// A request to write.
struct Wanted {
    events: Vec<(Option<String>, Event)>,
    /// Gets nothing if the events could not be written.
    done: oneshot::Sender<Option<Appended>>,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Appended {
    /// The ids of all records of the request, in its order.
    pub(crate) ids: Vec<String>,
    /// How many of them were there already.
    pub(crate) repeated: usize,
}

/// The feedback of one model. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Store {
    journal: Arc<RwLock<Journal>>,
    wanted: mpsc::Sender<Wanted>,
}

impl Store {
    /// Opens or makes the file at `path`.
    pub(crate) fn open(path: PathBuf) -> memoir::Result<Self> {
        let fail = |reason| memoir::Error::io(&path, "cannot open the feedback file", reason);
        let (log, records) = Log::open(&path).map_err(fail)?;
        let journal = Arc::new(RwLock::new(Journal::of(records)));
        let (wanted, requests) = mpsc::channel();
        let shared = Arc::clone(&journal);
        std::thread::Builder::new()
            .name("memoir-feedback".to_owned())
            .spawn(move || write(log, &shared, &requests))
            .map_err(fail)?;
        Ok(Self { journal, wanted })
    }

    /// What the file says.
    pub(crate) fn journal(&self) -> RwLockReadGuard<'_, Journal> {
        self.journal.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets texts wait for a decision, without waiting for the disk. If they cannot be written, the log says
    /// so.
    pub(crate) fn queue_soon(&self, texts: Vec<String>) {
        let events = texts.into_iter().map(|text| (None, Event::Queued { text }));
        let (done, _) = oneshot::channel();
        let wanted = Wanted {
            events: events.collect(),
            done,
        };
        if self.wanted.send(wanted).is_err() {
            tracing::error!("no texts can be queued: the thread that writes feedback is gone");
        }
    }

    /// Writes events, each with the client's id or none, and waits until they are on disk. Those whose id is
    /// there already are not written again.
    pub(crate) async fn append(&self, events: Vec<(Option<String>, Event)>) -> Answer<Appended> {
        let (done, waiting) = oneshot::channel();
        let gone = || Problem::unavailable("feedback cannot be written at the moment");
        self.wanted.send(Wanted { events, done }).map_err(|_| gone())?;
        waiting.await.ok().flatten().ok_or_else(gone)
    }
}

/// The writing thread: ends when the last store is gone.
fn write(mut log: Log, journal: &RwLock<Journal>, requests: &mpsc::Receiver<Wanted>) {
    while let Ok(first) = requests.recv() {
        let mut group = vec![first];
        group.extend(requests.try_iter().take(GROUP - 1));
        write_group(&mut log, journal, group);
    }
}

fn write_group(log: &mut Log, journal: &RwLock<Journal>, group: Vec<Wanted>) {
    let at = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let mut records: Vec<Record> = Vec::new();
    let mut outcomes = Vec::with_capacity(group.len());
    {
        let journal = journal.read().unwrap_or_else(PoisonError::into_inner);
        let number = journal.group() + 1;
        let mut new: HashSet<String> = HashSet::new();
        for wanted in group {
            let mut outcome = Appended {
                ids: Vec::with_capacity(wanted.events.len()),
                repeated: 0,
            };
            for (id, event) in wanted.events {
                let id = id.unwrap_or_else(|| {
                    // A client may have chosen such an id for itself.
                    let mut ids = (records.len()..).map(|index| format!("{number}.{index}"));
                    let free = ids.find(|id| !journal.has(id) && !new.contains(id));
                    free.unwrap_or_default()
                });
                if journal.has(&id) || !new.insert(id.clone()) {
                    outcome.repeated += 1;
                } else {
                    records.push(Record {
                        id: id.clone(),
                        at,
                        group: number,
                        event,
                    });
                }
                outcome.ids.push(id);
            }
            outcomes.push((wanted.done, outcome));
        }
    }
    let mut written = true;
    if !records.is_empty()
        && let Err(error) = log.append(&records)
    {
        tracing::error!(%error, "feedback was not written");
        written = false;
    }
    if written {
        let mut journal = journal.write().unwrap_or_else(PoisonError::into_inner);
        for record in records {
            journal.add(record);
        }
    }
    for (done, outcome) in outcomes {
        // Whoever has gone away will ask again, with the same ids.
        let _ = done.send(written.then_some(outcome));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(id: &str, text: &str) -> (Option<String>, Event) {
        let id = (!id.is_empty()).then(|| id.to_owned());
        (
            id,
            Event::Queued {
                text: text.to_owned(),
            },
        )
    }

    #[tokio::test]
    async fn an_id_is_written_once_also_after_opening_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        let store = Store::open(path.clone()).unwrap();
        let first = store
            .append(vec![queued("a", "x"), queued("a", "y"), queued("", "z")])
            .await
            .unwrap();
        assert_eq!(
            (first.ids[0].as_str(), first.ids.len(), first.repeated),
            ("a", 3, 1)
        );
        assert_eq!(store.append(vec![queued("a", "x")]).await.unwrap().repeated, 1);
        drop(store);
        let store = loop {
            // The thread of the first store closes the file in its own time.
            match Store::open(path.clone()) {
                Ok(store) => break store,
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        };
        let again = store
            .append(vec![queued("a", "x"), queued("b", "w")])
            .await
            .unwrap();
        assert_eq!(again.repeated, 1);
        assert_eq!(store.journal().waiting("", false), ["x", "z", "w"]);
        assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 3);
    }

    #[tokio::test]
    async fn many_at_once_are_all_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("f.jsonl")).unwrap();
        let all = (0..200).map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.append(vec![queued("", &number.to_string())]).await })
        });
        for task in all.collect::<Vec<_>>() {
            assert_eq!(task.await.unwrap().unwrap().repeated, 0);
        }
        assert_eq!(store.journal().waiting_count(), 200);
    }
}

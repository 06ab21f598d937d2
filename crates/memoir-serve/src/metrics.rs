//! Counts for Prometheus. Belongs to one service: nothing is global.

use std::time::Duration;

use metrics::{counter, gauge, histogram, with_local_recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::registry::Registry;

/// Ends of the ranges that request times are counted in, in seconds.
const TIMES: [f64; 12] = [
    0.000_25, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0, 10.0,
];

pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let builder = PrometheusBuilder::new();
        // Only an empty list is refused; without ranges times become quantiles.
        let builder = builder
            .set_buckets(&TIMES)
            .unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        Self { recorder, handle }
    }

    /// Counts an answered request. `route` is the pattern, not the address, so that there are few.
    pub(crate) fn request(&self, route: &str, method: &str, status: u16, time: Duration) {
        let (route, method, status) = (route.to_owned(), method.to_owned(), status.to_string());
        with_local_recorder(&self.recorder, || {
            counter!("memoir_http_requests_total", "route" => route.clone(), "method" => method, "status" => status)
                .increment(1);
            histogram!("memoir_http_request_seconds", "route" => route).record(time);
        });
    }

    /// Takes waiting times into the ranges: without it they pile up until somebody asks.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// All counts as Prometheus reads them.
    pub(crate) fn render(&self, registry: &Registry) -> String {
        with_local_recorder(&self.recorder, || {
            for model in registry.models() {
                let version = model.current();
                let seen = version.watching.seen();
                let labels = [
                    ("model", model.name.clone()),
                    ("version", version.engine.version().to_owned()),
                ];
                counter!("memoir_rows_total", &labels).absolute(seen.rows);
                counter!("memoir_rows_abstained_total", &labels).absolute(seen.abstained);
                gauge!("memoir_model_bytes", &labels).set(version.engine.bytes() as f64);
                if let Some(share) = seen.unknown_words {
                    gauge!("memoir_unknown_words_share", &labels).set(share);
                }
                if let Some(drift) = seen.drift {
                    gauge!("memoir_confidence_drift", &labels).set(drift);
                }
                for (rows, bin) in seen.confidence.iter().zip(1..) {
                    let upper = format!("{:.1}", f64::from(bin) / 10.0);
                    let labels = [labels[0].clone(), labels[1].clone(), ("up_to", upper)];
                    counter!("memoir_rows_by_confidence_total", &labels).absolute(*rows);
                }
            }
        });
        self.handle.render()
    }
}

//! Which address leads where, and who may go there.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;

use crate::api::{annif, candidates, classes, explain, feedback, health, inference, models, predict, queue};
use crate::app::Shared;
use crate::problem::Problem;
use crate::{guard, openapi, page};

pub(crate) fn router(app: Shared) -> Router {
    let open = Router::new()
        .route("/", get(page::index))
        .route("/{file}", get(page::file))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/v2/health/live", get(health::live))
        .route("/v2/health/ready", get(health::ready))
        .route("/v1/openapi.json", get(openapi::document));
    let reading = Router::new()
        .route("/metrics", get(health::metrics))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::show))
        .route("/v1/models/{model}/summary", get(models::summary))
        .route("/v1/models/{model}/predict", post(predict::predict))
        .route("/v1/models/{model}/explain", post(explain::explain))
        .route("/v1/models/{model}/classes", get(classes::classes))
        .route("/v1/models/{model}/quality", get(candidates::quality))
        .route("/v1/projects", get(annif::list))
        .route("/v1/projects/{model}", get(annif::show))
        .route("/v1/projects/{model}/suggest", post(annif::suggest))
        .route("/v1/projects/{model}/suggest-batch", post(annif::suggest_batch))
        .route("/v2", get(inference::server))
        .route("/v2/models/{model}", get(inference::metadata))
        .route("/v2/models/{model}/ready", get(inference::ready))
        .route("/v2/models/{model}/infer", post(inference::infer))
        .route_layer(from_fn_with_state(app.clone(), guard::may_read));
    let teaching = Router::new()
        .route("/v1/models/{model}/reload", post(models::reload))
        .route("/v1/models/{model}/rollback", post(models::roll_back))
        .route(
            "/v1/models/{model}/feedback",
            get(feedback::list).post(feedback::give),
        )
        .route(
            "/v1/models/{model}/feedback.csv",
            get(feedback::export).post(feedback::import),
        )
        .route("/v1/models/{model}/queue", get(queue::list).post(queue::add))
        .route(
            "/v1/models/{model}/candidate",
            get(candidates::show)
                .post(candidates::start)
                .delete(candidates::discard),
        )
        .route("/v1/models/{model}/candidate/promote", post(candidates::promote))
        .route("/v1/projects/{model}/learn", post(annif::learn))
        .route_layer(from_fn_with_state(app.clone(), guard::may_teach));
    open.merge(reading)
        .merge(teaching)
        .fallback(|| async { Problem::not_found("GET /v1/openapi.json lists the addresses of this service") })
        .method_not_allowed_fallback(|| async { Problem::wrong_method() })
        .layer(CatchPanicLayer::custom(|_| {
            axum::response::IntoResponse::into_response(Problem::internal())
        }))
        .layer(from_fn_with_state(app.clone(), guard::admit))
        .with_state(app)
}

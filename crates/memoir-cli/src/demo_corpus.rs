//! The data of `memoir demo`: a made-up shop whose short product texts fall into 2,400 classes of
//! power-law size.
//!
//! A class is a place and an article ("garden lamp"). Texts name them directly, or only by a word that
//! goes with the place or the article, or by a maker that serves a few classes; so near classes are
//! mistaken for each other, as in life.

use std::fmt::Write;

use memoir::Session;
use rand::RngExt;
use rand::seq::IndexedRandom;

const PLACES: [&str; 40] = [
    "garden",
    "kitchen",
    "office",
    "bathroom",
    "bedroom",
    "garage",
    "camping",
    "balcony",
    "nursery",
    "workshop",
    "stable",
    "studio",
    "cellar",
    "sauna",
    "school",
    "clinic",
    "bakery",
    "hotel",
    "theatre",
    "laboratory",
    "harbour",
    "vineyard",
    "library",
    "museum",
    "airport",
    "kennel",
    "greenhouse",
    "attic",
    "terrace",
    "laundry",
    "gym",
    "chapel",
    "cinema",
    "market",
    "orchard",
    "pool",
    "salon",
    "tavern",
    "tent",
    "yacht",
];

const ARTICLES: [&str; 60] = [
    "lamp", "chair", "table", "knife", "brush", "bucket", "clock", "curtain", "shelf", "mirror", "ladder",
    "hammer", "blanket", "basket", "mat", "heater", "fan", "lock", "hose", "glove", "apron", "scale",
    "radio", "cabinet", "stool", "rug", "vase", "kettle", "pump", "drill", "saw", "broom", "towel", "pillow",
    "candle", "bench", "box", "bag", "bottle", "cup", "plate", "bowl", "spoon", "tray", "rack", "hook",
    "rope", "net", "cover", "umbrella", "sign", "screen", "frame", "cart", "crate", "sponge", "filter",
    "timer", "socket", "cable",
];

const FILLERS: [&str; 24] = [
    "red", "blue", "green", "black", "white", "small", "large", "light", "strong", "classic", "modern",
    "steel", "wooden", "cotton", "plastic", "new", "set", "pack", "premium", "basic", "folding", "portable",
    "used", "original",
];

const SYLLABLES: [&str; 24] = [
    "ba", "ko", "ri", "ven", "tal", "mo", "zu", "sel", "dra", "fin", "gor", "hal", "li", "nex", "os", "pra",
    "qui", "ru", "sha", "tor", "ul", "vi", "wen", "yo",
];

/// A labelled text.
pub(crate) struct Product {
    pub(crate) class: usize,
    pub(crate) text: String,
}

/// Number of classes.
pub(crate) const CLASSES: usize = PLACES.len() * ARTICLES.len();

/// Name of a class.
pub(crate) fn class_name(class: usize) -> String {
    format!(
        "{} {}",
        PLACES[class % PLACES.len()],
        ARTICLES[class / PLACES.len()]
    )
}

/// The vocabulary of the classes as a table: each class lies under its place.
pub(crate) fn vocabulary() -> impl Iterator<Item = [String; 3]> {
    let header = ["id", "name", "broader"].map(str::to_owned);
    let places = PLACES.iter().map(|place| [*place, *place, ""].map(str::to_owned));
    let classes = (0..CLASSES).map(|class| {
        let name = class_name(class);
        [name.clone(), name, PLACES[class % PLACES.len()].to_owned()]
    });
    std::iter::once(header).chain(places).chain(classes)
}

/// Generates `rows` products. The first [`CLASSES`] show every class once; of the others, the class of
/// rank `r` gets a share that falls like `1 / (r + 5)`.
pub(crate) fn generate(rows: usize, session: &Session<'_>) -> Vec<Product> {
    let mut random = session.random("demo corpus");
    let mut ranks: Vec<usize> = (0..CLASSES).collect();
    rand::seq::SliceRandom::shuffle(ranks.as_mut_slice(), &mut random);
    let mut cumulated = Vec::with_capacity(CLASSES);
    let mut total = 0.0;
    for rank in 0..CLASSES {
        total += 1.0 / (rank as f64 + 5.0);
        cumulated.push(total);
    }
    let mut products = Vec::with_capacity(rows);
    for row in 0..rows {
        let class = if row < CLASSES {
            row
        } else {
            let drawn = random.random_range(0.0..total);
            ranks[cumulated.partition_point(|&sum| sum <= drawn).min(CLASSES - 1)]
        };
        let text = text(class, &mut random);
        products.push(Product { class, text });
    }
    products
}

fn text(class: usize, random: &mut impl RngExt) -> String {
    let (place, article) = (class % PLACES.len(), class / PLACES.len());
    let mut words: Vec<String> = Vec::new();
    let filler = |random: &mut _| {
        FILLERS
            .choose(random)
            .map_or(String::new(), |word| (*word).to_owned())
    };
    words.push(filler(random));
    // The place is often left out, and sometimes wrong: a garden lamp is also bought for the terrace.
    match random.random_range(0..100) {
        0..50 => words.push(PLACES[place].to_owned()),
        50..70 => words.push(invented(1_000 + place * 3 + random.random_range(0..3))),
        70..78 => words.push(PLACES[random.random_range(0..PLACES.len())].to_owned()),
        _ => {}
    }
    match random.random_range(0..100) {
        0..65 => words.push(ARTICLES[article].to_owned()),
        65..90 => words.push(invented(2_000 + article * 3 + random.random_range(0..3))),
        _ => {}
    }
    if random.random_bool(0.5) {
        // A maker serves four neighbouring classes.
        words.push(invented(10_000 + class / 4 * 2 + random.random_range(0..2)));
    }
    if random.random_bool(0.5) {
        words.push(filler(random));
    }
    words.join(" ")
}

/// A word that does not exist, the same for the same number.
fn invented(number: usize) -> String {
    let count = SYLLABLES.len();
    let mut rest = number;
    let mut word = String::new();
    while rest > 0 {
        let _ = write!(word, "{}", SYLLABLES[rest % count]);
        rest /= count;
    }
    word
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn every_class_occurs_and_a_few_are_large() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let products = generate(20_000, &session);
        let mut counts = vec![0; CLASSES];
        for product in &products {
            counts[product.class] += 1;
            assert!(!product.text.is_empty() && !product.text.contains([',', '"', '\n']));
        }
        counts.sort_unstable();
        assert!(counts[0] >= 1 && counts[CLASSES - 1] > 200 && counts[CLASSES / 2] < 10);
        let names: HashSet<_> = (0..CLASSES).map(class_name).collect();
        assert_eq!(names.len(), CLASSES);
    }

    #[test]
    fn the_seed_decides() {
        let texts = |seed| {
            let session = Session::new(NonZeroUsize::MIN).unwrap().with_seed(seed);
            let products = generate(3000, &session);
            products
                .into_iter()
                .map(|product| product.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
    }
}
